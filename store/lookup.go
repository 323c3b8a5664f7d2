package store

import (
	"cmp"
	"context"
	"slices"

	"p8/identity"
)

// Lookup finds rows by key (normalised as [NormalizeKey] does), whole rows in
// Data: the caller's own first, then its tenant's shared ones, then the
// system's; within those by type. No match is an empty list.
func (s *Store) Lookup(ctx context.Context, key string) ([]Match, error) {
	var found []Match
	err := s.read(ctx, "lookup", func(c Conn, sc scope) error {
		key := NormalizeKey(key)
		if key == "" || len(key) > 4*maxName {
			return nil
		}
		var hits []hit
		if err := c.Query(ctx, `SELECT tenant_id, owner, entity_type, entity_id, content_summary FROM kv_store
			WHERE entity_key = $1 AND (tenant_id = $2 AND owner IN ('', $3) OR tenant_id = $4 AND owner = '')`,
			func(r Row) error {
				h := hit{Match: Match{Key: key, Score: 1}}
				if err := r.Scan(&h.tenant, &h.owner, &h.Type, &h.ID, &h.Summary); err != nil {
					return err
				}
				h.Own = h.owner != ""
				hits = append(hits, h)
				return nil
			}, key, sc.TenantID, sc.UserID, identity.SystemTenant); err != nil {
			return err
		}
		slices.SortFunc(hits, func(a, b hit) int {
			return cmp.Or(cmp.Compare(a.distance(), b.distance()), cmp.Compare(a.Type, b.Type))
		})
		for _, h := range hits {
			ok, err := h.load(ctx, c)
			if err != nil {
				return err
			}
			if ok {
				found = append(found, h.Match)
			}
		}
		return nil
	})
	return found, err
}

// hit is a match and where it was found.
type hit struct {
	Match
	tenant, owner string
}

func (h *hit) distance() int {
	switch {
	case h.owner != "":
		return 0
	case h.tenant != identity.SystemTenant:
		return 1
	}
	return 2
}

// load reads the row that the key stands for. Key and row are written together,
// but read one after the other, so the row may be gone.
func (h *hit) load(ctx context.Context, c Conn) (found bool, err error) {
	var data any
	switch h.Type {
	case TypeSchema:
		var d Schema
		data = &d
		err = c.Query(ctx, `SELECT `+schemaColumns+` FROM schemas WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`,
			func(r Row) error {
				found = true
				return scanSchema(r, &d)
			}, h.tenant, h.ID)
	case TypeResource:
		var x Resource
		data = &x
		err = c.Query(ctx, `SELECT `+resourceColumns+` FROM resources WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`,
			func(r Row) error {
				found = true
				return scanResource(r, &x)
			}, h.tenant, h.ID)
	case TypeUser:
		var u User
		data = &u
		found, err = readUser(ctx, c, h.tenant, h.ID, &u)
	}
	if found && err == nil {
		h.Data = encode(data)
	}
	return found, err
}
