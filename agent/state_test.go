package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
)

const shared = `
state:
  properties:
    title: {type: string}
    steps: {type: array, items: {$ref: "#/$defs/step"}}
  required: [title]
  $defs:
    step: {type: string, minLength: 2}
predict_state: [steps, {state_key: title, tool: name_it, tool_argument: name}]
`

func TestState(t *testing.T) {
	for name, src := range map[string]string{
		"flat":   "name: x\ndescription: d\ntools: [name_it]" + shared,
		"nested": "description: d\njson_schema_extra:\n  name: x\n  tools: [name_it]" + strings.ReplaceAll(shared, "\n", "\n  ") + "\n",
		"JSON":   `{"name":"x","description":"d","tools":["name_it"],"state":{"properties":{"title":{"type":"string"},"steps":{"type":"array","items":{"$ref":"#/$defs/step"}}},"required":["title"],"$defs":{"step":{"type":"string","minLength":2}}},"predict_state":["steps",{"state_key":"title","tool":"name_it","tool_argument":"name"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			d, err := agent.Parse("x.yaml", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Warnings) > 0 {
				t.Error(d.Warnings.Detail())
			}
			a, err := agent.Compile(d)
			if err != nil || a.State == nil {
				t.Fatal(err, a.State)
			}
			if strings.Contains(string(a.State.Arguments), "required") || !strings.Contains(string(a.State.Arguments), "$defs") {
				t.Errorf("arguments %s", a.State.Arguments)
			}
			want := []agent.Prediction{{"steps", agent.UpdateState, "steps"}, {"title", "name_it", "name"}}
			if !slices.Equal(a.State.Predictions, want) {
				t.Errorf("%+v", a.State.Predictions)
			}
			for raw, wrong := range map[string]string{
				`{"title":"t","steps":["aa"]}`: "", `{}`: "title", `{"title":"t","steps":["a"]}`: "/steps/0", `[]`: "/",
			} {
				problems, err := a.State.Validate(context.Background(), []byte(raw))
				if got := strings.Join(problems, "\n"); err != nil || !strings.Contains(got, wrong) || (got == "") != (wrong == "") {
					t.Errorf("%s: %q, %v", raw, got, err)
				}
			}
		})
	}
}
