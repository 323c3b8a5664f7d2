package house

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"
)

// allowed are exceptions to the rules below, with the reason. An entry that is not
// needed fails.
var allowed = map[string]string{
	"internal/api/internal/middleware.recovered": "http.ErrAbortHandler is net/http's own way to cut a connection, and passed on",
}

// makers return values that are never changed.
var makers = []string{
	"errors.New", "fmt.Errorf", "regexp.MustCompile", "strings.NewReplacer",
	"uuid.MustParse", "uuid.NewSHA1", "reflect.TypeFor", "reflect.TypeOf",
	"template.Must", "json.RawMessage", "time.Date", "strings.Fields", "sync.OnceValue", "sync.OnceValues",
	"newTable", "listedTable", // store's descriptions of its tables
	"SealedColumns", // the names of columns
	"inEachDialect", // store's statements, an array of texts
}

// TestNoHiddenState refuses init functions, panics, exits outside of the binary, and
// mutable package variables. Tables that no code writes to are allowed.
func TestNoHiddenState(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		if room, _, _ := place(p.dir); slices.Contains(yard, room) {
			continue
		}
		refuse := func(pos token.Pos, what, name string) {
			at := p.fset.Position(pos)
			key := p.dir + "." + name
			if _, ok := allowed[key]; ok {
				used[key] = true
				return
			}
			t.Errorf("%s/%s:%d: %s (%s)", p.dir, path.Base(at.Filename), at.Line, what, key)
		}
		for _, file := range p.files {
			checkFunctions(p, file, refuse)
		}
		checkVariables(p, refuse)
	}
	for key := range allowed {
		if !used[key] {
			t.Errorf("the exception for %s excuses nothing: remove it", key)
		}
	}
}

type refusal func(pos token.Pos, what, name string)

func checkFunctions(p *pkg, file *ast.File, refuse refusal) {
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if fn.Name.Name == "init" && fn.Recv == nil {
			refuse(fn.Pos(), "an init function: do it where the value is needed, or in a constructor", "init")
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch name := types.ExprString(call.Fun); {
			case name == "panic":
				refuse(call.Pos(), "a panic: return an error", fn.Name.Name)
			case strings.HasPrefix(name, "log.Fatal"), strings.HasPrefix(name, "log.Panic"):
				refuse(call.Pos(), name+": return an error", fn.Name.Name)
			case name == "os.Exit" && p.name != "main":
				refuse(call.Pos(), "os.Exit outside of the binary: return an error", fn.Name.Name)
			}
			return true
		})
	}
}

// checkVariables resolves names with go/types, imports left empty, and refuses
// package variables that are written to, whose address is taken, or whose value
// comes from something that may be mutable.
func checkVariables(p *pkg, refuse refusal) {
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: emptyImporter{}, Error: func(error) {}}
	files := make([]*ast.File, 0, len(p.files))
	for _, file := range p.files {
		files = append(files, file)
	}
	checked, _ := conf.Check(p.dir, p.fset, files, info)
	if checked == nil {
		return
	}
	global := func(e ast.Expr) (string, bool) {
		for {
			switch x := e.(type) {
			case *ast.Ident:
				v, ok := info.Uses[x].(*types.Var)
				return x.Name, ok && v.Parent() == checked.Scope()
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.ParenExpr:
				e = x.X
			case *ast.SliceExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			default:
				return "", false
			}
		}
	}
	for _, file := range files {
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.VAR {
				checkInitialisers(gen, refuse)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var written []ast.Expr
			switch x := n.(type) {
			case *ast.AssignStmt:
				if x.Tok != token.DEFINE {
					written = x.Lhs
				}
			case *ast.IncDecStmt:
				written = []ast.Expr{x.X}
			case *ast.UnaryExpr:
				if x.Op == token.AND {
					written = []ast.Expr{x.X}
				}
			case *ast.CallExpr:
				if fun := types.ExprString(x.Fun); len(x.Args) > 0 && (fun == "delete" || fun == "clear" || fun == "copy") {
					written = x.Args[:1]
				}
			}
			for _, e := range written {
				if name, ok := global(e); ok {
					refuse(e.Pos(), "a package variable is changed or its address is taken: keep it in a struct", name)
				}
			}
			return true
		})
	}
}

func checkInitialisers(gen *ast.GenDecl, refuse refusal) {
	embedded := func(groups ...*ast.CommentGroup) bool {
		for _, g := range groups {
			if g != nil && slices.ContainsFunc(g.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") }) {
				return true
			}
		}
		return false
	}
	for _, spec := range gen.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || embedded(gen.Doc, v.Doc) {
			continue
		}
		for i, name := range v.Names {
			switch {
			case name.Name == "_":
			case i >= len(v.Values) && neverChanges(v.Type):
			case i >= len(v.Values):
				refuse(name.Pos(), "a package variable without a value is there to be changed: keep it in a struct", name.Name)
			case !constant(v.Values[i]):
				refuse(name.Pos(), "a package variable whose value may be mutable: keep it in a struct, or name its maker in this test", name.Name)
			}
		}
	}
}

// neverChanges reports whether the empty value of a type stays empty as long as
// nothing is assigned to it: lists and tables do.
func neverChanges(e ast.Expr) bool {
	switch e.(type) {
	case *ast.ArrayType, *ast.MapType:
		return true
	}
	return false
}

// constant reports whether the expression is a table, a literal or the work of
// one of the makers.
func constant(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.BasicLit, *ast.CompositeLit, *ast.Ident, *ast.SelectorExpr, *ast.BinaryExpr, *ast.FuncLit:
		return true
	case *ast.ParenExpr:
		return constant(x.X)
	case *ast.UnaryExpr:
		return x.Op != token.AND && constant(x.X)
	case *ast.CallExpr:
		if _, conversion := x.Fun.(*ast.ArrayType); conversion {
			return true
		}
		return slices.Contains(makers, types.ExprString(x.Fun))
	}
	return false
}

// emptyImporter gives every import an empty package: enough to tell a package's
// own variables from its local ones, without compiling anything else.
type emptyImporter struct{}

func (emptyImporter) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}
