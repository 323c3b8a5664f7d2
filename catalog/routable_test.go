package catalog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// TestRoutable: every agent once, as a run would find it, and a changed document at once.
func TestRoutable(t *testing.T) {
	rows := &table{}
	rows.put("acme", store.Schema{Name: "bills", Kind: "agent", Source: document("bills", "Row.") + "routing: {keywords: [invoice]}\nrouting_max_turns: 3\n"})
	rows.put("acme", store.Schema{Name: "judge", Kind: "evaluator", Source: document("judge", "Judges.") + "kind: evaluator\n"})
	rows.put("acme", store.Schema{Name: "broken", Kind: "agent", Source: "name: [\n"})
	rows.put("other", store.Schema{Name: "theirs", Kind: "agent", Source: document("theirs", "Theirs.") + "routing: {}\n"})
	dir := t.TempDir()
	path := filepath.Join(dir, "shy.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(document("shy", "File.") + "routing: {}\nrouting_enabled: false\n")
	c, err := catalog.New(catalog.Options{
		Builtin: fstest.MapFS{"bills.yaml": {Data: []byte(document("bills", "Built in."))}, "general.yaml": {Data: []byte(document("general", "Answers."))}},
		Dir:     dir, Store: rows,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := identity.With(t.Context(), identity.Identity{TenantID: "acme"})
	check := func(want ...catalog.Routable) {
		t.Helper()
		got, err := c.Routable(ctx)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	bills := catalog.Routable{Name: "bills", Names: []string{"bills"}, Description: "Row.", Routing: &agent.Routing{Keywords: []string{"invoice"}}, Enabled: true, MaxTurns: 3}
	general := catalog.Routable{Name: "general", Names: []string{"general"}, Description: "Answers.", Enabled: true}
	shy := catalog.Routable{Name: "shy", Names: []string{"shy"}, Description: "File.", Routing: &agent.Routing{}}
	check(bills, general, shy)
	rows.put("acme", store.Schema{Name: "bills", Kind: "agent", Source: document("bills", "Row.") + "routing: {keywords: [bill, invoice]}\n"})
	bills.Routing, bills.MaxTurns = &agent.Routing{Keywords: []string{"bill", "invoice"}}, 0
	check(bills, general, shy)
	for i := range 600 { // more than are kept
		rows.put("acme", store.Schema{Name: fmt.Sprintf("x%03d", i), Kind: "agent", Source: document(fmt.Sprintf("x%03d", i), "X.")})
	}
	if got, err := c.Routable(ctx); err != nil || len(got) != 603 {
		t.Errorf("%d agents, %v", len(got), err)
	}
	rows.broken = context.DeadlineExceeded
	if _, err := c.Routable(ctx); err == nil {
		t.Error("a store that does not answer is no catalog without rows")
	}
}

// A stored document that claims a built-in one's name as a second one does not pass
// for it where agents are chosen by their names.
func TestClaimedNames(t *testing.T) {
	db := &table{}
	claim := `{"type":"object","name":"claim","description":"x","short_name":"general","fully_qualified_name":"rem.agents.QueryAgent"}`
	db.put("default", store.Schema{Name: "claim", Kind: "agent", JSONSchema: []byte(claim)})
	db.put("default", store.Schema{Name: "query-agent", Kind: "agent", JSONSchema: []byte(`{"type":"object","name":"query-agent","description":"A person's own."}`)})
	c := newCatalog(t, catalog.Options{Store: db})
	entries, err := c.List(caller(t), "agent")
	if err != nil {
		t.Fatal(err)
	}
	routable, err := c.Routable(caller(t))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{}
	for _, e := range entries {
		listed[e.Name] = e.Names
	}
	routed := map[string][]string{}
	for _, r := range routable {
		routed[r.Name] = r.Names
	}
	for what, names := range map[string]map[string][]string{"List": listed, "Routable": routed} {
		if diff := cmp.Diff([]string{"claim"}, names["claim"]); diff != "" {
			t.Errorf("%s: names of the document that claims others: %s", what, diff)
		}
		if !slices.Contains(names["query-agent"], "query-agent") || !slices.Contains(names["general"], "general") {
			t.Errorf("%s: %v", what, names)
		}
	}
	if a, err := c.Agent(caller(t), "general"); err != nil || !strings.HasPrefix(a.Prompt, "Built-in general.") {
		t.Errorf("general is %+v, %v", a, err)
	}
}

func TestNamesOfBuiltIns(t *testing.T) {
	names, err := catalog.Names(fstest.MapFS{"general.yaml": {Data: []byte(document("general", "G."))}, "query.yaml": {Data: []byte(queryAgent)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"general", "query-agent", "rem.agents.QueryAgent"} {
		if !slices.Contains(names, want) {
			t.Errorf("%v lacks %q", names, want)
		}
	}
}
