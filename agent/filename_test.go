package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
)

func TestNameOfTheFile(t *testing.T) {
	const flat, nested = "description: D\n", "description: D\njson_schema_extra: {tools: [search]}\n"
	for _, c := range []struct{ file, src, want string }{
		{"my-helper.yaml", flat, "my-helper"},
		{"agents/my-helper.yml", nested, "my-helper"},
		{`C:\agents\my_helper.JSON`, `{"description": "D"}`, "my_helper"},
		{"my helper.yaml", flat, "my-helper"},
		{"Übersicht.yaml", flat, "übersicht"},
		{"v1..2.yaml", flat, "v1-2"},
		{"rem.v2.yaml", flat, "rem.v2"},
		{"x.yaml", "description: D\njson_schema_extra:\n", "x"},
		{"x.yaml", "name:\ndescription: D\n", "x"},
		{"x.yaml", "name: ''\ndescription: D\njson_schema_extra: {}\n", "x"},
		{"x.yaml", "short_name: short\ndescription: D\n", "short"},
		{"x.yaml", "description: D\njson_schema_extra: {fully_qualified_name: rem.agents.Q}\n", "rem-agents-q"},
		{"x.yaml", "title: A title\ndescription: D\n", "x"},
		// Extra is shared by an anchor.
		{"x.yaml", "description: D\nproperties: {a: &e {type: string}}\njson_schema_extra: *e\n", "x"},
	} {
		t.Run(c.file, func(t *testing.T) {
			d := parse(t, c.file, []byte(c.src))
			if d.Key() != c.want || compile(t, d, agent.CompileOptions{}).Name != c.want {
				t.Fatalf("%q, want %q", d.Key(), c.want)
			}
			if want := c.want == "short" || c.want == "rem-agents-q"; d.Unnamed == want {
				t.Errorf("unnamed: %t", d.Unnamed)
			}
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			yaml, err := d.MarshalYAML()
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range [][]byte{text, yaml} {
				if again := parse(t, "", text); again.Key() != c.want {
					t.Errorf("written out it is %q:\n%s", again.Key(), text)
				}
			}
		})
	}
	for _, file := range []string{"", "-", "the request's document", "notes.txt", "---.yaml", ".yaml", strings.Repeat("x", 201) + ".yaml"} {
		_, err := agent.Parse(file, []byte(flat))
		if err == nil || !strings.Contains(err.Error(), "the document has no name") {
			t.Errorf("%q: %v", file, err)
		}
	}
}
