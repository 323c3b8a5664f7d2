package house

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/doc"
	"go/format"
	"go/printer"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// public lists the packages that programs outside of the module can import, and
// why each is one. Every other package is under internal, or is the binary, an
// embedded file, or a test.
var public = map[string]string{
	"agent":          "agents are documents: a program parses or builds them",
	"run":            "executes an agent and streams its events",
	"tool":           "Go functions that agents call",
	"tool/builtin":   "p8's own tools, for agents that search and remember",
	"tool/mcp":       "the tools of MCP servers",
	"llm":            "the interface that every model implements, and names for models",
	"llm/openai":     "models of OpenAI and of every server that speaks its protocol",
	"llm/anthropic":  "models of Anthropic",
	"llm/gemini":     "models of Google",
	"llm/offline":    "the model that answers without a provider",
	"llm/scripted":   "the model for tests",
	"llm/models":     "context windows and prices; run.Options and memory name it",
	"event":          "what a run streams",
	"telemetry":      "records runs as OpenTelemetry spans and metrics",
	"identity":       "whose data a call reads and writes",
	"chat":           "turns of stored sessions",
	"catalog":        "finds documents by name, for chat",
	"routing":        "chooses the agent of a session, for chat",
	"memory":         "composes what a model is sent of a session",
	"store":          "sessions, messages, documents and knowledge",
	"store/sqlite":   "the embedded engine of the store",
	"store/postgres": "the engine of the store for several processes",
	"rem":            "queries over what is stored",
	"stream":         "the wire protocols, for programs with an HTTP server of their own",
}

// foreign are the names of packages that are not public in declarations of ones
// that are.
var foreign []string

// hidden are the rooms whose packages are neither public nor under internal:
// the binary, embedded files, and what tests the module.
var hidden = []string{"cmd", "agents", "docs", "test", "bench"}

// TestEveryPackageIsPublicOrInternal keeps a new package from becoming a promise
// by accident.
func TestEveryPackageIsPublicOrInternal(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		seen[p.dir] = true
		elements := strings.Split(p.dir, "/")
		switch {
		case public[p.dir] != "", slices.Contains(elements, "internal"), slices.Contains(hidden, elements[0]):
		default:
			t.Errorf("%s can be imported by other modules: move it under internal, or add it to the list of public packages with the reason", p.dir)
		}
	}
	for dir := range public {
		if !seen[dir] {
			t.Errorf("the list of public packages names %s, which does not exist: remove it", dir)
		}
	}
}

// TestPublicAPI compares the exported declarations of each public package with
// testdata/api, so that a review sees every change of what other modules can
// use. `go test ./test/house -run PublicAPI -update` writes the files.
func TestPublicAPI(t *testing.T) {
	total := 0
	for _, p := range packages(t) {
		if public[p.dir] == "" {
			continue
		}
		api := exported(t, p)
		total += api.identifiers
		t.Logf("%-15s %4d exported identifiers", p.dir, api.identifiers)
		golden.Compare(t, filepath.Join("testdata", "api", strings.ReplaceAll(p.dir, "/", "_")+".txt"), string(api.text))
		for _, name := range api.foreign {
			if !slices.Contains(foreign, p.dir+": "+name) {
				t.Errorf("%s: an exported declaration names %s, which other modules cannot import: declare a public type", p.dir, name)
			}
		}
	}
	t.Logf("%-15s %4d exported identifiers", "all", total)
	stale, err := filepath.Glob(filepath.Join("testdata", "api", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stale {
		dir := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".txt"), "_", "/")
		if public[dir] == "" {
			t.Errorf("%s describes a package that is not public: delete it", file)
		}
	}
}

// api is what a package exports.
type api struct {
	// text holds the declarations without comments.
	text []byte
	// identifiers counts constants, variables, functions, types and methods.
	identifiers int
	// foreign are the names that a declaration uses and that importers of the
	// package cannot: "internal/live.Store".
	foreign []string
}

func exported(t *testing.T, p *pkg) api {
	t.Helper()
	var files []*ast.File
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		linux := build.Default
		linux.GOOS, linux.GOARCH = "linux", "amd64"
		match, err := linux.MatchFile(filepath.Join(harness.Root(t), path.Dir(name)), path.Base(name))
		if err != nil {
			t.Fatal(err)
		}
		if match {
			files = append(files, p.files[name])
		}
	}
	imports := map[string][]string{}
	for _, file := range files {
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			name := path.Base(imported)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			imports[name] = append(imports[name], imported)
		}
	}
	d, err := doc.NewFromFiles(p.fset, files, module+"/"+p.dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &declarations{t: t, fset: p.fset, imports: imports}
	w.values(d.Consts)
	w.values(d.Vars)
	w.functions(d.Funcs)
	for _, typ := range d.Types {
		w.identifiers++
		w.print(typ.Decl)
		w.values(typ.Consts)
		w.values(typ.Vars)
		w.functions(typ.Funcs)
		w.functions(typ.Methods)
	}
	w.text = []byte("package " + p.name + "\n\n" + w.out.String())
	if w.text, err = format.Source(w.text); err != nil {
		t.Fatal(err)
	}
	return w.api
}

type declarations struct {
	api
	t       *testing.T
	fset    *token.FileSet
	imports map[string][]string
	out     strings.Builder
}

func (w *declarations) values(list []*doc.Value) {
	for _, v := range list {
		w.identifiers += len(v.Names)
		w.print(v.Decl)
	}
}

func (w *declarations) functions(list []*doc.Func) {
	for _, f := range list {
		w.identifiers++
		w.print(f.Decl)
	}
}

// print writes a declaration without comments and without blank lines, so that
// a changed comment changes nothing.
func (w *declarations) print(decl ast.Decl) {
	w.t.Helper()
	ast.Inspect(decl, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.GenDecl:
			x.Doc = nil
		case *ast.FuncDecl:
			x.Doc, x.Body = nil, nil
		case *ast.Field:
			x.Doc, x.Comment = nil, nil
		case *ast.ValueSpec:
			x.Doc, x.Comment = nil, nil
		case *ast.TypeSpec:
			x.Doc, x.Comment = nil, nil
		case *ast.SelectorExpr:
			w.check(x)
		}
		return true
	})
	var b bytes.Buffer
	if err := printer.Fprint(&b, w.fset, decl); err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.TrimSpace(line) != "" {
			w.out.WriteString(line)
		}
	}
	w.out.WriteString("\n\n")
}

// check notes a name of a package that importers of this one cannot import.
func (w *declarations) check(x *ast.SelectorExpr) {
	qualifier, ok := x.X.(*ast.Ident)
	if !ok {
		return
	}
	for _, imported := range w.imports[qualifier.Name] {
		dir, ours := strings.CutPrefix(imported, module+"/")
		if ours && public[dir] == "" {
			w.foreign = append(w.foreign, dir+"."+x.Sel.Name)
		}
	}
}
