package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/arrange"
)

const (
	// maxFilter bounds the ids and names of a Filter.
	maxFilter = 1000
	maxRows   = 1000
)

// Find lists rows, the newest first (by created_at, or with Filter.Happened by when they
// happened, then id), and the cursor of the next page, "" after the last.
func (r Repository[T]) Find(ctx context.Context, f Filter) (rows []T, next string, err error) {
	all, next, err := r.store.find(ctx, r.table, f)
	if err != nil {
		return nil, "", err
	}
	rows = make([]T, len(all))
	for i, x := range all {
		rows[i] = *x.record.(any).(*T)
	}
	return rows, next, nil
}

// Count counts the rows of a filter; its Limit and After do not matter.
func (r Repository[T]) Count(ctx context.Context, f Filter) (total int64, err error) {
	return r.store.count(ctx, r.table, f)
}

// find is the part of Find that is the same for every type of row.
func (s *Store) find(ctx context.Context, t *table, f Filter) (all []found, next string, err error) {
	limit := page(f.Limit, 50, maxRows)
	err = s.read(ctx, "find "+t.Name, func(c Conn, by caller) error {
		after, err := openFindCursor(f.After)
		if err != nil {
			return err
		}
		// Each owner's rows are one range of an index, already in order.
		for rank, k := range t.ranges(by, f.Own) {
			q, err := t.filter(t.selects, s.dialect, k, f)
			if err != nil {
				return err
			}
			if f.After != "" {
				// Of rows with one time and id, the nearest range comes first.
				q.add(` AND (` + f.time(s.dialect) + `, id) ` + map[bool]string{true: `<=`, false: `<`}[rank > after.rank] + ` (`).arg(after.when)
				q.add(`, `).arg(after.id)
				q.add(`)`)
			}
			q.add(` ORDER BY ` + f.time(s.dialect) + ` DESC, id DESC LIMIT `).arg(limit + 1)
			if err := t.read(ctx, c, q, func(rec record) error {
				all = append(all, newFound(rec, rank, f.Happened))
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	arrange.By(all, compareFound)
	if len(all) > limit {
		all = all[:limit]
		next = all[limit-1].cursor()
	}
	return all, next, nil
}

func (s *Store) count(ctx context.Context, t *table, f Filter) (total int64, err error) {
	err = s.read(ctx, "count "+t.Name, func(c Conn, by caller) error {
		for _, k := range t.ranges(by, f.Own) {
			q, err := t.filter(`SELECT count(*) FROM `+t.Name+` WHERE `, s.dialect, k, f)
			if err != nil {
				return err
			}
			var n int64
			if _, err := one(ctx, c, q.String(), []any{&n}, q.args...); err != nil {
				return err
			}
			total += n
		}
		return nil
	})
	return total, err
}

// owned is the rows of a tenant with one user_id.
type owned struct {
	tenant string
	owner  any
}

// ranges lists the owners whose rows the caller may read, the nearest first.
func (t *table) ranges(by caller, own bool) []owned {
	list := []owned{{by.TenantID, by.user}}
	if t.Private {
		return list
	}
	if by.Anonymous() {
		list = nil
	}
	if own {
		return list
	}
	list = append(list, owned{by.TenantID, nil})
	if by.TenantID != identity.SystemTenant {
		list = append(list, owned{identity.SystemTenant, nil})
	}
	return list
}

// filter returns the query of a range's live rows that a Filter selects.
func (t *table) filter(sql string, d Dialect, k owned, f Filter) (*query, error) {
	if len(f.IDs) > maxFilter || len(f.Names) > maxFilter || len(f.Tags) > maxFilter {
		return nil, invalidf("more than %d ids, names or tags", maxFilter)
	}
	if f.Happened && t != moments {
		return nil, invalidf("%s has no rows that happened", t.Name)
	}
	q := newQuery(sql)
	q.add(`tenant_id = `).arg(k.tenant)
	q.owned(k.owner)
	q.add(` AND deleted_at IS NULL`)
	if len(f.IDs) > 0 {
		q.in(d, "id", f.IDs)
	}
	if len(f.Names) > 0 {
		if !t.named() {
			return nil, invalidf("%s has no names", t.Name)
		}
		q.in(d, "name", f.Names)
	}
	if len(f.Tags) > 0 {
		q.hasAll(d, "tags", f.Tags)
	}
	for _, column := range slices.Sorted(maps.Keys(f.HasAll)) {
		if err := t.checkList(column, f.HasAll[column]); err != nil {
			return nil, err
		}
		if len(f.HasAll[column]) > 0 {
			q.hasAll(d, column, f.HasAll[column])
		}
	}
	if !f.Since.IsZero() {
		q.add(` AND ` + f.time(d) + ` >= `).arg(f.Since.UTC())
	}
	if !f.Before.IsZero() {
		q.add(` AND ` + f.time(d) + ` < `).arg(f.Before.UTC())
	}
	for _, column := range slices.Sorted(maps.Keys(f.Equal)) {
		if err := t.checkEqual(column, f.Equal[column]); err != nil {
			return nil, err
		}
		if f.Equal[column] == nil {
			q.add(` AND ` + column + ` IS NULL`)
			continue
		}
		q.add(` AND ` + column + ` = `).arg(f.Equal[column])
	}
	return q, nil
}

// time returns the time of a row, in SQL.
func (f *Filter) time(d Dialect) string {
	if f.Happened {
		return d.happened()
	}
	return `created_at`
}

// checkEqual returns ErrInvalid for an unknown column and for a value of another type.
func (t *table) checkEqual(column string, value any) error {
	var names []string
	for _, c := range t.columns {
		if c.Type == "json" {
			continue
		}
		if c.Name != column {
			names = append(names, c.Name)
			continue
		}
		ok := false
		switch value.(type) {
		case nil:
			ok = true
		case string:
			ok = c.Type == "text"
		case int, int64:
			ok = c.Type == "integer" || c.Type == "number"
		case float64:
			ok = c.Type == "number"
		case time.Time:
			ok = c.Type == "timestamp"
		}
		if !ok {
			return invalidf("%s.%s is %s: a %T is never equal to it", t.Name, column, c.Type, value)
		}
		return nil
	}
	return invalidf("%s has no column %.64q to compare; it has %s", t.Name, column, strings.Join(names, ", "))
}

// checkList returns ErrInvalid for a column that is no list of texts, and for too many
// texts.
func (t *table) checkList(column string, values []string) error {
	var names []string
	for _, x := range new(fields).of(t.new()) {
		if _, ok := x.value.(*[]string); ok {
			names = append(names, x.name)
		}
	}
	switch {
	case !slices.Contains(names, column):
		return invalidf("%s has no list %.64q to look into; it has %s", t.Name, column, strings.Join(names, ", "))
	case len(values) > maxFilter:
		return invalidf("more than %d values of %s", maxFilter, column)
	}
	return nil
}

// found is a record in the order of Find.
type found struct {
	record
	when time.Time
	id   string
	// rank is the place of its range among the caller's.
	rank int
}

func newFound(rec record, rank int, happened bool) found {
	at := rec.place()
	when := *at.created
	if m, ok := rec.(*Moment); ok && happened {
		when = m.Happened()
	}
	return found{rec, when, *at.id, rank}
}

func compareFound(a, b found) int {
	return cmp.Or(b.when.Compare(a.when), cmp.Compare(b.id, a.id), cmp.Compare(a.rank, b.rank))
}

func (x found) cursor() string {
	return newCursor(strconv.FormatInt(x.when.UnixMicro(), 10), x.id, strconv.Itoa(x.rank))
}

func openFindCursor(cursor string) (at found, err error) {
	if cursor == "" {
		return at, nil
	}
	parts, err := openCursor(cursor, 3)
	if err != nil {
		return at, err
	}
	micros, err := strconv.ParseInt(parts[0], 10, 64)
	rank, e := strconv.Atoi(parts[2])
	if err != nil || e != nil || checkID(parts[1]) != nil {
		return at, invalidf("the cursor is not one that this list returned")
	}
	return found{when: time.UnixMicro(micros).UTC(), id: parts[1], rank: rank}, nil
}
