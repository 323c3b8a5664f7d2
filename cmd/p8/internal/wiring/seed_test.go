package wiring

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/p8-org/p8/docs"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/store"
)

func TestSeedDocs(t *testing.T) {
	s := seeded(t)
	ctx := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "alice"})
	system := identity.With(t.Context(), identity.Identity{TenantID: identity.SystemTenant})

	// Everybody finds every page by its key.
	pages, err := docs.Pages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if row := page(ctx, t, s, p.Key); row == nil || row.Content != p.Text || row.UserID != "" {
			t.Errorf("%s: %+v", p.Key, row)
		}
	}
	first := page(ctx, t, s, seedMarker)

	// The same edition is not written again.
	if err := seedDocs(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if again := page(ctx, t, s, seedMarker); !again.UpdatedAt.Equal(first.UpdatedAt) {
		t.Error("an unchanged edition was written again")
	}

	// Another edition is replaced, and pages that are gone are removed.
	old, _ := json.Marshal(edition{Hash: "older", Keys: []string{seedMarker, "old-page"}})
	err = s.Resources().Put(system,
		&store.Resource{Base: store.Base{Metadata: old, Shared: true}, Name: seedMarker, Content: "old"},
		&store.Resource{Base: store.Base{Shared: true}, Name: "old-page", Content: "old"})
	if err != nil {
		t.Fatal(err)
	}
	if err := seedDocs(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if row := page(ctx, t, s, seedMarker); row == nil || row.Content == "old" {
		t.Errorf("the old edition is still there: %+v", row)
	}
	if row := page(ctx, t, s, "old-page"); row != nil {
		t.Errorf("a page that is gone is still there: %+v", row)
	}
}

// The first questions that people have find the page that answers them.
func TestQuestionsFindTheirPage(t *testing.T) {
	s := seeded(t)
	ctx := identity.With(t.Context(), identity.Identity{})
	const leastSimilarity = 0.2 // that of the search tool for plain words
	for question, key := range map[string]string{
		"How do I write an agent?":        "write-an-agent",
		"How do I get started?":           "getting-started",
		"Which tools can an agent call?":  "tools",
		"How does search work?":           "search",
		"What is a session?":              "sessions",
		"How do I choose a model?":        "models",
		"How do I get structured output?": "structured-output",
		"How do I call p8 over HTTP?":     "http-api",
		"Which commands are there?":       "command-line",
		"How do I configure p8?":          "settings",
		"Which events are streamed?":      "events",
		"How do I use p8 from Go?":        "go-packages",
	} {
		found, err := s.Fuzzy(ctx, question, leastSimilarity, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 || found[0].Key != key {
			t.Errorf("%s: want %s, got %v", question, key, keys(found))
		}
	}
}

func keys(found []store.Match) []string {
	var all []string
	for _, m := range found {
		all = append(all, m.Key)
	}
	return all
}

// page is the resource of that key, nil if there is none.
func page(ctx context.Context, t *testing.T, s *store.Store, key string) *store.Resource {
	t.Helper()
	matches, err := s.Lookup(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matches {
		if m.Type == store.TypeResource {
			row := new(store.Resource)
			if err := json.Unmarshal(m.Data, row); err != nil {
				t.Fatal(err)
			}
			return row
		}
	}
	return nil
}

// seeded is a new store with the documentation in it.
func seeded(t *testing.T) *store.Store {
	t.Helper()
	cfg, err := config.Load(config.Options{Environ: []string{"P8_DATA_DIR=" + t.TempDir(), "HOME=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenStore(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
