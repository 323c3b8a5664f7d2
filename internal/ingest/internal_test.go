package ingest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/testkit/hostile"
	"github.com/p8-org/p8/store"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"", "a/b.md", true}, {"**/*.md", "a.md", true}, {"**/*.md", "a/b/c.md", true}, {"**/*.md", "a.txt", false},
		{"*.md", "a.md", true}, {"*.md", "a/b.md", false}, {"a/**", "a/b/c", true}, {"a/**/d.md", "a/d.md", true},
		{"a/**/d.md", "a/b/c/d.md", true}, {"a/**/d.md", "b/d.md", false}, {"**", "x", true}, {"**/**", "x/y", true},
		{"**/[ab]?.md", "x/a1.md", true}, {"a/*", "a/b/c", false},
	} {
		if got := matches(c.pattern, c.file); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.file, got)
		}
	}
}

// names returns the names of the files of a folder called root. In taken, "path=name" is a
// stored file, "name!" a name in front matter.
func names(t *testing.T, files []string, taken ...string) map[string]string {
	t.Helper()
	var all []*candidate
	for _, f := range files {
		file, stored, isStored := strings.Cut(f, "=")
		file, explicit, _ := strings.Cut(file, "!")
		c := &candidate{source: &source{rel: file, tail: path.Join("root", file), uri: "file:///base/" + file}, explicit: explicit}
		if isStored {
			c.stored = &store.File{Name: stored}
		}
		all = append(all, c)
	}
	keys := map[string]bool{}
	for _, k := range taken {
		keys[k] = true
	}
	assign(all, keys)
	got := map[string]string{}
	for _, c := range all {
		got[c.rel] = c.name
	}
	return got
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		taken []string
		want  []string
	}{
		{"stems", []string{"a.md", "sub/b.pdf"}, nil, []string{"a", "b"}},
		{"pages of folders", []string{"README.md", "sub/index.md"}, nil, []string{"root", "sub"}},
		{"front matter", []string{"a.md!Alpha"}, nil, []string{"Alpha"}},
		{"the nearest to the root keeps it", []string{"x/a.md", "a.md", "y/z/a.md"}, nil, []string{"x-a", "a", "y-z-a"}},
		{"none of equals keeps it", []string{"x/a.md", "y/a.md"}, nil, []string{"x-a", "y-a"}},
		{"one key, two spellings", []string{"x/My Page.md", "y/my-page.md"}, nil, []string{"x-My Page", "y-my-page"}},
		{"formats of one stem", []string{"a.md", "a.pdf"}, nil, []string{"a.md", "a.pdf"}},
		{"a stored file keeps its name", []string{"deep/a.md=a", "a.md"}, nil, []string{"a", "a.md"}},
		{"unless it asks for another", []string{"a.md!alpha=a"}, nil, []string{"alpha"}},
		{"another run's name is its own", []string{"x/a.md"}, []string{"a"}, []string{"x-a"}},
		{"no letter", []string{"---.md"}, nil, []string{"file-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 { // in any order
				got := names(t, c.files, c.taken...)
				for i, f := range c.files {
					f, _, _ = strings.Cut(f, "=")
					f, _, _ = strings.Cut(f, "!")
					if got[f] != c.want[i] && !(strings.HasSuffix(c.want[i], "-") && strings.HasPrefix(got[f], c.want[i])) {
						t.Errorf("%s is called %q, want %q", f, got[f], c.want[i])
					}
				}
				c.files = append(slices.Clone(c.files[1:]), c.files[0])
				c.want = append(slices.Clone(c.want[1:]), c.want[0])
			}
		})
	}
}

// FuzzNames: whatever the files' names, no two rows have one key, and every name can be
// stored.
func FuzzNames(f *testing.F) {
	f.Add("a.md\nb/a.md\nA.md\nreadme.md\nb/README.md\nb-a.md\n../x\n\xff.md\n  .md")
	f.Fuzz(func(t *testing.T, list string) {
		var files []string
		for name := range strings.SplitSeq(list, "\n") {
			if name = path.Clean(strings.NewReplacer("=", "", "!", "").Replace(name)); !slices.Contains(files, name) && name != "." {
				files = append(files, name)
			}
		}
		seen := map[string]string{}
		for file, name := range names(t, files) {
			key := store.NormalizeKey(name)
			if other, twice := seen[key]; twice || key == "" || len([]rune(name)) > maxStem {
				t.Errorf("%q and %q are called %q", file, other, name)
			}
			seen[key] = file
		}
	})
}

func TestFrontMatter(t *testing.T) {
	f, ok, err := readFront("a.md", "entity_key: Ada\ntags: one, two\nuri: https://x.org\nlevel: 3\ngraph_edges:\n  - plan\n  - {dst: pier, rel_type: runs, weight: 0.5, reason: by law}\nnothing: null\nwhen: 2026-11-02\n")
	if err != nil || !ok {
		t.Fatal(err)
	}
	want := frontMatter{
		name: "Ada", uri: "https://x.org", tags: []string{"one", "two"},
		edges:    []store.Edge{{Target: "plan", Relation: "related", Weight: 1}, {Target: "pier", Relation: "runs", Weight: 0.5, Reason: "by law"}},
		metadata: map[string]json.RawMessage{"level": json.RawMessage("3"), "nothing": json.RawMessage("null"), "when": json.RawMessage(`"2026-11-02"`)},
	}
	if diff := cmp.Diff(want, f, cmp.AllowUnexported(frontMatter{})); diff != "" {
		t.Error(diff)
	}
	if _, ok, err := readFront("a.md", "just a text between rules"); ok || err != nil {
		t.Errorf("a text is no front matter: %v, %v", ok, err)
	}
}

// TestMistakes: each error has its position.
func TestMistakes(t *testing.T) {
	for src, want := range map[string]string{
		"name: [a]":                                         "f.md:2:7: name must be a text",
		"category: " + strings.Repeat("é", 201):             "f.md:2:11: category is longer than 200 characters",
		"a: 1\ntags: [" + strings.Repeat("a, ", 100) + "b]": "f.md:3:7: there are more than 100 tags",
		"tags: " + strings.Repeat("é", 201):                 "f.md:2:7: a tag is longer than 200 characters",
		"tags: {a: b}":                                      "f.md:2:",
		"a: 1\nedges: x":                                    "f.md:3:8: edges must be a list",
		"edges:\n  - {relation: x}":                         "this edge has no target",
		"edges:\n  - {target: x, colour: y}":                "f.md:3:17: an edge has target",
		"edges:\n  - {target: x, weight: heavy}":            "is no weight",
		"a: &x 1\nb: *x":                                    "anchors and aliases are not taken",
		"name: '???'":                                       "must have a letter",
		"a: 1\n\tb: 2":                                      "f.md:3:",
		"a: " + strings.Repeat("[", 200):                    "nested more than",
		"a: 1\n---\nb: 2":                                   "second document",
		"a: .inf":                                           "cannot be written as JSON",
	} {
		_, _, err := readFront("f.md", src)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
}

func rowsIn(src string, local bool) (*tables, error) {
	root, err := parseYAML("r.yaml", src, 1)
	if err != nil || root == nil {
		return nil, err
	}
	list, ok := members(root)
	if !ok || !isRows(list) {
		return nil, nil
	}
	return readTables("r.yaml", list, settings{local: local, category: "c", tags: []string{"t"}})
}

func TestRows(t *testing.T) {
	got, err := rowsIn(`{"ontologies": [{"name": "x", "content": "text", "category": "own", "confidence_score": 0.5}],
	"moments": [{"name": "m", "starts_timestamp": "2026-11-02", "ends_timestamp": "2026-11-02T10:00:00+02:00", "rating": 4}],
	"users": [{"name": "Ada", "email": "ada@example.com", "interests": ["boats"]}],
	"resources": [{"name": "r", "metadata": {"a": [1]}, "tags": ["own"], "edges": ["x"]}]}`, true)
	if err != nil {
		t.Fatal(err)
	}
	m := got.moments[0]
	if got.count() != 4 || got.ontologies[0].Category != "own" || m.Category != "c" || m.Rating != 4 || m.EndsAt.Hour() != 8 || m.StartsAt.Day() != 2 ||
		!slices.Equal(got.resources[0].Tags, []string{"own", "t"}) || got.resources[0].GraphEdges[0].Target != "x" || got.users[0].Interests[0] != "boats" {
		t.Errorf("%+v", got)
	}
	for src, want := range map[string]string{
		"moments:\n  - name: x\n    color: red":          `r.yaml:3:5: there is no field "color"; a row has category,`,
		"moments:\n  - summary: x":                       "r.yaml:2:", // no name
		"moments:\n  - {name: x, tenant_id: acme}":       "tenant_id is set by p8",
		"moments:\n  - {name: x, rating: many}":          "rating must be a whole number",
		"moments:\n  - {name: x, tags: t}":               "tags must be a list of texts",
		"moments:\n  - {name: x, starts_timestamp: now}": "must be a time such as",
		"users:\n  - {name: x}":                          "not taken from uploads",
	} {
		if _, err := rowsIn(src, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
	for _, src := range []string{"moments: {a: b}", "moments: [a]", "moments: []\nother: []", "[]", "a: 1", "x"} {
		if got, err := rowsIn(src, true); err != nil || got != nil {
			t.Errorf("%q is no file of rows: %v, %v", src, got, err)
		}
	}
}

func FuzzStructured(f *testing.F) {
	f.Add("name: x\ntags: [a]\nedges:\n - {target: b}\n")
	f.Add("moments:\n - {name: x, starts_timestamp: 2026-11-02, metadata: {a: [1, {b: c}]}}\n")
	f.Add("{\"resources\": [{\"name\": \"r\", \"content\": \"c\"}]}")
	f.Add("a: |\n  b\n c: >-\n  - d\n? e\n: f\n!!str g: h")
	f.Fuzz(func(t *testing.T, src string) {
		src = src[:min(len(src), 1<<14)] // the parser's time is its own
		if rows, err := rowsIn(src, true); err == nil && rows != nil {
			for _, m := range rows.moments {
				if m.Name == "" {
					t.Error("a moment without a name")
				}
			}
		}
		front, ok, err := readFront("f.md", src)
		if err == nil && ok {
			for key, raw := range front.metadata {
				if !json.Valid(raw) {
					t.Errorf("metadata %s is %s", key, raw)
				}
			}
			for _, e := range front.edges {
				if store.NormalizeKey(e.Target) == "" {
					t.Errorf("an edge to %q", e.Target)
				}
			}
		}
	})
}

// TestHostileSource: texts that would cost the lexer minutes or hundreds of megabytes are
// refused before it runs.
func TestHostileSource(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"indentation": {"moments: |\n" + strings.Repeat(" ", 64<<10) + "x" + strings.Repeat("\n", 64<<10), "f.yaml:2:1: indented by more than 1000 blanks"},
		"tokens":      {string(hostile.BracketsYAML()), "f.yaml:1:1: more than 300000 values and lines"},
		"lines":       {string(hostile.DashesYAML()), "more than 300000 values and lines"},
	} {
		if _, err := parseYAML("f.yaml", c.src, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := parseYAML("f.yaml", "a: |\n"+strings.Repeat(" ", 900)+"x\n\nb: c\n", 1); err != nil {
		t.Errorf("a deep line: %v", err)
	}
}

// TestManyRows: the parser is fast enough up to the bound of keys.
func TestManyRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("moments:\n")
	for i := range 4000 {
		fmt.Fprintf(&b, "  - name: m%d\n    summary: something happened\n    tags: [a, b]\n    rating: 3\n", i)
	}
	got, err := rowsIn(b.String(), true)
	if err != nil || got.count() != 4000 {
		t.Errorf("%v", err)
	}
	if _, err := rowsIn("moments:\n"+strings.Repeat("  - {name: a, tags: [], rating: 1}\n", 20_000), true); err == nil || !strings.Contains(err.Error(), "split the file") {
		t.Errorf("%v", err)
	}
}

// A file of another program is a text, even if it has the keys of a document.
func TestIsAgent(t *testing.T) {
	for src, want := range map[string]bool{
		"name: a\ndescription: d\ntools: [search]\n":                             true,
		"name: a\nservices: {db: {image: postgres}}\n":                           false,
		`{"object": "assistant", "name": "a", "description": null, "tools": []}`: false,
	} {
		root, err := parseYAML("x.yaml", src, 1)
		if err != nil {
			t.Fatal(err)
		}
		list, _ := members(root)
		if got := isAgent(list); got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}
