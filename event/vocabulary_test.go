package event_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/golden"
)

// TestVocabulary holds the table of docs/events.md against the code: what the
// types and their fields are called on the wire and what their comments say.
func TestVocabulary(t *testing.T) {
	const page, begin, end = "../docs/events.md", "<!-- the table: go generate ./event -->\n", "<!-- the end of the table -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	golden.Compare(t, page, before+begin+"\n"+newVocabulary(t).table(t)+"\n"+end+after)
}

// vocabulary is what the source says about the events.
type vocabulary struct {
	types   map[string]string        // Type's name → its comment
	structs map[string]*ast.TypeSpec // by name
	values  map[string]string        // constant → its text
}

func newVocabulary(t *testing.T) *vocabulary {
	t.Helper()
	v := &vocabulary{types: map[string]string{}, structs: map[string]*ast.TypeSpec{}, values: map[string]string{}}
	fset := token.NewFileSet()
	for _, name := range []string{"type.go", "data.go", "tool.go", "state.go"} {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.TypeSpec:
				v.structs[x.Name.Name] = x
			case *ast.ValueSpec:
				v.value(name, x)
			}
			return true
		})
	}
	return v
}

func (v *vocabulary) value(file string, x *ast.ValueSpec) {
	if file == "type.go" && x.Doc != nil {
		v.types[x.Names[0].Name] = x.Doc.Text()
	}
	if len(x.Values) != 1 {
		return
	}
	if lit, ok := x.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
		v.values[x.Names[0].Name] = constant.StringVal(constant.MakeFromLiteral(lit.Value, lit.Kind, 0))
	}
}

func (v *vocabulary) table(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| Event, fields | Emitted by, type | What it says |\n|---|---|---|\n")
	for typ := event.Progress; typ <= event.Done; typ++ {
		name := goName(typ)
		doc, by, ok := strings.Cut(oneLine(v.types[name]), " Emitted by ")
		if !ok {
			t.Errorf("the comment of %s does not say who emits it", name)
		}
		doc = strings.TrimPrefix(strings.TrimPrefix(doc, name+" "), "is ")
		fmt.Fprintf(&b, "| **`%s`** | %s | %s |\n", typ, strings.TrimSuffix(by, "."), v.words(strings.TrimSuffix(doc, "."), nil))
		spec := v.structs[name+"Data"]
		if spec == nil {
			fmt.Fprintf(&b, "| `text` | string | the piece |\n")
			continue
		}
		if typ == event.ToolArguments {
			fmt.Fprintf(&b, "| `text` | string | the piece |\n")
		}
		v.fields(t, &b, name, spec.Type.(*ast.StructType).Fields.List)
	}
	return b.String()
}

// fields writes a row a field; those that the comment of the one before names
// share its row.
func (v *vocabulary) fields(t *testing.T, b *strings.Builder, event string, list []*ast.Field) {
	names := map[string]string{}
	for _, f := range list {
		if json := jsonName(f); json != "" {
			names[f.Names[0].Name] = json
		}
	}
	for i := 0; i < len(list); i++ {
		f := list[i]
		if jsonName(f) == "" {
			continue
		}
		doc := oneLine(f.Doc.Text())
		if doc == "" {
			t.Errorf("%sData.%s has no comment, and that of the field before does not name it", event, f.Names[0].Name)
		}
		keys, kinds := []string{"`" + jsonName(f) + "`"}, []string{kind(f.Type)}
		for i+1 < len(list) && list[i+1].Doc == nil && regexp.MustCompile(`\b`+list[i+1].Names[0].Name+`\b`).MatchString(doc) {
			i++
			keys = append(keys, "`"+jsonName(list[i])+"`")
			if k := kind(list[i].Type); !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
		if len(keys) == 1 {
			doc = regexp.MustCompile(`^`+f.Names[0].Name+` (is|are) `).ReplaceAllString(doc, "")
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", strings.Join(keys, " "), strings.Join(kinds, ", "), v.words(strings.TrimSuffix(doc, "."), names))
	}
}

// words puts the names of the wire in the place of Go's.
func (v *vocabulary) words(doc string, fields map[string]string) string {
	doc = regexp.MustCompile(`\[(\w+)\]`).ReplaceAllString(doc, "$1")
	doc = regexp.MustCompile(`\b(JSON )?[A-Z]\w+\b`).ReplaceAllStringFunc(doc, func(word string) string {
		if json, ok := fields[word]; ok {
			return "`" + json + "`"
		}
		if value, ok := v.values[word]; ok {
			return "`" + value + "`"
		}
		if fields == nil {
			for typ := event.Progress; typ <= event.Done; typ++ {
				if goName(typ) == word {
					return "`" + typ.String() + "`"
				}
			}
		}
		if envelope, ok := map[string]string{"RunID": "run_id", "Agent": "agent"}[word]; ok {
			return "`" + envelope + "`"
		}
		return word
	})
	return strings.NewReplacer("|", `\|`, "<", `\<`).Replace(doc)
}

// goName is the name of a type in Go: tool_call is ToolCall.
func goName(typ event.Type) string {
	var b strings.Builder
	for part := range strings.SplitSeq(typ.String(), "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// jsonName is a field's name on the wire, "" for one that stays here.
func jsonName(f *ast.Field) string {
	tag, _ := strconv.Unquote(f.Tag.Value)
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// kind is a field's type in JSON's words.
func kind(e ast.Expr) string {
	switch name := types.ExprString(e); name {
	case "string", "ToolStatus":
		return "string"
	case "time.Time":
		return "time"
	case "int", "int64", "float64", "*int", "*float64":
		return "number"
	case "bool":
		return "boolean"
	case "[]string":
		return "strings"
	case "json.RawMessage":
		return "JSON"
	case "map[string]any", "*UsageData":
		return "object"
	case "[]CutRun", "[]File", "[]Source":
		return "objects"
	default:
		return name
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
