package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/store"
)

// mergePages is how many pages of the index of words one transaction merges.
const mergePages = 2000

// Scrub removes the bytes of deleted rows from the files: from the index of words, which
// keeps the words of deleted texts until its parts are merged, from free pages and free
// places in pages (the database is written anew, while nobody else writes), and from the
// write-ahead log.
func (e *engine) Scrub(ctx context.Context) error {
	if e.readOnly {
		return ErrReadOnly
	}
	if err := e.mergeWords(ctx); err != nil {
		return err
	}
	if inMemory(e.path) {
		return nil
	}
	return e.judge(ctx, e.vacuum(ctx))
}

// mergeWords makes one part of all parts of the index of words, in small transactions.
func (e *engine) mergeWords(ctx context.Context) error {
	pages := -mergePages // a negative number includes parts that need no merge
	for {
		var before, after int64
		if err := e.WriteSystem(ctx, func(c store.Conn) error {
			for _, step := range []struct {
				sql  string
				to   *int64
				args []any
			}{
				{`SELECT total_changes()`, &before, nil},
				{`INSERT INTO keywords (keywords, rank) VALUES ('merge', $1)`, nil, []any{pages}},
				{`SELECT total_changes()`, &after, nil},
			} {
				if step.to == nil {
					if _, err := c.Exec(ctx, step.sql, step.args...); err != nil {
						return err
					}
				} else if err := c.Query(ctx, step.sql, func(r store.Row) error { return r.Scan(step.to) }); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if after-before < 2 { // as FTS5's documentation says
			return nil
		}
		pages = mergePages
	}
}

// vacuum writes the database anew and empties the log; meanwhile nobody else writes. The copy
// is in a file, as the database may be larger than the memory.
func (e *engine) vacuum(ctx context.Context) (err error) {
	c, err := e.take(ctx, e.writing, e.writer)
	if err != nil {
		return err
	}
	defer func() { give(e.writing, e.writer, c) }()
	c.db.SetInterrupt(ctx)
	if err := c.db.Exec(`PRAGMA temp_store = FILE`); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	defer func() {
		c.db.SetInterrupt(context.Background())
		err = errors.Join(err, c.db.Exec(`PRAGMA temp_store = MEMORY`))
	}()
	if err := c.db.Exec(`VACUUM`); err != nil {
		return err
	}
	// It waits for readers, as long as the connection is patient.
	e.log.copying.Lock()
	defer e.log.copying.Unlock()
	_, _, err = c.db.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
	return err
}
