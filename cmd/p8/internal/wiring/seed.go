package wiring

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/p8-org/p8/docs"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// seedMarker is the page whose metadata has the stored edition.
const seedMarker = "getting-started"

// edition identifies the documentation in a database.
type edition struct {
	Hash string   `json:"docs_hash"`
	Keys []string `json:"docs_keys"`
}

// seedDocs stores p8's user documentation as shared knowledge of the system's tenant, and
// deletes pages of older editions. It costs one read if this edition is stored already.
func seedDocs(ctx context.Context, s *store.Store) error {
	pages, err := docs.Pages()
	if err != nil {
		return err
	}
	ctx = identity.With(ctx, identity.Identity{TenantID: identity.SystemTenant})
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
	for _, key := range stored.Keys {
		if slices.Contains(now.Keys, key) {
			continue
		}
		if err := s.Resources().Delete(ctx, key); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return s.Resources().Put(ctx, rows...)
}

func editionOf(pages []docs.Page) edition {
	var e edition
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
