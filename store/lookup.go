package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/p8-org/p8/internal/arrange"
)

// Lookup finds rows by key (normalised as [NormalizeKey] does), whole rows in
// Data: the caller's own first, then its tenant's shared ones, then the
// system's; within those by type. No match is an empty list.
func (s *Store) Lookup(ctx context.Context, key string) ([]Match, error) {
	var found []Match
	err := s.read(ctx, "lookup", func(c Conn, by caller) error {
		key := NormalizeKey(key)
		if key == "" || len(key) > 4*maxName {
			return nil
		}
		find := s.lookup
		if s.dialect == DialectPostgres {
			find = s.lookupOnce
		}
		hits, err := find(ctx, c, by, key)
		if err != nil {
			return err
		}
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.Type == TypeSchema && s.reserved.ignores(h.tenant, h.owner, key) })
		arrange.By(hits, func(a, b hit) int {
			return cmp.Or(cmp.Compare(distance(a.tenant, a.owner), distance(b.tenant, b.owner)), cmp.Compare(a.Type, b.Type))
		})
		found = make([]Match, len(hits))
		for i, h := range hits {
			found[i] = h.Match
		}
		return nil
	})
	return found, err
}
