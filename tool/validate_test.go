package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/schema"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

func TestValidateAnswer(t *testing.T) {
	const schema = `{"type":"object","properties":{"user_id":{"type":"string"},"n":{"type":"integer","minimum":1}},"required":["user_id"]}`
	for content, want := range map[string]string{
		`{"user_id":"ada","n":2}`:    "",
		`{"user_id":"ada","n":null}`: "",
		`{}`:                         "the answer does not fit the question's schema: missing property 'user_id'",
		``:                           "the answer does not fit the question's schema: missing property 'user_id'",
		`{"user_id":"a","n":0}`:      "the answer does not fit the question's schema: n: minimum: got 0, want 1",
		`[]`:                         "the answer does not fit the question's schema: got array, want object",
		`{`:                          "the answer is not valid JSON: it ends too early",
		`{"n":1e999}`:                "the answer has a number that is too large",
	} {
		err := tool.ValidateAnswer(t.Context(), json.RawMessage(schema), json.RawMessage(content))
		var known *tool.Error
		switch {
		case want == "" && err != nil, want != "" && (!errors.As(err, &known) || known.Message != want):
			t.Errorf("%s: got %v, want %s", content, err, want)
		}
	}
	for _, bad := range []string{`{"type":"string"}`, `[]`, `{"type":"object","properties":{"a":{"$ref":"https://example.com/x"}}}`} {
		if tool.CheckSchema(json.RawMessage(bad)) == nil || tool.ValidateAnswer(t.Context(), json.RawMessage(bad), nil) == nil {
			t.Errorf("%s passes", bad)
		}
	}
}

// TestHostileSchemas: no tool, question or answer may have a schema that stands for 2^40,
// and arguments that need too many steps are refused with an error for the model.
func TestHostileSchemas(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&b, `"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	deep := json.RawMessage(b.String() + `"d40":{"type":"string"}}}`)
	var excess *schema.Excess
	if _, err := tool.NewBase(llm.ToolSpec{Name: "t", Parameters: deep}); !errors.As(err, &excess) {
		t.Errorf("a tool: %v", err)
	}
	if err := tool.CheckSchema(deep); !errors.As(err, &excess) {
		t.Errorf("a question: %v", err)
	}
	if err := tool.ValidateAnswer(t.Context(), deep, []byte(`{"x":1}`)); !errors.As(err, &excess) {
		t.Errorf("an answer: %v", err)
	}
	base, err := tool.NewBase(llm.ToolSpec{Name: "t", Parameters: []byte(`{"type":"object","properties":{"x":{"items":{"pattern":"^(a?b?){400}$"}}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	args := []byte(`{"x":["` + strings.Repeat("ab", 30_000) + `"]}`)
	var said *tool.Error
	if err := base.Validate(t.Context(), args); !errors.As(err, &said) || !strings.Contains(said.Message, "too large to check") {
		t.Errorf("arguments: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := base.Validate(gone, []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller left: %v", err)
	}
}
