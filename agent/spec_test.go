package agent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/testkit/golden"
)

// The file in the repository is what the code says.
func TestSpec(t *testing.T) {
	golden.Compare(t, "document.schema.json", string(agent.Spec()))
}

func compileSpec(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(agent.Spec()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("spec.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("spec.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSpecAcceptsEveryDocument(t *testing.T) {
	spec := compileSpec(t)
	for _, file := range documents(t) {
		t.Run(file, func(t *testing.T) {
			d := parse(t, file, read(t, file))
			if len(d.Warnings) > 0 {
				t.Errorf("%s", d.Warnings.Detail())
			}
			if err := spec.Validate(asValue(t, d)); err != nil {
				t.Errorf("%v", err)
			}
		})
	}
}

func asValue(t *testing.T, d *agent.Document) any {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What Parse refuses in a document that can be read at all, an editor marks.
func TestSpecRefuses(t *testing.T) {
	spec := compileSpec(t)
	for _, src := range []string{
		`{"name": "x"}`,
		`{"description": "d", "name": "x", "type": "array"}`,
		`{"description": "d", "name": "x", "temperature": 3}`,
		`{"description": "d", "name": "x", "tools": "search"}`,
		`{"description": "d", "name": "x", "tools": [{"server": "rem"}]}`,
		`{"description": "d", "name": "x", "tools": [{"name": "a", "approval": "sometimes"}]}`,
		`{"description": "d", "name": "x", "tools": [{"name": "a", "approval": true}]}`,
		`{"description": "d", "name": "x", "tools": [{"name": "a", "approval": []}]}`,
		`{"description": "d", "name": "x", "tools": [{"name": "a", "approval": [{}]}]}`,
		`{"description": "d", "name": "x", "tools": [{"name": "a", "approval": [{"arguments": {"to": 3}}]}]}`,
		`{"description": "d", "name": "x", "tools": [{"name": "a", "if_interrupted": "retry"}]}`,
		`{"description": "d", "name": "x", "tools": [{"name": "a", "if_interrupted": true}]}`,
		`{"description": "d", "name": "x", "limits": {"request_limit": 0}}`,
		`{"description": "d", "name": "x", "history": {"tools": "play"}}`,
		`{"description": "d", "name": "x", "structured_output": true}`,
		`{"description": "d", "json_schema_extra": {"name": "x", "structured_output": true}, "properties": {}}`,
		`{"description": "d", "name": "x", "properties": {"a": "string"}}`,
		`{"description": "d", "name": "x", "properties": {"a": {"type": "strng"}}}`,
		`{"description": "d", "name": "x", "properties": {"a": {"type": "string", "required": true}}}`,
	} {
		_, err := agent.Parse("", []byte(src))
		var problems agent.Problems
		if !errors.As(err, &problems) {
			t.Errorf("Parse accepts %s", src)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(src))
		if err != nil {
			t.Fatal(err)
		}
		if spec.Validate(v) == nil {
			t.Errorf("the specification accepts %s", src)
		}
	}
}

// Editors show a description for every field.
func TestSpecDescribesEveryField(t *testing.T) {
	var spec struct {
		Properties map[string]struct{ Description string }
		Defs       map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(agent.Spec(), &spec); err != nil {
		t.Fatal(err)
	}
	for key, p := range spec.Properties {
		if p.Description == "" {
			t.Errorf("%s has no description", key)
		}
	}
	for _, name := range []string{"config", "tool", "resource", "agent", "provider_config", "limits", "history", "approval_rule"} {
		if len(spec.Defs[name].Properties) == 0 {
			t.Errorf("$defs has no %s", name)
		}
		for key, p := range spec.Defs[name].Properties {
			if p.Description == "" {
				t.Errorf("%s of %s has no description", key, name)
			}
		}
	}
	if name := filepath.Base("document.schema.json"); !strings.Contains(string(read(t, "../agents/general.yaml")), name) {
		t.Error("the built-in documents do not point editors to " + name)
	}
}
