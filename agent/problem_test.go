package agent_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/testkit/golden"
)

// Each file of testdata/problems has its report beside it.
func TestProblemsGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/problems/*.*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			d, err := agent.Parse(filepath.Base(file), read(t, file))
			var problems agent.Problems
			switch {
			case err == nil:
				problems = d.Warnings
			case !errors.As(err, &problems):
				t.Fatalf("the error is a %T", err)
			case len(problems.Errors()) == 0 || d != nil:
				t.Errorf("an error without errors, or with a document")
			}
			checkWhole(t, problems)
			golden.Compare(t, file+".golden", problems.Detail())
		})
	}
}

// checkWhole: each problem says where it is, shows it and says how to mend it.
func checkWhole(t *testing.T, problems agent.Problems) {
	t.Helper()
	for _, p := range problems {
		if p.Line < 1 || p.Column < 1 || p.Snippet == "" || p.Hint == "" {
			t.Errorf("no place, no snippet or no hint:\n%s", p.Detail())
		}
	}
}

// A value of every wrong kind for a field of every kind has a hint of its own.
func TestWrongKindsHaveHints(t *testing.T) {
	values := []string{"1.5", "-1", "1e99", "true", "text", `"7"`, "[x]", "[{}]", "{a: b}", "[[x]]"}
	for _, key := range []string{
		"name", "kind", "structured_output", "tools", "resources", "agents", "temperature", "max_tokens", "limits", "history", "child_text", "tags", "routing", "routing_model", "state", "predict_state",
		"provider_configs", "json_schema_extra", "properties", "required", "description", "type", "$defs",
	} {
		for _, value := range values {
			d, err := agent.Parse("", []byte("name: x\ndescription: d\n"+key+": "+value+"\n"))
			var problems agent.Problems
			if errors.As(err, &problems) || d != nil && len(d.Warnings) > 0 {
				if d != nil {
					problems = d.Warnings
				}
				checkWhole(t, problems)
			}
		}
	}
}

func TestProblemText(t *testing.T) {
	_, err := agent.Parse("a.yaml", []byte("name: a\ntemprature: 1\ndescription: [x]\n"))
	want := `a.yaml:3:14: description must be a string, not a list (write one text; if it is long, below a |)`
	if err == nil || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	var problems agent.Problems
	if !errors.As(err, &problems) || len(problems.Warnings()) != 1 ||
		problems.Warnings()[0].Error() != `a.yaml:2:1: warning: unknown key "temprature" (did you mean temperature?)` {
		t.Errorf("got %v", problems.Warnings())
	}
}

// Columns count characters, in JSON as in YAML.
func TestColumnsCountCharacters(t *testing.T) {
	for file, src := range map[string]string{
		"a.json": "{\"name\": \"a\", \"description\": \"é😀\",\n \"x_é\": \"😀\", \"model\": 7}",
		"a.yaml": "{name: a, description: é😀,\n \"x_é\": \"😀\", \"model\": 7}",
	} {
		_, err := agent.Parse(file, []byte(src))
		if want := file + ":2:23: model must be a string, not 7"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestSnippetOfALongLine(t *testing.T) {
	_, err := agent.Parse("a.yaml", []byte("name: a\ndescription: d\nproperties: {é: {"+strings.Repeat(" ", 300)+"type: strng}}\n"))
	var problems agent.Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	lines := strings.Split(problems[0].Snippet, "\n")
	source, caret := []rune(lines[len(lines)-3]), []rune(lines[len(lines)-2])
	if len(source) > 130 || !strings.HasPrefix(string(source[len(caret)-1:]), "strng") {
		t.Errorf("the caret is not below the value:\n%s", problems[0].Snippet)
	}
}

// A flood of warnings does not hide an error.
func TestProblemsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	_, err := agent.Parse("", []byte(b.String()))
	var problems agent.Problems
	if !errors.As(err, &problems) || len(problems.Errors()) != 2 || len(problems.Warnings()) != 100 {
		t.Errorf("got %d errors and %d warnings", len(problems.Errors()), len(problems.Warnings()))
	}
}

func TestCheckTools(t *testing.T) {
	d := parse(t, "tools.yaml", []byte(`
name: x
description: d
tools:
  - search
  - name: serch
  - {name: lookup_entity, mcp_server: rem}
  - {name: query, server: crm}
  - {name: query2, server: crm}
`))
	got := d.CheckTools([]string{"search", "action", "crm/query"})
	want := []string{
		`tools.yaml:6:5: warning: the tool "serch" does not exist here and is left out (did you mean search?)`,
		`tools.yaml:7:5: warning: the tool "lookup_entity" does not exist here and is left out (there are search, action, crm/query)`,
		`tools.yaml:9:5: warning: the tool "query2" of the server "crm" does not exist here and is left out (did you mean crm/query?)`,
	}
	if len(got) != len(want) || got.Err() != nil {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i].Error() != want[i] {
			t.Errorf("got %s, want %s", got[i].Error(), want[i])
		}
	}
}

// A typo in the server gives the server, one in the tool the tool; what a server
// that does not answer has is not known.
func TestCheckToolsOfServers(t *testing.T) {
	d := parse(t, "tools.yaml", []byte(`
name: x
description: d
tools:
  - {name: query, server: cmr}
  - {name: qurey, server: crm}
  - {name: anything, server: down}
  - {name: query, server: CRM}
  - {name: fetch, server: my_data}
  - {name: notes, uri: "notes://one", server: nowhere}
  - {name: x, server: unheard-of}
resources:
  - {uri: "notes://one", server: CRM}
  - {uri: "notes://two"}
  - {uri_pattern: "notes://(?!x)", server: dwon}
`))
	got := d.CheckTools([]string{"search", "crm/", "crm/query", "down/", "my-data/", "my-data/fetch"})
	want := []string{
		`tools.yaml:5:5: warning: the MCP server "cmr" of the tool "query" does not exist here and the tool is left out (did you mean crm?)`,
		`tools.yaml:6:5: warning: the tool "qurey" of the server "crm" does not exist here and is left out (did you mean crm/query?)`,
		`tools.yaml:11:5: warning: the MCP server "unheard-of" of the tool "x" does not exist here and the tool is left out (there are crm, down, my-data)`,
		`tools.yaml:10:5: warning: the MCP server "nowhere" of the resource "notes" does not exist here and the resource is left out (there are crm, down, my-data)`,
		`tools.yaml:15:5: warning: the MCP server "dwon" of the resource "notes://(?!x)" does not exist here and the resource is left out (did you mean down?)`,
		`tools.yaml:15:5: warning: the uri_pattern of the resource "notes://(?!x)" is no regular expression and the resource is left out (write one as Go has it, without lookaround)`,
	}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i].Error() != want[i] {
			t.Errorf("got  %s\nwant %s", got[i].Error(), want[i])
		}
	}
	got = d.CheckTools([]string{"search"})
	if len(got) != 10 || !strings.Contains(got[0].Error(), "no MCP server is configured here") {
		t.Errorf("without servers: %v", got)
	}
}

// What must be refused quickly and in few words.
func TestHostileSources(t *testing.T) {
	repeat := func(s string) string { return strings.Repeat(s, (agent.MaxSource-100)/len(s)) }
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 40; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	var keys strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	for name, c := range map[string]struct{ src, want string }{
		"too large":      {strings.Repeat("x", agent.MaxSource+1), "at most"},
		"lists":          {"a: " + repeat("["), "levels deep"},
		"mappings":       {repeat("{a: "), "levels deep"},
		"dashes":         {repeat("- "), "levels deep"},
		"questions":      {repeat("? "), "levels deep"},
		"colons":         {repeat("a: "), "levels deep"},
		"anchors":        {repeat("&a "), "levels deep"},
		"tags":           {repeat("!t "), "levels deep"},
		"JSON lists":     {`{"a":` + repeat("["), "levels deep"},
		"JSON mappings":  {repeat(`{"a":`), "levels deep"},
		"many keys":      {keys.String(), "more than"},
		"alias bomb":     {bomb, "too large once its aliases"},
		"alias in depth": {"a: &a " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\nb: " + strings.Repeat("[", 40) + "*a" + strings.Repeat("]", 40), "levels deep"},
		"not UTF-8":      {"name: \xff", "UTF-8"},
		"indentation":    {"a: |\n" + strings.Repeat(" ", 64<<10) + "x" + strings.Repeat("\n", 64<<10), "indented by 1000 blanks or more"},
		"huge number":    {`{"name": "a", "description": "b", "x_n": 1e999999999}`, "too large or too small"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agent.Parse("", []byte(c.src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.300v", err)
			}
			if err != nil && len(err.Error()) > 20000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}
