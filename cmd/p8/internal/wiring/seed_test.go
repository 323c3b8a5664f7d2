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
	acme := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "alice"})
	ctx := store.InManual(acme)
	manual := identity.With(t.Context(), identity.Identity{TenantID: identity.ManualTenant})
	system := identity.With(t.Context(), identity.Identity{TenantID: identity.SystemTenant})

	// Everybody finds every page by its key in the manual, and none elsewhere.
	pages, err := docs.Pages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if row := page(ctx, t, s, p.Key); row == nil || row.Content != p.Text || row.UserID != "" {
			t.Errorf("%s: %+v", p.Key, row)
		}
		if row := page(acme, t, s, p.Key); row != nil {
			t.Errorf("%s is found outside of the manual", p.Key)
		}
	}
	first := page(ctx, t, s, seedMarker)

	// The same edition is not written again.
	if err := seedDocs(t.Context(), s, true); err != nil {
		t.Fatal(err)
	}
	if again := page(ctx, t, s, seedMarker); !again.UpdatedAt.Equal(first.UpdatedAt) {
		t.Error("an unchanged edition was written again")
	}

	// Another edition is replaced, and pages that are gone are removed.
	old, _ := json.Marshal(edition{Hash: "older", Keys: []string{seedMarker, "old-page"}})
	// So is that of a program that stored the pages among the system's rows.
	for _, tenant := range []context.Context{manual, system} {
		err = s.Resources().Put(tenant,
			&store.Resource{Base: store.Base{Metadata: old, Shared: true}, Name: seedMarker, Content: "old"},
			&store.Resource{Base: store.Base{Shared: true}, Name: "old-page", Content: "old"})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := seedDocs(t.Context(), s, true); err != nil {
		t.Fatal(err)
	}
	if row := page(ctx, t, s, seedMarker); row == nil || row.Content == "old" {
		t.Errorf("the old edition is still there: %+v", row)
	}
	if row := page(ctx, t, s, "old-page"); row != nil {
		t.Errorf("a page that is gone is still there: %+v", row)
	}
	if row := page(acme, t, s, seedMarker); row != nil {
		t.Errorf("a page among the system's rows is still there: %+v", row)
	}

	// One setting removes the manual, and brings it back.
	for _, wanted := range []bool{false, true} {
		if err := seedDocs(t.Context(), s, wanted); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Resources().Count(manual, store.Filter{}); err != nil || (n == int64(len(pages))) != wanted || (n == 0) == wanted {
			t.Errorf("wanted %t: %d pages, %v", wanted, n, err)
		}
	}
}

// The first questions that people have find the page that answers them.
func TestQuestionsFindTheirPage(t *testing.T) {
	s := seeded(t)
	ctx := store.InManual(identity.With(t.Context(), identity.Identity{}))
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

// page returns the resource with that key, or nil.
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
