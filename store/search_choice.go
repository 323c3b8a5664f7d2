package store

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/store/internal/vector"
)

// choice are the rows that match a Where: their ids for the engine, and their tenants,
// because a row of the tenant and one of the system may have the same id.
type choice struct {
	ids  []string
	rows map[[2]string]bool
}

func (among *choice) list() []string {
	if among == nil {
		return nil
	}
	return among.ids
}

// of returns the ids of a tenant's rows; nil is any.
func (among *choice) of(tenant string) []vector.ID {
	if among == nil {
		return nil
	}
	list := []vector.ID{}
	for _, id := range among.ids {
		if v, ok := vectorID(id); ok && among.rows[[2]string{tenant, id}] {
			list = append(list, v)
		}
	}
	return list
}

// keep removes the rows that were not chosen.
func (among *choice) keep(ranked []Ranked) []Ranked {
	if among == nil {
		return ranked
	}
	return slices.DeleteFunc(ranked, func(r Ranked) bool { return !among.rows[[2]string{r.TenantID, r.ID}] })
}

// where runs the caller's condition as a SELECT, with all checks of Select.
func (s *Store) where(ctx context.Context, sc Scope, t *table, where string) (*choice, error) {
	before := "SELECT tenant_id, id FROM " + t.Name + " WHERE ("
	found, err := s.engine.Select(ctx, sc, before+where+"\n)", SelectBounds{Rows: maxWhere + 1, Bytes: 128 * maxWhere, Timeout: whereTimeout})
	if wrong := (*SelectError)(nil); errors.As(err, &wrong) {
		at := wrong.Position - utf8.RuneCountInString(before)
		if at < 1 || at > utf8.RuneCountInString(where) {
			at = 0
		}
		return nil, &SelectError{Position: at, Problem: wrong.Problem}
	}
	if err != nil {
		return nil, err
	}
	if found.Truncated || len(found.Rows) > maxWhere {
		return nil, invalidf("the condition of a search may leave %d rows at most: make it narrower, or search without it", maxWhere)
	}
	among := &choice{ids: make([]string, 0, len(found.Rows)), rows: make(map[[2]string]bool, len(found.Rows))}
	for _, row := range found.Rows {
		if len(row) != 2 {
			continue
		}
		tenant, _ := row[0].(string)
		id, _ := row[1].(string)
		if key := [2]string{tenant, id}; !among.rows[key] {
			among.rows[key] = true
			among.ids = append(among.ids, id)
		}
	}
	return among, nil
}

// The bounds of SEARCH.
const (
	maxSearch = 200
	// maxDimensions bounds a vector; whole-number arithmetic holds beyond it.
	maxDimensions = 8000
	// maxQuestion is how much of a text counts, in characters.
	maxQuestion = 10_000
	// maxWhere bounds the rows that match a Where.
	maxWhere     = 50_000
	whereTimeout = 5 * time.Second
)
