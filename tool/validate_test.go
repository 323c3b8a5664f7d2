package tool_test

import (
	"encoding/json"
	"errors"
	"testing"

	"p8/tool"
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
