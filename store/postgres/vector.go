package postgres

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// vectorCodec sends and reads pgvector's vector in its binary form: the number
// of dimensions and a zero, 16 bits each, then the float32s, all big-endian.
type vectorCodec struct{}

// registerVector registers the type vector, whose OID differs between databases, with a
// connection.
func registerVector(ctx context.Context, c *pgx.Conn) error {
	var oid uint32
	if err := c.QueryRow(ctx, `SELECT 'vector'::regtype::oid`).Scan(&oid); err != nil {
		return err
	}
	c.TypeMap().RegisterType(&pgtype.Type{Name: "vector", OID: oid, Codec: vectorCodec{}})
	return nil
}

// FormatSupported implements pgtype.Codec.
func (vectorCodec) FormatSupported(format int16) bool { return format == pgtype.BinaryFormatCode }

// PreferredFormat implements pgtype.Codec.
func (vectorCodec) PreferredFormat() int16 { return pgtype.BinaryFormatCode }

// PlanEncode implements pgtype.Codec.
func (vectorCodec) PlanEncode(_ *pgtype.Map, _ uint32, _ int16, value any) pgtype.EncodePlan {
	if _, ok := value.([]float32); ok {
		return vectorCodec{}
	}
	return nil
}

// PlanScan implements pgtype.Codec.
func (vectorCodec) PlanScan(_ *pgtype.Map, _ uint32, _ int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*[]float32); ok {
		return vectorCodec{}
	}
	return nil
}

// Encode implements pgtype.EncodePlan.
func (vectorCodec) Encode(value any, buf []byte) ([]byte, error) {
	v := value.([]float32)
	if v == nil {
		return nil, nil
	}
	if len(v) > math.MaxUint16 {
		return nil, fmt.Errorf("a vector of %d dimensions", len(v))
	}
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(v))<<16)
	for _, x := range v {
		buf = binary.BigEndian.AppendUint32(buf, math.Float32bits(x))
	}
	return buf, nil
}

// Scan implements pgtype.ScanPlan. The target's memory is used again.
func (vectorCodec) Scan(src []byte, target any) error {
	v := target.(*[]float32)
	if src == nil {
		*v = nil
		return nil
	}
	if len(src) < 4 || len(src) != 4+4*int(binary.BigEndian.Uint16(src)) {
		return errors.New("not the binary form of a vector")
	}
	*v = (*v)[:0]
	for b := src[4:]; len(b) > 0; b = b[4:] {
		*v = append(*v, math.Float32frombits(binary.BigEndian.Uint32(b)))
	}
	return nil
}

// DecodeDatabaseSQLValue implements pgtype.Codec.
func (c vectorCodec) DecodeDatabaseSQLValue(_ *pgtype.Map, _ uint32, _ int16, src []byte) (driver.Value, error) {
	return string(src), nil
}

// DecodeValue implements pgtype.Codec.
func (c vectorCodec) DecodeValue(_ *pgtype.Map, _ uint32, _ int16, src []byte) (any, error) {
	if src == nil {
		return nil, nil
	}
	var v []float32
	err := c.Scan(src, &v)
	return v, err
}
