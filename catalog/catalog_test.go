package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

func document(name, prompt string) string {
	return fmt.Sprintf("type: object\nname: %s\ndescription: %s\n", name, prompt)
}

const queryAgent = `
type: object
description: Answers queries.
json_schema_extra:
  kind: agent
  fully_qualified_name: rem.agents.QueryAgent
  short_name: query-agent
`

// table is the table of schemas of one tenant and the system's.
type table struct {
	mu     sync.Mutex
	rows   map[[2]string]store.Schema // by tenant and name
	writes []string
	scans  int // how often all rows were read
	broken error
}

func (t *table) put(tenant string, d store.Schema) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil {
		t.rows = map[[2]string]store.Schema{}
	}
	d.ID, d.TenantID = "id-"+d.Name, tenant
	t.rows[[2]string{tenant, d.Name}] = d
}

func (t *table) tenants(ctx context.Context) [2]string {
	who, err := identity.From(ctx)
	if err != nil {
		return [2]string{"?", "?"}
	}
	return [2]string{who.TenantID, identity.SystemTenant}
}

func (t *table) Schema(ctx context.Context, name string) (store.Schema, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken != nil {
		return store.Schema{}, t.broken
	}
	for _, tenant := range t.tenants(ctx) {
		for _, row := range t.rows {
			if row.TenantID == tenant && (row.Name == name || row.ID == name) {
				return row, nil
			}
		}
	}
	return store.Schema{}, store.ErrNotFound
}

func (t *table) Schemas(ctx context.Context, _ store.SchemaFilter) ([]store.Schema, string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.scans++
	var list []store.Schema
	for _, tenant := range t.tenants(ctx) {
		for key, row := range t.rows {
			if key[0] == tenant {
				list = append(list, row)
			}
		}
	}
	return list, "", t.broken
}

func (t *table) PutSchema(ctx context.Context, d *store.Schema) error {
	tenant := t.tenants(ctx)[0]
	t.put(tenant, *d)
	t.writes = append(t.writes, tenant+"/"+d.Origin+"/"+d.Name)
	return t.broken
}

func (t *table) SchemaRevision(context.Context, string, string) (store.SchemaVersion, error) {
	return store.SchemaVersion{}, store.ErrNotFound
}

func (t *table) DeleteSchema(ctx context.Context, name string) error {
	delete(t.rows, [2]string{t.tenants(ctx)[0], name})
	return nil
}

func newCatalog(t *testing.T, o catalog.Options) *catalog.Catalog {
	t.Helper()
	if o.Builtin == nil {
		o.Builtin = fstest.MapFS{
			"general.yaml": {Data: []byte(document("general", "Built-in general."))},
			"query.yaml":   {Data: []byte(queryAgent)},
			"readme.md":    {Data: []byte("not a document")},
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c, err := catalog.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func caller(t *testing.T) context.Context {
	return identity.With(t.Context(), identity.Identity{UserID: "alice"})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func prompt(t *testing.T, c *catalog.Catalog, name string) string {
	t.Helper()
	a, err := c.Agent(caller(t), name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	line, _, _ := strings.Cut(a.Prompt, "\n")
	return line
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNames(t *testing.T) {
	c := newCatalog(t, catalog.Options{})
	for _, name := range []string{
		"query-agent", "rem.agents.QueryAgent", "rem-agents-query-agent", "Query Agent", " query-agent ",
		"agents/query-agent", "query-agent.yaml", "schemas/query-agent.yml",
	} {
		if got := prompt(t, c, name); got != "Answers queries." {
			t.Errorf("%q finds %q", name, got)
		}
	}
}

func TestNamesThatAreNone(t *testing.T) {
	c := newCatalog(t, catalog.Options{Dir: t.TempDir()})
	for _, name := range []string{
		"", "  ", "..", "../general", "a/../general", "/etc/passwd", `..\general`, `C:\general`, "agents/../general",
		"agents/agents/general", "a\x00b", "a\nb", strings.Repeat("a", 256), "\xff",
	} {
		_, err := c.Agent(caller(t), name)
		var bad *catalog.NameError
		if !errors.As(err, &bad) {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}

func TestUnknownNamesSuggestNearOnes(t *testing.T) {
	db := &table{}
	db.put("default", store.Schema{Name: "generic", JSONSchema: []byte(`{"description":"x"}`)})
	c := newCatalog(t, catalog.Options{Store: db})
	_, err := c.Agent(caller(t), "genral")
	var missing *catalog.NotFoundError
	if !errors.As(err, &missing) || missing.Name != "genral" || len(missing.Near) == 0 || missing.Near[0] != "general" {
		t.Fatalf("%v", err)
	}
	if want := `there is no agent "genral"; did you mean "general"`; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%q", err)
	}
	if _, err = c.Agent(caller(t), "zzzzzzzzzz"); err.Error() != `there is no agent "zzzzzzzzzz"` {
		t.Errorf("%q", err)
	}
}

func TestHasNeverReadsEveryRow(t *testing.T) {
	db := &table{}
	db.put("default", store.Schema{Name: "mine", JSONSchema: []byte(`{"name":"mine","description":"x"}`)})
	c := newCatalog(t, catalog.Options{Store: db})
	for name, want := range map[string]bool{
		"mine": true, "general": true, "rem.agents.QueryAgent": true, "gpt-4.1": false, "../general": false,
	} {
		if got, err := c.Has(caller(t), name); got != want || err != nil {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	if db.scans != 0 {
		t.Errorf("all rows were read %d times", db.scans)
	}
	db.broken = errors.New("down")
	if _, err := c.Has(caller(t), "gpt-4.1"); err == nil {
		t.Error("a store that is down has no answer")
	}
}

func TestOrder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", document("general", "From the folder."))
	write(t, dir, "b.yaml", document("mine", "Mine, from the folder."))
	db := &table{}
	c := newCatalog(t, catalog.Options{Dir: dir, Store: db})
	if got := prompt(t, c, "general"); got != "Built-in general." {
		t.Errorf("built-in before folder: %q", got)
	}
	if got := prompt(t, c, "mine"); got != "Mine, from the folder." {
		t.Errorf("folder: %q", got)
	}
	db.put("default", store.Schema{Name: "general", Source: document("general", "A person's.")})
	db.put("default", store.Schema{Name: "mine", JSONSchema: []byte(`{"type":"object","name":"mine","description":"A person's mine."}`)})
	for name, want := range map[string]string{"general": "A person's.", "mine": "A person's mine."} {
		if got := prompt(t, c, name); got != want {
			t.Errorf("a person's row comes first: %q", got)
		}
	}
	db.put("default", store.Schema{Name: "general", Source: document("general", "Changed.")})
	if got := prompt(t, c, "general"); got != "Changed." {
		t.Errorf("a changed row is used at once: %q", got)
	}
	// A row cannot pass for another by naming its hash.
	db.put("default", store.Schema{Name: "general", Source: document("general", "Evil."), Hash: "whatever"})
	if got := prompt(t, c, "general"); got != "Evil." {
		t.Errorf("%q", got)
	}
	db.put("default", store.Schema{Name: "aliased", JSONSchema: []byte(`{"type":"object","description":"By alias.","json_schema_extra":{"name":"aliased","fully_qualified_name":"my.own.Agent"}}`)})
	if got := prompt(t, c, "my-own-agent"); got != "By alias." {
		t.Errorf("rows have other names too: %q", got)
	}
}

// TestFoldersOfOneStore: a query of a process with another folder leaves the mirrors of
// documents that it never had. A mirror that another process removed comes back with the
// document's next use.
func TestFoldersOfOneStore(t *testing.T) {
	first, second, db := t.TempDir(), t.TempDir(), &table{}
	write(t, first, "a.yaml", document("a", "A."))
	write(t, second, "b.yaml", document("b", "B."))
	a := newCatalog(t, catalog.Options{Store: db, Dir: first, Shared: true})
	b := newCatalog(t, catalog.Options{Store: db, Dir: second, Shared: true})
	mirrors := func(want string) {
		t.Helper()
		var names []string
		for key, row := range db.rows {
			if row.Origin == catalog.File {
				names = append(names, key[1])
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("the mirrors are %q, want %q", got, want)
		}
	}
	must(t, a.Sync(caller(t)))
	b.Refresh(caller(t))
	mirrors("a b")
	must(t, os.Remove(filepath.Join(second, "b.yaml")))
	b.Refresh(caller(t))
	mirrors("a")
	must(t, b.Sync(caller(t)))
	mirrors("")
	prompt(t, a, "a")
	mirrors("a")
}

// A document without a name has its file's; equal texts are different agents.
func TestNameOfTheFile(t *testing.T) {
	dir := t.TempDir()
	const text = "# A comment.\ntype: object\ndescription: You help.\njson_schema_extra: {tools: [search]}\n"
	write(t, dir, "one.yaml", text)
	write(t, dir, "My Two.yml", text)
	db := &table{}
	c := newCatalog(t, catalog.Options{Dir: dir, Document: filepath.Join(dir, "one.yaml"), Store: db})
	for asked, want := range map[string]string{"one": "one", "my-two": "my-two", "My Two": "my-two"} {
		if a, err := c.Agent(caller(t), asked); err != nil || a.Name != want || a.Prompt == "" {
			t.Errorf("%s: %+v, %v", asked, a, err)
		}
	}
	if err := c.Sync(caller(t)); err != nil {
		t.Fatal(err)
	}
	// A row has no file, so the name is in its text.
	row := db.rows[[2]string{identity.SystemTenant, "my-two"}]
	row.Origin = catalog.Person
	db.put("default", row)
	alone := newCatalog(t, catalog.Options{Store: db})
	if a, err := alone.Agent(caller(t), "my-two"); err != nil || a.Name != "my-two" {
		t.Errorf("%+v, %v", a, err)
	}
	writes := len(db.writes)
	if err := newCatalog(t, catalog.Options{Dir: dir, Store: db}).Sync(caller(t)); err != nil || len(db.writes) != writes {
		t.Errorf("a second start writes: %q, %v", db.writes[writes:], err)
	}
	if _, _, err := catalog.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), "has no name") {
		t.Errorf("a text that no file has: %v", err)
	}
}

// A document that is given by its path outranks all others and is not mirrored.
func TestGivenDocument(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "given.yaml", document("general", "Given."))
	write(t, dir, "beside.yaml", document("beside", "Not given."))
	db := &table{}
	db.put("default", store.Schema{Name: "general", Source: document("general", "A person's.")})
	c := newCatalog(t, catalog.Options{Document: filepath.Join(dir, "given.yaml"), Store: db})
	if got := prompt(t, c, "general"); got != "Given." {
		t.Errorf("%q", got)
	}
	if has, err := c.Has(caller(t), "general"); !has || err != nil {
		t.Error(has, err)
	}
	if !c.Given("general") || c.Given("query-agent") || c.Given("../given") {
		t.Error("only the given document is given")
	}
	if _, err := c.Agent(caller(t), "beside"); err == nil {
		t.Error("a file beside it is found")
	}
	list, err := c.List(caller(t), "agent")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Name == "general" && e.Origin != catalog.File {
			t.Errorf("the list has %+v", e)
		}
	}
	write(t, dir, "given.yaml", document("general", "Changed."))
	if got := prompt(t, c, "general"); got != "Changed." {
		t.Errorf("%q", got)
	}
	if len(db.writes) > 0 {
		t.Errorf("mirrored: %q", db.writes)
	}
	if err := os.Remove(filepath.Join(dir, "given.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := prompt(t, c, "general"); got != "A person's." {
		t.Errorf("%q", got)
	}
}

func TestAMirrorNeverOutranksItsSource(t *testing.T) {
	db := &table{}
	db.put(identity.SystemTenant, store.Schema{Name: "general", Origin: catalog.Builtin, Source: document("general", "An old version.")})
	db.put(identity.SystemTenant, store.Schema{Name: "gone", Origin: catalog.File, Source: document("gone", "Deleted.")})
	c := newCatalog(t, catalog.Options{Store: db})
	if got := prompt(t, c, "general"); got != "Built-in general." {
		t.Errorf("%q", got)
	}
	prompt(t, c, "general")
	if diff := cmp.Diff([]string{"_/builtin/general"}, db.writes); diff != "" {
		t.Error("the mirror follows, once:", diff)
	}
	if _, err := c.Agent(caller(t), "gone"); err == nil {
		t.Error("a mirror without a source is no agent")
	}
	if err := c.Sync(caller(t)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"_/builtin/general", "_/builtin/query-agent"}, db.writes); diff != "" {
		t.Error(diff)
	}
	if _, ok := db.rows[[2]string{identity.SystemTenant, "gone"}]; ok {
		t.Error("the mirror of a deleted document must go")
	}
	row := db.rows[[2]string{identity.SystemTenant, "query-agent"}]
	if row.Kind != "agent" || row.Content != "Answers queries." || row.Hash == "" || row.Source != queryAgent || !row.Shared {
		t.Errorf("%+v", row)
	}
	if err := newCatalog(t, catalog.Options{Store: db}).Sync(caller(t)); err != nil || len(db.writes) != 2 {
		t.Errorf("a second start writes nothing: %v %v", db.writes, err)
	}
}

// TestMirrorsFollowTheFolder: a deleted file has no mirror at the next query, and gets it
// back with the same text.
func TestMirrorsFollowTheFolder(t *testing.T) {
	dir, db := t.TempDir(), &table{}
	c := newCatalog(t, catalog.Options{Store: db, Dir: dir})
	write(t, dir, "a.yaml", document("a", "A."))
	mirrors := func() string {
		t.Helper()
		c.Refresh(caller(t))
		var names []string
		for key, row := range db.rows {
			if row.Origin == catalog.File {
				names = append(names, key[1])
			}
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	for i, step := range []struct {
		change func()
		want   string
	}{
		{func() {}, "a"},
		{func() { write(t, dir, "b.yaml", document("b", "B.")) }, "a b"},
		{func() { must(t, os.Remove(filepath.Join(dir, "a.yaml"))) }, "b"},
		{func() { write(t, dir, "a.yaml", document("a", "A.")) }, "a b"},
		{func() { must(t, os.Rename(filepath.Join(dir, "a.yaml"), filepath.Join(dir, "a.txt"))) }, "b"},
		{func() { must(t, os.RemoveAll(dir)) }, ""},
		{func() { must(t, os.Mkdir(dir, 0o700)); write(t, dir, "b.yaml", document("b", "B.")) }, "b"},
	} {
		step.change()
		if got := mirrors(); got != step.want {
			t.Errorf("step %d: the mirrors are %q, want %q", i, got, step.want)
		}
	}
	before := db.scans
	mirrors()
	if db.scans != before {
		t.Error("the rows were read, and the folder had not changed")
	}
	db.broken = errors.New("disk full")
	write(t, dir, "c.yaml", document("c", "C."))
	mirrors() // a failure fails no query
	db.broken = nil
	if got := mirrors(); got != "b c" {
		t.Errorf("after a failure the mirrors are %q", got)
	}
}

func TestAMirrorThatFailsDoesNotFailTheRun(t *testing.T) {
	db := &table{}
	c := newCatalog(t, catalog.Options{Store: &failingPut{db}})
	prompt(t, c, "general")
	db.broken = errors.New("down")
	if _, err := c.Agent(caller(t), "general"); !errors.Is(err, db.broken) {
		t.Errorf("whether a person wrote a row is not known: %v", err)
	}
}

type failingPut struct{ *table }

func (failingPut) PutSchema(context.Context, *store.Schema) error { return store.ErrConflict }

// The client that asks first for an agent may leave; nobody would try again.
func TestAMirrorOutlivesItsCaller(t *testing.T) {
	ctx, leave := context.WithCancel(caller(t))
	leave()
	db := &table{}
	c := newCatalog(t, catalog.Options{Store: patient{db}})
	if _, err := c.Agent(ctx, "general"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"_/builtin/general"}, db.writes); diff != "" {
		t.Error(diff)
	}
}

// patient is a store that heeds the context when it writes.
type patient struct{ *table }

func (p patient) PutSchema(ctx context.Context, d *store.Schema) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.table.PutSchema(ctx, d)
}

func TestFolderFollowsItsFiles(t *testing.T) {
	dir := t.TempDir()
	c := newCatalog(t, catalog.Options{Dir: dir})
	ctx := caller(t)
	if _, err := c.Agent(ctx, "one"); err == nil {
		t.Fatal("found in an empty folder")
	}
	write(t, dir, "x.yaml", document("one", "First."))
	if got := prompt(t, c, "one"); got != "First." {
		t.Errorf("a new file: %q", got)
	}
	write(t, dir, "x.yaml", document("one", "Other.")) // same size, the same moment
	if got := prompt(t, c, "one"); got != "Other." {
		t.Errorf("a changed file: %q", got)
	}
	old := time.Now().Add(-time.Hour)
	for _, text := range []string{"Older.", "Oldes."} {
		write(t, dir, "x.yaml", document("one", text))
		old = old.Add(time.Minute)
		if err := os.Chtimes(filepath.Join(dir, "x.yaml"), old, old); err != nil {
			t.Fatal(err)
		}
		if got := prompt(t, c, "one"); got != text {
			t.Errorf("a file with another time: %q", got)
		}
	}
	write(t, dir, "x.yaml", document("two", "Renamed."))
	if got := prompt(t, c, "two"); got != "Renamed." {
		t.Errorf("a document with another name: %q", got)
	}
	if _, err := c.Agent(ctx, "one"); err == nil {
		t.Error("the old name is gone")
	}
	if err := os.Remove(filepath.Join(dir, "x.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Agent(ctx, "two"); err == nil {
		t.Error("a deleted file is gone")
	}
}

func TestFolderWithBadDocuments(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", "type: object\nname: [\n")
	write(t, dir, "b.yaml", document("good", "Good."))
	write(t, dir, "c.yaml", document("good", "Second of the name."))
	write(t, dir, "d.yaml", strings.Repeat("#", 1<<20+1))
	write(t, dir, "f.yaml", document("Query_Agent", "Outranked in another spelling."))
	write(t, dir, "general.yaml", "description: Outranked, without a name.\n")
	write(t, dir, ".hidden.yaml", document("hidden", "Hidden."))
	if err := os.Mkdir(filepath.Join(dir, "e.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	c := newCatalog(t, catalog.Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if got := prompt(t, c, "good"); got != "Good." {
		t.Errorf("%q", got)
	}
	for name, want := range map[string]string{"a": "a.yaml:2:", "d": "larger than 1 MiB"} {
		_, err := c.Agent(caller(t), name)
		var bad *catalog.InvalidError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Agent(caller(t), "hidden"); err == nil {
		t.Error("hidden files are no documents")
	}
	for _, want := range []string{"a.yaml:2:", "c.yaml: warning: b.yaml has the name good, too",
		"f.yaml: warning: the built-in agent Query_Agent answers", "general.yaml: warning: the built-in agent general answers"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
	before := log.Len()
	write(t, dir, "new.yaml", document("new", "New."))
	prompt(t, c, "new")
	prompt(t, c, "good")
	if log.Len() != before {
		t.Errorf("said twice:\n%s", log.String()[before:])
	}
}

func TestFolderThatIsNotThere(t *testing.T) {
	c := newCatalog(t, catalog.Options{Dir: filepath.Join(t.TempDir(), "none")})
	prompt(t, c, "general")
	var missing *catalog.NotFoundError
	if _, err := c.Agent(caller(t), "other"); !errors.As(err, &missing) {
		t.Error(err)
	}
}

func TestCache(t *testing.T) {
	c := newCatalog(t, catalog.Options{CacheSize: 1})
	ctx := caller(t)
	first, err := c.Agent(ctx, "general")
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Agent(identity.With(t.Context(), identity.Identity{UserID: "bob", TenantID: "other"}), "general")
	if err != nil || again != first {
		t.Error("a compiled agent is everybody's", err)
	}
	if got, want := c.Stats(), (catalog.Stats{Hits: 1, Misses: 1, Size: 1, Capacity: 1}); got != want {
		t.Errorf("%+v", got)
	}
	prompt(t, c, "query-agent")
	prompt(t, c, "general")
	if got, want := c.Stats(), (catalog.Stats{Hits: 1, Misses: 3, Size: 1, Capacity: 1}); got != want {
		t.Errorf("%+v", got)
	}
	if n := c.Clear("nobody"); n != 0 {
		t.Errorf("cleared %d", n)
	}
	if n := c.Clear("general"); n != 1 || c.Stats().Size != 0 {
		t.Errorf("cleared %d", n)
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", document("general", "Hidden by the built-in one."))
	write(t, dir, "b.yaml", document("mine", "Mine."))
	write(t, dir, "bad.yaml", "name: [")
	write(t, dir, "e.yaml", document("judge", "Judges.")+"kind: evaluator\n")
	db := &table{}
	db.put("default", store.Schema{Name: "query-agent", Kind: "agent", Description: "A person's."})
	c := newCatalog(t, catalog.Options{Dir: dir, Store: db})
	list := func(kind string) (out []string) {
		entries, err := c.List(caller(t), kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			out = append(out, strings.TrimRight(e.Name+" "+e.Kind+" "+e.Origin, " "))
		}
		return out
	}
	if diff := cmp.Diff([]string{"general agent builtin", "mine agent file", "query-agent agent"}, list("agent")); diff != "" {
		t.Error(diff)
	}
	want := []string{"bad  file", "general agent builtin", "judge evaluator file", "mine agent file", "query-agent agent"}
	if diff := cmp.Diff(want, list("")); diff != "" {
		t.Error(diff)
	}
}

func TestABrokenBuiltinIsAnError(t *testing.T) {
	_, err := catalog.New(catalog.Options{Builtin: fstest.MapFS{"x.yaml": {Data: []byte("name: [")}}})
	if err == nil || !strings.Contains(err.Error(), "x.yaml:1:") {
		t.Error(err)
	}
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "x.yaml", document("one", "First."))
	c := newCatalog(t, catalog.Options{Dir: dir, CacheSize: 1, Store: &table{}})
	ctx := caller(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 50 {
				name := []string{"one", "general"}[i%2]
				if _, err := c.Agent(ctx, name); err != nil {
					t.Error(err)
				}
				c.Clear(name)
				c.Stats()
			}
		})
	}
	wait.Wait()
}

func BenchmarkAgent(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(document("one", "First.")), 0o600); err != nil {
		b.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{filepath.Join(dir, "x.yaml"), dir} {
		if err := os.Chtimes(name, old, old); err != nil {
			b.Fatal(err)
		}
	}
	c, err := catalog.New(catalog.Options{Builtin: fstest.MapFS{"g.yaml": {Data: []byte(document("general", "G."))}}, Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	ctx := identity.With(b.Context(), identity.Identity{})
	for _, name := range []string{"general", "one"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Agent(ctx, name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestFolderKeepsItsLastValidDocument: a text that is not valid is refused, and the one before
// stays in use until the file is mended or deleted.
func TestFolderKeepsItsLastValidDocument(t *testing.T) {
	dir := t.TempDir()
	c := newCatalog(t, catalog.Options{Dir: dir, KeepValid: true})
	ctx := caller(t)
	write(t, dir, "x.yaml", document("one", "First."))
	if got := prompt(t, c, "one"); got != "First." {
		t.Fatal(got)
	}
	for _, broken := range []string{"name: one\ntools: 7\n", "{", "name: one\ntools: 8\n"} {
		write(t, dir, "x.yaml", broken)
		if got := prompt(t, c, "one"); got != "First." {
			t.Errorf("beside %q: %q", broken, got)
		}
	}
	listed := func() catalog.Entry {
		list, err := c.List(ctx, "")
		i := slices.IndexFunc(list, func(e catalog.Entry) bool { return e.Name == "one" })
		if err != nil || i < 0 {
			t.Fatal(list, err)
		}
		return list[i]
	}
	if e := listed(); len(e.Problems) > 0 || len(e.Newer) != 2 || e.Newer[1].Line != 2 {
		t.Errorf("%+v", e)
	}
	write(t, dir, "x.yaml", document("one", "Mended."))
	if got := prompt(t, c, "one"); got != "Mended." {
		t.Errorf("mended: %q", got)
	}
	if e := listed(); e.Newer != nil {
		t.Errorf("%+v", e)
	}
	write(t, dir, "x.yaml", "{")
	prompt(t, c, "one")
	if err := os.Remove(filepath.Join(dir, "x.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Agent(ctx, "one"); err == nil {
		t.Error("a deleted file is gone")
	}
}
