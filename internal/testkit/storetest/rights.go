package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Reserved tests who may write shared documents with the names of built-in ones. open opens
// the same database with these names each time; it is closed in between.
func Reserved(t *testing.T, open func(names ...string) *store.Store) {
	anonymous, alice, bob, elsewhere := as("one", ""), as("one", "alice"), as("one", "bob"), as("two", "")
	system := as(identity.SystemTenant, "")
	document := func(name, text string) *store.Schema { return &store.Schema{Name: name, Content: text, Shared: true} }

	// Documents that older versions accepted.
	s := open()
	taken := document("general", "taken")
	spelled, renamed := document("Dreaming Agent", "taken"), document("other", "other")
	for _, d := range []*store.Schema{taken, spelled, renamed} {
		must(t, s.PutSchema(anonymous, d))
	}
	// More of them in a row than a page has.
	crowded := as("three", "")
	for _, name := range []string{"g-eneral", "ge-neral", "gen-eral", "gene-ral", "gener-al", "genera-l", "GENERAL", "zebra"} {
		must(t, s.PutSchema(crowded, document(name, "taken")))
	}
	for _, name := range []string{"general", "dreaming-agent"} {
		must(t, s.PutSchema(system, &store.Schema{Name: name, Content: "built-in", Origin: "builtin"}))
	}
	must(t, s.Close())

	s = open("general", "dreaming-agent", "rem.agents.QueryAgent")
	defer s.Close()
	found := func(ctx context.Context, name string) string {
		t.Helper()
		d, err := s.Schema(ctx, name)
		if err != nil {
			return err.Error()
		}
		return d.Content
	}
	contents := func(ctx context.Context) (out []string) {
		t.Helper()
		cursor := ""
		for {
			list, next, err := s.Schemas(ctx, store.SchemaFilter{Kind: "agent", Limit: 1, Cursor: cursor})
			must(t, err)
			out = append(out, each(list, func(d store.Schema) string { return d.Name + " " + d.Content })...)
			if cursor = next; cursor == "" {
				return out
			}
		}
	}
	// A row with such a name is ignored, but can still be read by its id.
	for _, ctx := range []context.Context{anonymous, alice} {
		wantEqual(t, "document", found(ctx, "general"), "built-in")
		wantEqual(t, "document by its id", found(ctx, taken.ID), "taken")
		wantEqual(t, "documents", contents(ctx), []string{"dreaming-agent built-in", "general built-in", "other other"})
		for _, key := range []string{"general", "dreaming agent"} {
			wantEqual(t, "LOOKUP "+key, each(get[[]store.Match](t)(s.Lookup(ctx, key)), summary), []string{"built-in"})
			wantEqual(t, "nodes of "+key, each(get[[]store.Node](t)(s.Nodes(ctx, []string{key})), func(n store.Node) string { return n.Summary }), []string{"built-in"})
		}
	}
	wantErr(t, "a name as it was spelled", func() error { _, err := s.Schema(anonymous, "Dreaming Agent"); return err }(), store.ErrNotFound)
	wantEqual(t, "documents among many ignored ones", contents(crowded), []string{"dreaming-agent built-in", "general built-in", "zebra taken"})
	must(t, s.DeleteSchema(crowded, "zebra"))
	left := get[[]store.ReservedSchema](t)(s.Maintenance().ReservedSchemas(t.Context()))
	wantEqual(t, "reported of a tenant", len(left), 9)
	wantEqual(t, "reported", left[:2], []store.ReservedSchema{{TenantID: "one", ID: spelled.ID, Name: "Dreaming Agent"}, {TenantID: "one", ID: taken.ID, Name: "general"}})

	// No caller can write a shared document of such a name, in any way.
	for _, name := range []string{"general", "General", "GENERAL", " general ", "gen'eral", "gene-ral", "general!", "general\u0332", "DreamingAgent",
		"dreaming_agent", "rem-agents-query-agent", "Rem Agents: QueryAgent"} {
		for who, ctx := range map[string]context.Context{"anonymous": anonymous, "a user": alice, "another tenant": elsewhere} {
			wantErr(t, fmt.Sprintf("%q by %s", name, who), s.PutSchema(ctx, document(name, "mine")), store.ErrForbidden)
		}
	}
	wantErr(t, "an evaluator", s.PutSchema(alice, &store.Schema{Name: "general", Kind: "evaluator", Shared: true}), store.ErrForbidden)
	wantErr(t, "a mirror", s.PutSchema(anonymous, &store.Schema{Name: "general", Origin: "file"}), store.ErrForbidden)
	wantErr(t, "a new name", s.PutSchema(anonymous, &store.Schema{ID: renamed.ID, Name: "General", Shared: true}), store.ErrForbidden)
	wantErr(t, "the row of an older program", s.PutSchema(anonymous, &store.Schema{ID: taken.ID, Name: "general", Content: "again"}), store.ErrForbidden)
	wantEqual(t, "after a refused new name", found(anonymous, "other"), "other")
	wantEqual(t, "after all that", contents(anonymous), []string{"dreaming-agent built-in", "general built-in", "other other"})
	for _, name := range []string{"generals", "my-general", "général", "gene.ral.2"} {
		must(t, s.PutSchema(elsewhere, document(name, "fine")))
	}
	must(t, s.PutSchema(system, &store.Schema{Name: "general", Content: "newer", Origin: "builtin"}))
	wantEqual(t, "a newer program's", found(anonymous, "general"), "newer")

	// A user's own document is visible to that user only.
	must(t, s.PutSchema(alice, &store.Schema{Name: "general", Content: "alice's"}))
	for who, ctx := range map[string]context.Context{"alice's": alice, "newer": bob} {
		wantEqual(t, "general of "+who, found(ctx, "general"), who)
	}
	wantEqual(t, "general of an anonymous caller", found(anonymous, "general"), "newer")
	must(t, s.DeleteSchema(alice, "general"))
	wantEqual(t, "without her own", found(alice, "general"), "newer")

	// It can be deleted, and stays deleted.
	must(t, s.DeleteSchema(anonymous, taken.ID))
	wantErr(t, "brought back by its name", s.PutSchema(anonymous, document("general", "again")), store.ErrForbidden)
	wantErr(t, "brought back by its id", s.PutSchema(anonymous, &store.Schema{ID: taken.ID, Name: "general"}), store.ErrForbidden)
	if _, err := s.Maintenance().RebuildKeys(t.Context()); err != nil {
		t.Errorf("rebuilding the keys: %v", err)
	}
	wantEqual(t, "reported, one less", len(get[[]store.ReservedSchema](t)(s.Maintenance().ReservedSchemas(t.Context()))), 8)
	member(t, s)
	reader(t, s)
}

// reader: a caller who may only read finds what a member finds, and writes nothing.
func reader(t *testing.T, s *store.Store) {
	const tenant = "readers"
	ctx := identity.With(context.Background(), identity.Identity{TenantID: tenant, UserID: "rolf", Role: identity.RoleReader})
	wantEqual(t, "document", get[store.Schema](t)(s.Schema(ctx, "doc")).Content, "everybody's")
	for what, err := range map[string]error{
		"a turn":      s.BeginTurn(ctx, store.Session{ID: "s"}, userMessage("x")),
		"an own note": s.Resources().Put(ctx, &store.Resource{Name: "new"}),
		"a document":  s.PutSchema(ctx, &store.Schema{Name: "new"}),
		"feedback":    s.Feedback().Put(ctx, &store.Feedback{Comment: "x"}),
		"a moment":    s.Moments().Put(ctx, &store.Moment{Name: "m"}),
		"a deletion":  s.Resources().Delete(ctx, "note"),
		"a file":      s.PutDocuments(ctx, &store.Document{File: &store.File{Name: "new", URI: "new"}}),
	} {
		wantErr(t, what+" of a reader", err, store.ErrForbidden)
	}
}

// member: a caller without the right to share writes only own rows.
func member(t *testing.T, s *store.Store) {
	const tenant = "readers"
	of := func(user string) context.Context {
		return identity.With(context.Background(), identity.Identity{TenantID: tenant, UserID: user, Role: identity.RoleMember})
	}
	reader, nobody, writer := of("rita"), of(""), as(tenant, "wim")
	shared := store.Base{Shared: true}
	must(t, s.PutSchema(writer, &store.Schema{Name: "doc", Content: "everybody's", Shared: true}))
	must(t, s.Resources().Put(writer, &store.Resource{Base: shared, Name: "note", Content: "everybody's"}))
	must(t, s.PutDocuments(writer, &store.Document{File: &store.File{Base: shared, Name: "paper", URI: "u"}, Chunks: []*store.Resource{{Name: "piece"}}}))
	for who, ctx := range map[string]context.Context{"a user": reader, "an anonymous caller": nobody} {
		for what, err := range map[string]error{
			"a document":          s.PutSchema(ctx, &store.Schema{Name: "new", Shared: true}),
			"the document":        s.PutSchema(ctx, &store.Schema{Name: "doc", Shared: true}),
			"a resource":          s.Resources().Put(ctx, &store.Resource{Base: shared, Name: "new"}),
			"a merge":             s.Resources().PutWith(ctx, store.PutOptions{Merge: true}, &store.Resource{Base: shared, Name: "note", Category: "x"}),
			"an ontology":         s.Ontologies().Put(ctx, &store.Ontology{Base: shared, Name: "new"}),
			"a file":              s.Files().Put(ctx, &store.File{Base: shared, Name: "new"}),
			"what files became":   s.PutDocuments(ctx, &store.Document{File: &store.File{Base: shared, Name: "new", URI: "new"}}),
			"less of a file":      s.PutDocuments(ctx, &store.Document{File: &store.File{Base: shared, Name: "paper", URI: "u"}}),
			"deletion":            s.DeleteSchema(ctx, "doc"),
			"deletion of a note":  s.Resources().Delete(ctx, "note"),
			"deletion of a paper": s.Files().Delete(ctx, "paper"),
		} {
			wantErr(t, what+" by "+who, err, store.ErrForbidden)
		}
		must(t, s.BeginTurn(ctx, store.Session{ID: "s"}, userMessage("x")))
		must(t, s.Feedback().Put(ctx, &store.Feedback{Comment: "x"}))
		linked := get[[]store.Linked](t)(s.PutLinked(ctx, "back", &store.Moment{Name: "m", Base: store.Base{GraphEdges: []store.Edge{{Target: "note"}}}}))
		wantEqual(t, "edge back by "+who, linked, []store.Linked{{Target: "note", Status: store.LinkShared}})
	}
	wantEqual(t, "document", get[store.Schema](t)(s.Schema(reader, "doc")).Content, "everybody's")
	note := get[store.Resource](t)(s.Resources().ByName(reader, "note"))
	wantEqual(t, "note", []any{note.Content, note.Category, len(note.GraphEdges)}, []any{"everybody's", "", 0})
	if _, err := s.Resources().ByName(reader, "piece"); err != nil {
		t.Errorf("a piece of the file: %v", err)
	}

	// Own rows, also beside shared ones of their names.
	must(t, s.PutSchema(reader, &store.Schema{Name: "doc", Content: "rita's"}))
	must(t, s.Resources().Put(reader, &store.Resource{Name: "note", Content: "rita's"}))
	wantEqual(t, "own document", get[store.Schema](t)(s.Schema(reader, "doc")).Content, "rita's")
	must(t, s.DeleteSchema(reader, "doc"))
	must(t, s.Resources().Delete(reader, "note"))
	wantEqual(t, "document again", get[store.Schema](t)(s.Schema(reader, "doc")).Content, "everybody's")
}
