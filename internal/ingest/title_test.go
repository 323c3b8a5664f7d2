package ingest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store"
)

// TestTitle: SEARCH finds a page first by its file's name, its first heading, and the title
// of its front matter, in both tables.
func TestTitle(t *testing.T) {
	s := open(t)
	ctx := as(t.Context(), "u")
	dir := folder(t, map[string]string{
		"winter-menu.md": "Soup and bread.\n",
		"b.md":           "# Summer party\n\nSoup in the garden.\n\n## Food\n\nBread.\n",
		"c.md":           "---\ntitle: Autumn walk\n---\nThrough the forest.\n",
		"d.md":           "---\ntitle: [1, 2]\n---\nThe menu of the winter, the party of the summer, the walk of the autumn. The menu, the party, the walk.\n",
	})
	take(t, ctx, newIngester(t, ingest.Over(s)), ingest.PathsOptions{Paths: []string{dir}})
	for question, want := range map[string]string{
		"What is on the winter menu?": "winter-menu", "when is the Summer Party": "b", "the autumn walk": "c",
	} {
		for _, table := range []string{"resources", "ontologies"} {
			found, err := s.Search(ctx, store.SearchQuery{Table: table, Text: question, Hybrid: true})
			if err != nil || len(found) == 0 {
				t.Fatal(found, err)
			}
			key := want
			if table == "resources" {
				key = store.ChunkName(want, 0)
			}
			if first := found[0]; first.Key != key || first.Score != 1 {
				b, _ := json.Marshal(found)
				t.Errorf("%s in %s finds %s", question, table, b)
			}
		}
	}
}

// TestLongTitle: the chunks of a page do not repeat all of a very long title.
func TestLongTitle(t *testing.T) {
	s := open(t)
	ctx := as(t.Context(), "u")
	take(t, ctx, newIngester(t, ingest.Over(s)), ingest.PathsOptions{Paths: []string{folder(t, map[string]string{
		"long.md": "---\ntitle: " + strings.Repeat("mañana ", 5000) + "\n---\nSoup.\n",
	})}})
	found, err := s.Search(ctx, store.SearchQuery{Text: "soup", Hybrid: true})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	var row struct{ Metadata struct{ Title string } }
	if err := json.Unmarshal(found[0].Data, &row); err != nil {
		t.Fatal(err)
	}
	if title := row.Metadata.Title; !strings.HasPrefix(title, "mañana mañana") || len([]rune(title)) > 201 {
		t.Errorf("the chunk has a title of %d bytes: %.300q", len(title), title)
	}
}
