package wiring

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"github.com/p8-org/p8/docs"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// seedMarker is the page whose metadata has the stored edition.
const seedMarker = "getting-started"

// edition identifies the documentation in a database.
type edition struct {
	Hash string   `json:"docs_hash"`
	Keys []string `json:"docs_keys"`
}

// seedDocs stores p8's manual in its own tenant, or removes it if wanted is false, and
// deletes pages of older editions. It costs two reads if there is nothing to do.
func seedDocs(ctx context.Context, s *store.Store, wanted bool) error {
	// Older programs stored the pages among the system's rows, where every search found them.
	system := identity.With(ctx, identity.Identity{TenantID: identity.SystemTenant})
	if err := removePages(system, s, storedEdition(system, s).Keys); err != nil {
		return err
	}
	var pages []docs.Page
	var err error
	if wanted {
		if pages, err = docs.Pages(); err != nil {
			return err
		}
	}
	ctx = identity.With(ctx, identity.Identity{TenantID: identity.ManualTenant})
	now, stored := editionOf(pages), storedEdition(ctx, s)
	if stored.Hash == now.Hash {
		return nil
	}
	metadata, err := json.Marshal(now)
	if err != nil {
		return err
	}
	rows := make([]*store.Resource, len(pages))
	for i, p := range pages {
		rows[i] = &store.Resource{
			Base: store.Base{Tags: []string{"p8"}, Shared: true},
			Name: p.Key, URI: "p8://docs/" + p.Key, Content: p.Text, Category: "documentation",
		}
		if p.Key == seedMarker {
			rows[i].Metadata = metadata
		}
	}
	gone := slices.DeleteFunc(stored.Keys, func(key string) bool { return slices.Contains(now.Keys, key) })
	if err := removePages(ctx, s, gone); err != nil {
		return err
	}
	return s.Resources().Put(ctx, rows...)
}

// OpenManual opens a store in memory that holds p8's manual.
func OpenManual(ctx context.Context) (*store.Store, error) {
	s, err := sqlite.Open(ctx, sqlite.Options{Memory: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if err := seedDocs(ctx, s, true); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// removePages deletes pages of the caller's tenant; the one with the marker last, so that
// an interrupted removal is repeated.
func removePages(ctx context.Context, s *store.Store, keys []string) error {
	arrange.By(keys, func(a, b string) int { return compareBool(a == seedMarker, b == seedMarker) })
	for _, key := range keys {
		if err := s.Resources().Delete(ctx, key); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// editionOf is zero for no pages.
func editionOf(pages []docs.Page) edition {
	var e edition
	if len(pages) == 0 {
		return e
	}
	h := sha256.New()
	for _, p := range pages {
		e.Keys = append(e.Keys, p.Key)
		h.Write([]byte(p.Key + "\x00" + p.Text + "\x00"))
	}
	e.Hash = hex.EncodeToString(h.Sum(nil))
	return e
}

// storedEdition returns the stored edition, zero if it cannot be read: then all pages are
// stored again.
func storedEdition(ctx context.Context, s *store.Store) edition {
	var e edition
	matches, err := s.Lookup(ctx, seedMarker)
	if err != nil {
		return e
	}
	for _, m := range matches {
		var row struct {
			Metadata edition `json:"metadata"`
		}
		if json.Unmarshal(m.Data, &row) == nil && row.Metadata.Hash != "" {
			e = row.Metadata
		}
	}
	return e
}
