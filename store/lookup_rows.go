package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/p8-org/p8/identity"
)

// lookup finds what a key stands for, with the rows; in no order. The statements
// are one transaction of SQLite: it takes its locks once, and key and row are of the same
// moment.
func (s *Store) lookup(ctx context.Context, c Conn, by caller, key string) (hits []hit, err error) {
	if _, err := c.Exec(ctx, `BEGIN`); err != nil {
		return nil, err
	}
	defer func() {
		_, e := c.Exec(context.WithoutCancel(ctx), `COMMIT`)
		err = cmp.Or(err, e)
	}()
	if err := c.Query(ctx, lookupKeys,
		func(r Row) error {
			h := hit{Match: Match{Key: key, Score: 1}}
			if err := r.Scan(&h.tenant, &h.owner, &h.Type, &h.ID, &h.Summary); err != nil {
				return err
			}
			h.Own = h.owner != ""
			hits = append(hits, h)
			return nil
		}, by.TenantID, by.keyOwner(), identity.SystemTenant, key); err != nil {
		return nil, err
	}
	found := hits[:0]
	for _, h := range hits {
		t := tableOf(h.Type)
		if t == nil {
			continue
		}
		f := newFields(len(t.columns))
		if err := c.Query(ctx, t.byID, func(r Row) (err error) {
			h.Data, err = f.data(r, t.new())
			return err
		}, h.tenant, h.ID); err != nil {
			return nil, err
		}
		if h.Data != nil {
			found = append(found, h)
		}
	}
	return found, nil
}

// lookupKeys are three steps in one index, which is twice as fast as an OR. In
// the system's tenant the last one is the second.
const lookupKeys = `SELECT tenant_id, owner, entity_type, entity_id, content_summary FROM kv_store
	WHERE tenant_id = $1 AND owner = $2 AND entity_key = $4
	UNION ALL SELECT tenant_id, owner, entity_type, entity_id, content_summary FROM kv_store
	WHERE tenant_id = $1 AND owner = '' AND entity_key = $4
	UNION ALL SELECT tenant_id, owner, entity_type, entity_id, content_summary FROM kv_store
	WHERE tenant_id = $3 AND owner = '' AND entity_key = $4 AND tenant_id <> $1`

// hit is a match and where it was found.
type hit struct {
	Match
	tenant, owner string
}

// distance orders what a caller sees: its own, its tenant's, the system's.
func distance(tenant, owner string) int {
	switch {
	case owner != "":
		return 0
	case tenant != identity.SystemTenant:
		return 1
	}
	return 2
}

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
func (s *Store) lookupOnce(ctx context.Context, c Conn, by caller, key string) (hits []hit, err error) {
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
		if h.Data, err = newFields(len(t.columns)).data(s.opener(by).row(row), rec); err != nil {
			return err
		}
		hits = append(hits, h)
		return nil
	}, key, by.TenantID, by.keyOwner())
	return hits, err
}
