// Package catalog finds agent documents by name and compiles them.
//
// A name is looked up in the database (rows that a person wrote), among the built-in
// documents, and in the schema folder; the first document that has it wins. A document
// has all the names in its text (name, short_name, fully_qualified_name), also in kebab
// case; a name never becomes a path. An unknown name is a [*NotFoundError] with near
// names, never a silent default.
//
// Documents need no reload: each look-up reads the row and checks whether the file has
// changed, both cheap. A text is parsed and compiled once: compiled agents are cached by
// the SHA-256 of their text. They hold no data of a user, a tenant or a model, so all
// callers share them.
//
// Built-in documents and those of the folder are mirrored into the table schemas, in the
// system's tenant, so that SQL sees them. A mirror is a copy: the document itself takes
// precedence. [Catalog.Refresh] removes the mirror of a deleted file.
package catalog

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Where a document comes from.
const (
	// Person is a row that a person wrote.
	Person = ""
	// Builtin documents are part of the program.
	Builtin = "builtin"
	// File documents are in the schema folder.
	File = "file"
)

// Store is implemented by *store.Store.
type Store interface {
	Schema(ctx context.Context, nameOrID string) (store.Schema, error)
	Schemas(ctx context.Context, f store.SchemaFilter) ([]store.Schema, string, error)
	PutSchema(ctx context.Context, d *store.Schema) error
	DeleteSchema(ctx context.Context, nameOrID string) error
	SchemaRevision(ctx context.Context, nameOrID, checksum string) (store.SchemaVersion, error)
}

// Options configure a Catalog; the zero value works.
type Options struct {
	// Builtin holds documents in its root, as *.yaml, *.yml or *.json.
	Builtin fs.FS
	// Dir is the schema folder, without its sub-folders; "" for no folder.
	Dir string
	// Document is the path of one document, "" for none. It takes precedence over every
	// other document of its names and is not mirrored.
	Document string
	// Store may be nil: then the documents are the built-in ones and those of the folder.
	Store Store
	// Shared is true if other processes, perhaps with other folders, use the store, too.
	Shared bool
	// KeepValid keeps the last valid text of a file of Dir in use while the file is not valid;
	// else its documents are an *InvalidError, for who works on them.
	KeepValid bool
	// CacheSize bounds the compiled agents; 100 if 0.
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
	// folder holds Options.Dir, given Options.Document; nil for none.
	folder *folder
	given  *folder
	cache  *cache
	routes routes

	mu sync.Mutex
	// mirrored holds the last attempt at each mirror, by name, so that a mirror that cannot
	// be written is not tried on every turn.
	mirrored map[string]attempt

	// syncing is held while all mirrors are compared with their sources; synced is the
	// version of the folder that was compared, plus 1, and own has the documents of then.
	syncing sync.Mutex
	synced  int
	own     map[string]bool
	shared  bool
}

// New reads the built-in documents and fails if one is not valid. The folder is read when
// it is first needed.
func New(o Options) (*Catalog, error) {
	c := &Catalog{store: o.Store, log: o.Logger, mirrored: map[string]attempt{}, shared: o.Shared}
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
		c.builtin = newIndex(sources)
	}
	if o.Dir != "" {
		c.folder = newFolder(o.Dir, "", c)
		c.folder.keeps = o.KeepValid
	}
	if o.Document != "" {
		c.given = newFolder(filepath.Dir(o.Document), filepath.Base(o.Document), c)
	}
	return c, nil
}

// Agent returns the compiled agent of a name. The error is a *NameError, a
// *NotFoundError, an *InvalidError if the document cannot be used, or the store's.
func (c *Catalog) Agent(ctx context.Context, name string) (*agent.Agent, error) {
	s, err := c.find(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.compile(s)
}

// Version returns the agent of a name as it was when its text had that hash. The error is that
// of Agent, or store.ErrNotFound if the text is not kept.
func (c *Catalog) Version(ctx context.Context, name, hash string) (*agent.Agent, error) {
	s, err := c.find(ctx, name)
	if err != nil || s.hash == hash {
		if err != nil {
			return nil, err
		}
		return c.compile(s)
	}
	if c.store == nil {
		return nil, store.ErrNotFound
	}
	row, err := c.store.SchemaRevision(ctx, s.name(), hash)
	if err != nil {
		return nil, err
	}
	return c.compile(rowSource(&store.Schema{Name: row.Name, Source: row.Source, JSONSchema: row.JSONSchema}))
}

// Given reports whether the name finds [Options].Document.
func (c *Catalog) Given(name string) bool {
	clean, err := cleanName(name)
	return err == nil && c.given.get(clean) != nil
}

// Has reports whether a document has that name. It ignores the other names of stored rows,
// so that it costs one look-up even if no agent has the name.
func (c *Catalog) Has(ctx context.Context, name string) (bool, error) {
	clean, err := cleanName(name)
	if err != nil {
		return false, nil // no document can have it
	}
	if c.given.get(clean) != nil {
		return true, nil
	}
	s, _, err := c.named(ctx, clean)
	return s != nil, err
}

// find returns the document of that name: the first one in the package's order.
func (c *Catalog) find(ctx context.Context, name string) (*source, error) {
	clean, err := cleanName(name)
	if err != nil {
		return nil, err
	}
	if s := c.given.get(clean); s != nil {
		return s, nil
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

// named returns the document of that exact name and the row that was read for it. Each is
// nil if it does not exist.
func (c *Catalog) named(ctx context.Context, name string) (*source, *store.Schema, error) {
	row, err := c.row(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if row != nil && row.Origin == Person {
		return rowSource(row), row, nil
	}
	s := c.builtin.get(name)
	if s == nil {
		s = c.folder.get(name)
	}
	return s, row, nil
}

// row returns the stored document of that exact name, nil if no row has the name.
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

// alias finds a row by one of its other names. It reads every row, so it is called only if
// no document has the name itself; the error's near names need every row anyway.
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

// eachRow visits the rows that people wrote and the caller may read, until visit returns
// false.
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

// compile returns the agent of a document, from the cache if its text was compiled before.
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
	a.Hash = s.hash
	c.cache.put(s.hash, a)
	return a, nil
}

// Stats returns the counts of the cache of compiled agents.
func (c *Catalog) Stats() Stats { return c.cache.stats() }

// Clear drops the compiled agent that has the name, or all if it is "", and returns their
// number. The next run compiles them again.
func (c *Catalog) Clear(name string) int { return c.cache.clear(name) }

// system returns the identity that owns the mirrors.
func system(ctx context.Context) context.Context {
	return identity.With(ctx, identity.Identity{TenantID: identity.SystemTenant})
}
