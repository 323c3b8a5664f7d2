// Package catalog finds agent documents by name and compiles them.
//
// A name is looked up in the database (rows that a person wrote), among the
// built-in documents, and in the schema folder, in this order; the first that
// has it wins. A name is any that a document gives itself (name, short_name,
// fully_qualified_name, and each in kebab case); it never becomes a path. An
// unknown name is a [*NotFoundError] with near names, never a silent default.
//
// Nothing has to be reloaded: each look-up asks the database for the row and the
// file system whether the file has changed, both cheap. What is expensive,
// reading and compiling a document, is done once for each text: compiled agents
// are kept by the SHA-256 of the text that they were made of. They hold nothing
// of a user, a tenant or a model, so everybody shares them.
//
// Built-in documents and those of the folder are mirrored into the table of
// schemas, in the system's tenant, so that SQL sees them. A mirror is a copy:
// the document itself always counts more.
package catalog

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Where a document comes from.
const (
	// Person is a row that somebody wrote.
	Person = ""
	// Builtin documents are part of the program.
	Builtin = "builtin"
	// File documents are in the schema folder.
	File = "file"
)

// Store keeps documents; *store.Store is one.
type Store interface {
	Schema(ctx context.Context, nameOrID string) (store.Schema, error)
	Schemas(ctx context.Context, f store.SchemaFilter) ([]store.Schema, string, error)
	PutSchema(ctx context.Context, d *store.Schema) error
	DeleteSchema(ctx context.Context, nameOrID string) error
}

// Options are what a Catalog works with; all may be left out.
type Options struct {
	// Builtin holds documents in its root, as *.yaml, *.yml or *.json.
	Builtin fs.FS
	// Dir is the schema folder, without its sub-folders; "" is none.
	Dir string
	// Store may be nil: then there are the built-in documents and the folder.
	Store Store
	// CacheSize bounds the compiled agents; 100 when 0.
	CacheSize int
	Logger    *slog.Logger
}

// defaultCacheSize is p8's and REMLight's.
const defaultCacheSize = 100

// Catalog finds and compiles documents. It is safe for concurrent use.
type Catalog struct {
	store   Store
	log     *slog.Logger
	builtin index
	folder  *folder
	cache   *cache
	routes  routes

	mu sync.Mutex
	// mirrored holds what was written or tried, by name: a mirror that cannot be
	// written is not tried on every turn.
	mirrored map[string]string
}

// New reads the built-in documents; one that is not valid is an error, for the
// program is broken then. The folder is read when it is first needed.
func New(o Options) (*Catalog, error) {
	c := &Catalog{store: o.Store, log: o.Logger, mirrored: map[string]string{}}
	if o.CacheSize <= 0 {
		o.CacheSize = defaultCacheSize
	}
	if c.log == nil {
		c.log = slog.Default()
	}
	c.cache = newCache(o.CacheSize)
	if o.Builtin != nil {
		sources, err := readFS(o.Builtin)
		if err != nil {
			return nil, err
		}
		for _, s := range sources {
			if s.problems != nil {
				return nil, s.problems
			}
		}
		c.builtin = c.newIndex(sources)
	}
	if o.Dir != "" {
		c.folder = newFolder(o.Dir, c)
	}
	return c, nil
}

// Agent is the agent of that name, compiled. The error is a *NameError, a
// *NotFoundError, an *InvalidError when there is such a document but it cannot
// be used, or the store's.
func (c *Catalog) Agent(ctx context.Context, name string) (*agent.Agent, error) {
	s, err := c.find(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.compile(s)
}

// Has reports whether there is a document of that name. It does not look at the
// other names of stored rows, and so costs one look-up whatever the answer:
// for names that are probably no agent's.
func (c *Catalog) Has(ctx context.Context, name string) (bool, error) {
	clean, err := cleanName(name)
	if err != nil {
		return false, nil // no document can have it
	}
	s, _, err := c.named(ctx, clean)
	return s != nil, err
}

// find is the text of that name, the first in the order.
func (c *Catalog) find(ctx context.Context, name string) (*source, error) {
	clean, err := cleanName(name)
	if err != nil {
		return nil, err
	}
	s, row, err := c.named(ctx, clean)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.alias(ctx, clean)
	}
	if s.origin != Person && s.problems == nil {
		c.mirror(ctx, s, row)
	}
	return s, nil
}

// named is the document of that very name, and the row that was read for it;
// nil when there is none.
func (c *Catalog) named(ctx context.Context, name string) (*source, *store.Schema, error) {
	row, err := c.row(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if row != nil && row.Origin == Person {
		return rowSource(row), row, nil
	}
	s := c.builtin.get(name)
	if s == nil && c.folder != nil {
		s = c.folder.get(name)
	}
	return s, row, nil
}

// row is the stored document of that very name, nil when there is none.
func (c *Catalog) row(ctx context.Context, name string) (*store.Schema, error) {
	if c.store == nil {
		return nil, nil
	}
	row, err := c.store.Schema(ctx, name)
	if kebab := agent.Kebab(name); errors.Is(err, store.ErrNotFound) && kebab != name && kebab != "" {
		row, err = c.store.Schema(ctx, kebab)
	}
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && row.ID == name:
		return nil, nil // a row is found by its names here, not by its id
	case err != nil:
		return nil, err
	}
	return &row, nil
}

// alias finds a row by one of its other names. It reads every row, and only for
// a name that nothing else has: then the near ones are wanted too.
func (c *Catalog) alias(ctx context.Context, name string) (*source, error) {
	var found *source
	var names []string
	err := c.eachRow(ctx, func(row *store.Schema) bool {
		names = append(names, row.Name)
		for _, n := range rowNames(row) {
			if n == name || n == agent.Kebab(name) {
				found = rowSource(row)
				return false
			}
		}
		return true
	})
	if err != nil || found != nil {
		return found, err
	}
	return nil, c.notFound(name, names)
}

// eachRow visits the rows that people wrote and the caller may read, until
// visit says stop.
func (c *Catalog) eachRow(ctx context.Context, visit func(*store.Schema) bool) error {
	if c.store == nil {
		return nil
	}
	const pageRows, maxPages = 200, 50
	f := store.SchemaFilter{Limit: pageRows}
	for range maxPages {
		rows, next, err := c.store.Schemas(ctx, f)
		if err != nil {
			return err
		}
		for i := range rows {
			if rows[i].Origin == Person && !visit(&rows[i]) {
				return nil
			}
		}
		if next == "" {
			return nil
		}
		f.Cursor = next
	}
	return nil
}

// compile gives the agent of a document, from the cache where its text was seen
// before.
func (c *Catalog) compile(s *source) (*agent.Agent, error) {
	if s.problems != nil {
		return nil, &InvalidError{Name: s.name(), Problems: s.problems}
	}
	if a := c.cache.get(s.hash); a != nil {
		return a, nil
	}
	doc, err := agent.Parse(s.file, s.text)
	if err != nil {
		return nil, invalid(s, err)
	}
	a, err := agent.Compile(doc)
	if err != nil {
		return nil, invalid(s, err)
	}
	c.cache.put(s.hash, a)
	return a, nil
}

// Stats tells how the cache of compiled agents does.
func (c *Catalog) Stats() Stats { return c.cache.stats() }

// Clear drops the compiled agent of that name, under any of its names, or all
// for "", and says how many. The next run compiles anew.
func (c *Catalog) Clear(name string) int { return c.cache.clear(name) }

// system is the identity that owns the mirrors.
func system(ctx context.Context) context.Context {
	return identity.With(ctx, identity.Identity{TenantID: identity.SystemTenant})
}
