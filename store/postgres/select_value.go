package postgres

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/p8-org/p8/store/internal/sqlgate"
)

// value returns a value as it came over the wire, in text, as a Selection holds it.
func value(t sqlgate.Type, oid uint32, raw []byte) (any, error) {
	if raw == nil {
		return nil, nil
	}
	text := string(raw)
	switch oid {
	case pgtype.BoolOID:
		return text == "t", nil
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		n, err := strconv.ParseInt(text, 10, 64)
		return sqlgate.Value(t, n), err
	case pgtype.NumericOID, pgtype.Float4OID, pgtype.Float8OID:
		// A sum of integers is numeric: it may be larger than they are.
		if t == sqlgate.Integer || t == sqlgate.Whole || t == sqlgate.Any {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				return n, nil
			}
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return text, nil
		}
		return sqlgate.Value(t, f), nil
	case pgtype.TimestamptzOID, pgtype.TimestampOID:
		for _, layout := range []string{"2006-01-02 15:04:05.999999-07", "2006-01-02 15:04:05.999999"} {
			if at, err := time.Parse(layout, text); err == nil {
				return sqlgate.TimeText(at), nil
			}
		}
		return text, nil
	case pgtype.JSONOID, pgtype.JSONBOID:
		return sqlgate.JSONValue(raw), nil
	}
	if strings.HasPrefix(text, "{") && t == sqlgate.Array {
		var list []*string
		if err := pgtype.NewMap().Scan(pgtype.TextArrayOID, pgtype.TextFormatCode, raw, &list); err != nil {
			return nil, fmt.Errorf("postgres: read a list: %w", err)
		}
		b, err := json.Marshal(list)
		return json.RawMessage(b), err
	}
	return text, nil
}
