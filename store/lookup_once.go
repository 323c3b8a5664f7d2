package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/p8-org/p8/identity"
)

// On PostgreSQL every statement is a round trip, and a LOOKUP is one: the keys,
// and with each the columns of its row as a JSON array.

// lookupOnce is that statement: of the key $1 in the tenant $2, whose caller
// owns the keys of $3.
var lookupOnce = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString(`SELECT k.tenant_id, k.owner, k.entity_type, k.entity_id, k.content_summary, CASE k.entity_type`)
	for _, t := range tables {
		if !t.Keyed {
			continue
		}
		var columns []string
		for _, c := range t.columns {
			columns = append(columns, "x."+c.Name)
		}
		fmt.Fprintf(&b, "\nWHEN '%s' THEN (SELECT json_build_array(x.tenant_id, %s) FROM %s x "+
			"WHERE x.tenant_id = k.tenant_id AND x.id = k.entity_id AND x.deleted_at IS NULL)",
			t.Type, strings.Join(columns, ", "), t.Name)
	}
	b.WriteString(` END FROM (VALUES ($2, $3), ($2, ''), ('` + identity.SystemTenant + `', '')) AS s(tenant_id, owner)
JOIN kv_store k ON k.tenant_id = s.tenant_id AND k.owner = s.owner AND k.entity_key = $1`)
	return b.String()
})

// lookupOnce finds what a key stands for, with the rows; in no order.
func (s *Store) lookupOnce(ctx context.Context, c Conn, sc scope, key string) (hits []hit, err error) {
	seen := make(map[[4]string]bool)
	err = c.Query(ctx, lookupOnce(), func(r Row) error {
		h := hit{Match: Match{Key: key, Score: 1}}
		var columns json.RawMessage
		if err := r.Scan(&h.tenant, &h.owner, &h.Type, &h.ID, &h.Summary, &columns); err != nil {
			return err
		}
		h.Own = h.owner != ""
		t := tableOf(h.Type)
		// In the system's tenant the last two scopes are one.
		id := [4]string{h.tenant, h.owner, h.Type, h.ID}
		if t == nil || len(columns) == 0 || seen[id] {
			return nil
		}
		seen[id] = true
		var row jsonRow
		if err := json.Unmarshal(columns, &row); err != nil {
			return err
		}
		rec := t.new()
		if h.Data, err = newFields(len(t.columns)).data(row, rec); err != nil {
			return err
		}
		hits = append(hits, h)
		return nil
	}, key, sc.TenantID, sc.keyOwner())
	return hits, err
}

// jsonRow is a row whose columns are the elements of a JSON array.
type jsonRow []json.RawMessage

// Scan implements Row.
func (r jsonRow) Scan(dest ...any) error {
	if len(r) != len(dest) {
		return fmt.Errorf("store: %d targets for %d columns", len(dest), len(r))
	}
	for i, d := range dest {
		switch v := d.(type) {
		case *string:
			*v = ""
			if b := r[i]; b[0] == '"' && bytes.IndexByte(b, '\\') < 0 {
				*v = string(b[1 : len(b)-1])
				continue
			}
		case *json.RawMessage:
			if *v = r[i]; string(r[i]) == "null" {
				*v = nil
			}
			continue
		case *int:
			*v = 0
		case *int64:
			*v = 0
		case *float64:
			*v = 0
		case *time.Time:
			*v = time.Time{}
		}
		// null leaves a target as it is.
		if err := json.Unmarshal(r[i], d); err != nil {
			return fmt.Errorf("store: column %d: %w", i, err)
		}
		if v, ok := d.(*time.Time); ok {
			*v = v.UTC()
		}
	}
	return nil
}
