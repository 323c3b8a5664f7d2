package catalog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/store"
)

// Row returns a document as a row of schemas, as POST /schemas and mirrors store it.
func Row(a *agent.Agent, text []byte) (store.Schema, error) {
	d := a.Document
	whole, err := json.Marshal(d)
	if err != nil {
		return store.Schema{}, fmt.Errorf("catalog: write the document as JSON: %w", err)
	}
	text = ownText(d, text)
	return store.Schema{
		Name: d.Key(), Kind: d.Is(), Version: d.Version, Description: d.Summary(), Tags: d.Tags,
		Content: a.Prompt, JSONSchema: whole, Source: string(text), Hash: hash(text), Shared: true,
	}, nil
}

// mirror updates the copy of a document that SQL sees; row is the stored copy, nil if no
// copy is stored. A failure is logged and never fails a run.
func (c *Catalog) mirror(ctx context.Context, s *source, row *store.Schema) {
	if c.store == nil || row != nil && row.Hash == s.hash && row.Origin == s.origin {
		return
	}
	c.mu.Lock()
	last := c.mirrored[s.name()]
	// A mirror that was written and is gone was removed by another process.
	if last.hash == s.hash && (row != nil || !last.written) {
		c.mu.Unlock()
		return
	}
	c.mirrored[s.name()] = attempt{hash: s.hash}
	c.mu.Unlock()
	if err := c.putMirror(ctx, s); err != nil {
		c.log.Warn("an agent document could not be mirrored; SQL does not see it", "name", s.name(), "origin", s.origin, "error", err)
		return
	}
	c.mu.Lock()
	c.mirrored[s.name()] = attempt{s.hash, true}
	c.mu.Unlock()
}

// attempt is a document that a mirror was made of, or should have been.
type attempt struct {
	hash    string
	written bool
}

func (c *Catalog) putMirror(ctx context.Context, s *source) error {
	a, err := c.compile(s)
	if err != nil {
		return err
	}
	row, err := Row(a, s.text)
	if err != nil {
		return err
	}
	row.Origin = s.origin
	// It is tried once, so it must not depend on whether the caller stays.
	return c.store.PutSchema(system(context.WithoutCancel(ctx)), &row)
}

// Sync mirrors every built-in document and every valid one of the folder, and removes the
// mirrors of documents that are gone. A server calls it once when it starts; later,
// Refresh follows the folder, and each use of a document updates its mirror. It also logs
// the problems of the folder's documents. The error is the store's.
func (c *Catalog) Sync(ctx context.Context) error {
	c.syncing.Lock()
	defer c.syncing.Unlock()
	version := c.folder.version() + 1
	err := c.sync(ctx, true)
	if err == nil {
		c.synced = version
	}
	return err
}

// Refresh is Sync if files of the folder have come or gone since the last one: so a query
// finds no document whose file is deleted. It is called before each query and costs one
// look at the folder. In a shared store it leaves the mirrors of documents that this
// catalog never had: they may be those of another process's folder. A failure is logged,
// and the next query tries again.
func (c *Catalog) Refresh(ctx context.Context) {
	if c.folder == nil || c.store == nil {
		return
	}
	c.syncing.Lock()
	defer c.syncing.Unlock()
	version := c.folder.version() + 1
	if version == c.synced {
		return
	}
	err := c.sync(ctx, !c.shared)
	switch {
	case err == nil:
		c.synced = version
	case ctx.Err() == nil:
		c.log.Error("the documents of the schema folder could not be mirrored; queries may find deleted ones", "error", err)
	}
}

// sync mirrors all documents. Of the mirrors without a document it removes all, or those of
// documents that the catalog had before.
func (c *Catalog) sync(ctx context.Context, all bool) error {
	if c.store == nil {
		return nil
	}
	ctx = system(ctx)
	rows, err := c.mirrors(ctx)
	if err != nil {
		return err
	}
	own := map[string]bool{}
	for _, s := range c.sources() {
		if s.problems != nil {
			continue
		}
		own[s.name()] = true
		row := rows[s.name()]
		delete(rows, s.name())
		c.mirror(ctx, s, row)
	}
	for name := range rows {
		if !all && !c.own[name] {
			continue
		}
		if err := c.store.DeleteSchema(ctx, name); err != nil {
			return err
		}
		c.mu.Lock()
		delete(c.mirrored, name)
		c.mu.Unlock()
	}
	c.own = own
	return nil
}

// mirrors returns the copies that the system's tenant holds, by name.
func (c *Catalog) mirrors(ctx context.Context) (map[string]*store.Schema, error) {
	found := map[string]*store.Schema{}
	var f store.SchemaFilter
	for {
		rows, next, err := c.store.Schemas(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if rows[i].Origin == Builtin || rows[i].Origin == File {
				found[rows[i].Name] = &rows[i]
			}
		}
		if next == "" {
			return found, nil
		}
		f.Cursor = next
	}
}
