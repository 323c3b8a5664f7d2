package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
)

// document is a file with a chunk for each text, named by the texts' first words.
func document(name string, texts ...string) *store.Document {
	d := &store.Document{
		File: &store.File{Name: name, URI: "file:///" + name, Hash: fmt.Sprint(len(texts)), Status: store.FileCompleted},
	}
	for _, text := range texts {
		first, _, _ := strings.Cut(text, " ")
		d.Chunks = append(d.Chunks, &store.Resource{Name: name + " " + first, Content: text})
	}
	return d
}

func withOntology(d *store.Document, name, content string) *store.Document {
	d.Ontology = &store.Ontology{Name: name, Content: content}
	return d
}

func documents(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	// stored returns the live chunks of the caller, as "ordinal content".
	stored := func() (list []string) {
		rows, _, err := s.Resources().Find(ctx, store.Filter{Limit: 1000})
		must(t, err)
		for _, x := range rows {
			list = append(list, fmt.Sprint(x.Ordinal, " ", x.Content))
		}
		slices.Sort(list)
		return list
	}
	put := func(want bool, d *store.Document) *store.Document {
		t.Helper()
		must(t, s.PutDocuments(ctx, d))
		if d.Written != want {
			t.Errorf("%s: written is %v", d.File.Name, d.Written)
		}
		return d
	}
	first := put(true, withOntology(document("doc", "one", "two", "three"), "Doc", "whole"))
	wantEqual(t, "chunks", stored(), []string{"0 one", "1 two", "2 three"})
	for _, x := range first.Chunks {
		wantEqual(t, "file of a chunk", x.FileID, first.File.ID)
	}
	wantEqual(t, "file of the ontology", get[store.Ontology](t)(s.Ontologies().ByName(ctx, "Doc")).FileID, first.File.ID)

	// The same document writes nothing and returns what is stored.
	again := put(false, withOntology(document("doc", "one", "two", "three"), "Doc", "whole"))
	wantEqual(t, "file", *again.File, *first.File)
	wantEqual(t, "ontology", *again.Ontology, *first.Ontology)
	wantEqual(t, "chunk", *again.Chunks[2], *first.Chunks[2])

	// A changed document writes only its changed rows and deletes removed ones with their
	// keys.
	tasks := waiting(t, s)
	next := put(true, withOntology(document("doc", "one", "three more"), "Doc", "whole"))
	wantEqual(t, "changed chunks", stored(), []string{"0 one", "1 three more"})
	wantEqual(t, "untouched", next.Chunks[0].UpdatedAt, first.Chunks[0].UpdatedAt)
	wantEqual(t, "the same row", next.Chunks[1].ID, first.Chunks[2].ID)
	wantEqual(t, "keys", len(get[[]store.Match](t)(s.Lookup(ctx, "doc two"))), 0)
	wantEqual(t, "tasks", waiting(t, s), tasks-1)
	put(true, document("doc", "one", "two"))
	wantEqual(t, "two is back", stored(), []string{"0 one", "1 two"})
	_, err := s.Ontologies().ByName(ctx, "Doc")
	wantErr(t, "the ontology is gone", err, store.ErrNotFound)

	// A name of another file's row is refused, and nothing is written.
	wantErr(t, "a chunk of another file", s.PutDocuments(ctx, document("new", "x"), &store.Document{
		File: &store.File{Name: "other", URI: "file:///other"}, Chunks: []*store.Resource{{Name: "doc one"}},
	}), store.ErrConflict)
	_, err = s.Files().ByName(ctx, "new")
	wantErr(t, "nothing was written", err, store.ErrNotFound)

	largeDocuments(t, s)

	// Other callers have their own rows for the same URI.
	shared := document("doc", "shared")
	shared.File.Shared = true
	put(true, shared)
	if shared.File.ID == first.File.ID || !shared.Chunks[0].Shared || shared.Chunks[0].UserID != "" {
		t.Errorf("shared: %+v %+v", shared.File, shared.Chunks[0])
	}

	// Deleting a file deletes its rows; storing it again restores them.
	must(t, s.Files().Delete(ctx, first.File.ID))
	wantEqual(t, "only the shared one is left", stored(), []string{"0 shared"})
	put(true, document("doc", "one", "two"))
	wantEqual(t, "back", stored(), []string{"0 one", "0 shared", "1 two"})
}

// chunksNamed is a document with one chunk of that name.
func chunksNamed(file, chunk string) *store.Document {
	d := document(file, "text of "+file)
	d.Chunks[0].Name = chunk
	return d
}

// largeDocuments are written in several transactions, between which others write. In the
// end they are as complete as small ones.
func largeDocuments(t *testing.T, s *store.Store) {
	ctx := as("t", "large")
	large := func(from, to int) *store.Document {
		var texts []string
		for i := from; i < to; i++ {
			texts = append(texts, fmt.Sprint("part", i))
		}
		return document("large", texts...)
	}
	put := func(want bool, d *store.Document) {
		t.Helper()
		must(t, s.PutDocuments(ctx, d))
		if d.Written != want {
			t.Errorf("written is %v", d.Written)
		}
		n := get[int64](t)(s.Resources().Count(ctx, store.Filter{Own: true}))
		if int(n) != len(d.Chunks) {
			t.Errorf("%d chunks of %d are stored", n, len(d.Chunks))
		}
		file := get[store.File](t)(s.Files().ByName(ctx, "large"))
		wantEqual(t, "file", file, *d.File)
	}
	put(true, large(0, 700))
	put(false, large(0, 700))
	put(true, large(600, 1300))

	// A name of another file's chunk is refused before anything is written.
	must(t, s.PutDocuments(ctx, withOntology(document("small", "one"), "Small page", "whole")))
	foreign := large(0, 700)
	foreign.Chunks[650].Name = "small one"
	wantErr(t, "another file's chunk", s.PutDocuments(ctx, foreign), store.ErrConflict)
	wantEqual(t, "status", get[store.File](t)(s.Files().ByName(ctx, "large")).Status, store.FileCompleted)
	wantErr(t, "another file's ontology", s.PutDocuments(ctx, withOntology(large(0, 700), "Small page", "mine")), store.ErrConflict)
	wantEqual(t, "status", get[store.File](t)(s.Files().ByName(ctx, "large")).Status, store.FileCompleted)

	// A document that fails in the middle, here at a taken key, leaves a file that is not
	// completed.
	foreign.Chunks[650].Name = "Small ONE"
	wantErr(t, "another chunk's key", s.PutDocuments(ctx, foreign), store.ErrConflict)
	wantEqual(t, "status", get[store.File](t)(s.Files().ByName(ctx, "large")).Status, store.FileProcessing)
	must(t, s.Files().Delete(ctx, "small"))
	put(true, large(0, 600))

	// A large document is not begun when another one of the call is refused.
	for what, refused := range map[string]*store.Document{
		"another file's chunk":     chunksNamed("small", "part of another file"),
		"a chunk of the same call": chunksNamed("small", "large part1200"),
	} {
		must(t, s.PutDocuments(ctx, chunksNamed("other", "part of another file")))
		wantErr(t, what, s.PutDocuments(ctx, large(600, 1300), refused), store.ErrConflict)
		wantEqual(t, what+", status", get[store.File](t)(s.Files().ByName(ctx, "large")).Status, store.FileCompleted)
		wantEqual(t, what+", chunks", len(get[[]store.Match](t)(s.Lookup(ctx, "large part1200"))), 0)
		wantEqual(t, what+", chunks", len(get[[]store.Match](t)(s.Lookup(ctx, "large part7"))), 1)
	}

	// Beside a large document, a small one still takes the name that another one gives up.
	must(t, s.PutDocuments(ctx, chunksNamed("other", "given up"), chunksNamed("small", "taken"), large(600, 1300)))
	must(t, s.PutDocuments(ctx, chunksNamed("other", "anew"), chunksNamed("small", "given up"), large(0, 700)))
	wantEqual(t, "chunks", len(get[[]store.Match](t)(s.Lookup(ctx, "given up"))), 1)

	must(t, s.Files().Delete(ctx, "large"))
	wantEqual(t, "chunks", len(get[[]store.Match](t)(s.Lookup(ctx, "large part7"))), 0)
}

func waiting(t *testing.T, s *store.Store) int64 {
	t.Helper()
	return get[store.EmbeddingStatus](t)(s.Maintenance().EmbeddingStatus(t.Context())).Waiting
}
