package probe

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/a2a"
)

// TestEverySurface: whatever the program has, the probe tries. The lists come from the program:
// its routes, its tools, what MCP clients are shown, the operations of A2A, the verbs of REM.
func TestEverySurface(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	x := &planter{t, w, w.people[0]}
	x.begin()
	var all []string
	for _, route := range w.handler.Routes() {
		// Those of A2A's two prefixes are operations of their own.
		if route != "POST /a2a/" && route != "DELETE /a2a/" {
			all = append(all, route)
		}
	}
	for _, operation := range a2a.Operations() {
		all = append(all, "a2a "+operation)
	}
	for _, tool := range w.Own() {
		all = append(all, "tool "+tool.Spec().Name)
	}
	for _, list := range []struct{ method, list, name, prefix string }{
		{"tools/list", "tools", "name", "tool "}, {"prompts/list", "prompts", "name", "prompt "},
		{"resources/list", "resources", "uri", "resource "}, {"resources/templates/list", "resourceTemplates", "uriTemplate", "resource "},
	} {
		for _, name := range x.listed(list.method, list.list, list.name) {
			// An agent is a tool, too; one row is for all of them.
			if list.list != "tools" || !slices.Contains(x.agents(), name) {
				all = append(all, list.prefix+name)
			}
		}
		all = append(all, "mcp "+list.method)
	}
	for _, verb := range verbs(t) {
		all = append(all, "verb "+verb)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var known []string
	for _, s := range surfaces {
		known = append(known, s.covers)
	}
	for _, name := range all {
		if !slices.Contains(known, name) {
			t.Errorf("%s has no row in the list of surfaces, so nobody knows whether it shows what is another's: add one in surfaces_test.go, which says how", name)
		}
	}
	for _, name := range known {
		if !slices.Contains(all, name) && !strings.HasPrefix(name, "mcp ") {
			t.Errorf("the list of surfaces has %s, which the program has not: remove the row, or correct its name", name)
		}
	}
	t.Logf("%d routes, tools, resources, operations and verbs", len(all))
}

// listed returns the names in a list of MCP.
func (x *planter) listed(method, list, name string) (names []string) {
	x.Helper()
	got := x.w.send(x, x.p, x.role(), mcp(method, "{}"))
	_, data, _ := strings.Cut(got.body, "data: ")
	var answer struct {
		Result map[string]json.RawMessage
	}
	var entries []map[string]any
	ok(x, json.Unmarshal([]byte(data), &answer))
	ok(x, json.Unmarshal(answer.Result[list], &entries))
	for _, e := range entries {
		names = append(names, e[name].(string))
	}
	if len(names) == 0 {
		x.Errorf("%s lists nothing: %s", method, got.body)
	}
	return names
}

// agents are the names of all agents.
func (x *planter) agents() (names []string) {
	all, err := x.w.Catalog.List(x.p.context(x), "agent")
	ok(x, err)
	for _, e := range all {
		names = append(names, e.Name)
	}
	return names
}

// verbs are the constants of the type rem.Verb.
func verbs(t *testing.T) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../../rem/rem.go", nil, 0)
	ok(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is && spec.Type != nil && len(spec.Values) == 1 {
			if kind, is := spec.Type.(*ast.Ident); is && kind.Name == "Verb" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				ok(t, err)
				names = append(names, text)
			}
		}
		return true
	})
	if len(names) < 6 {
		t.Errorf("only the verbs %v", names)
	}
	return names
}
