package store

import (
	"context"
	"errors"
	"strings"

	"github.com/p8-org/p8/store/internal/indexcache"
	"github.com/p8-org/p8/store/internal/trgm"
)

const (
	// fuzzyBudget bounds the trigram indexes together, in bytes. One index may take half
	// of it: of more rows, the first ones by key are found.
	fuzzyBudget = 512 << 20
	// maxDirty rows of an owner are read again one by one; if more have changed, its index
	// is built anew.
	maxDirty = 256
	// indexPage is how many rows one statement reads that builds an index.
	indexPage = 5000
)

// ownerKeys names a trigram index: the keys of one owner. The UserID of shared keys is "".
type ownerKeys RowOwner

// Group implements indexcache.Key.
func (k ownerKeys) Group() ownerKeys { return k }

// change is a row that a transaction may have written, by its place in the key index.
type change struct{ tenant, owner, entity, id string }

// fuzzyIndexes keeps the trigram indexes of an engine that has none of its own.
type fuzzyIndexes = indexcache.Cache[ownerKeys, ownerKeys, change, *trgm.Index]

func newFuzzyIndexes() *fuzzyIndexes {
	return indexcache.New[ownerKeys, ownerKeys, change, *trgm.Index](indexcache.Options{Budget: fuzzyBudget, Entry: 512, MaxDirty: maxDirty})
}

// keyRows reads the keys of an owner for its index, until the index takes most bytes.
type keyRows struct {
	c     Conn
	owner ownerKeys
	most  int
}

const keyRow = `SELECT entity_type, entity_id, entity_key, content_summary FROM kv_store WHERE tenant_id = $1 AND owner = $2`

// errFull ends the reading of an index that is too large for the memory.
var errFull = errors.New("the index is full")

// Build reads the rows in the order of their keys, a page at a time: a long statement
// would keep the database's log from being truncated. Rows that change meanwhile are
// marked, and read again.
func (s *keyRows) Build(ctx context.Context) (*trgm.Index, error) {
	x := trgm.NewIndex()
	var key, entity string
	for n := indexPage; n == indexPage; {
		n = 0
		err := s.c.Query(ctx, keyRow+` AND (entity_key, entity_type) > ($3, $4) ORDER BY entity_key, entity_type LIMIT $5`, func(r Row) error {
			n++
			d, err := scanKey(r, &entity)
			if err != nil {
				return err
			}
			key = d.Key
			return s.put(x, d)
		}, s.owner.TenantID, s.owner.UserID, key, entity, indexPage)
		if errors.Is(err, errFull) {
			return x, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return x, nil
}

// Update reads rows again.
func (s *keyRows) Update(ctx context.Context, x *trgm.Index, rows map[change]bool) (*trgm.Index, error) {
	for row := range rows {
		found := false
		if err := s.c.Query(ctx, keyRow+` AND entity_type = $3 AND entity_id = $4`, func(r Row) error {
			found = true
			var entity string
			d, err := scanKey(r, &entity)
			if err != nil {
				return err
			}
			return s.put(x, d)
		}, s.owner.TenantID, s.owner.UserID, row.entity, row.id); err != nil && !errors.Is(err, errFull) {
			return nil, err
		}
		if !found {
			x.Delete(docID(row.entity, row.id))
		}
	}
	return x, nil
}

func (s *keyRows) put(x *trgm.Index, d trgm.Doc) error {
	if x.Size() >= s.most && !x.Has(d.ID) {
		return errFull
	}
	x.Put(d)
	return nil
}

func scanKey(r Row, entity *string) (d trgm.Doc, err error) {
	var id string
	err = r.Scan(entity, &id, &d.Key, &d.Summary)
	d.ID = docID(*entity, id)
	return d, err
}

// docID names a row inside an index.
func docID(entity, id string) string { return entity + "\n" + id }

func splitDocID(s string) (entity, id string) {
	entity, id, _ = strings.Cut(s, "\n")
	return entity, id
}
