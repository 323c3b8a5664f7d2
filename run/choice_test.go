package run_test

import (
	"slices"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
)

// TestToolChoice: a call is required of the first response alone; what the model is not
// offered, it is never offered.
func TestToolChoice(t *testing.T) {
	for _, tt := range []struct {
		name   string
		choice run.ToolChoice
		first  string // what the first request says of the choice
		tools  []string
	}{
		{"auto", run.ToolChoice{}, " ", []string{"echo", "other"}},
		{"required", run.ToolChoice{Mode: run.ChoiceRequired}, "required ", []string{"echo", "other"}},
		{"by name", run.ToolChoice{Mode: run.ChoiceRequired, Name: "echo"}, "required echo", []string{"echo", "other"}},
		{"allowed", run.ToolChoice{Allowed: []string{"echo"}}, " ", []string{"echo"}},
		{"one of the allowed", run.ToolChoice{Mode: run.ChoiceRequired, Allowed: []string{"echo"}}, "required ", []string{"echo"}},
		{"none", run.ToolChoice{Mode: run.ChoiceNone}, " ", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := scripted.New(scripted.Call("echo", `{"text":"x"}`), scripted.Text("done"))
			o := options(t, talker, m, echo(t, "echo"), echo(t, "other"))
			o.ToolChoice = tt.choice
			if _, err := collect(run.Stream(t.Context(), o)); err != nil {
				t.Fatal(err)
			}
			for i, req := range m.Requests() {
				var names []string
				for _, spec := range req.Tools {
					names = append(names, spec.Name)
				}
				want := tt.first
				if i > 0 {
					want = " "
				}
				if got := req.ToolChoice + " " + req.ToolName; got != want || !slices.Equal(names, tt.tools) {
					t.Errorf("request %d: %q %v, want %q %v", i+1, got, names, want, tt.tools)
				}
			}
			if len(o.Tools) != 2 {
				t.Error("the caller's tools were changed")
			}
		})
	}
}

// TestToolChoiceOfStructured: the tool of a structured answer is offered in any case.
func TestToolChoiceOfStructured(t *testing.T) {
	m := scripted.New(scripted.Call(llm.OutputTool, right))
	o := options(t, answerer, m, echo(t, "echo"))
	o.ToolChoice, o.StructuredMode = run.ToolChoice{Mode: run.ChoiceNone}, run.ModeTool
	if got, err := run.As[weather](run.Stream(t.Context(), o)); err != nil || got.City != "Oslo" {
		t.Fatal(got, err)
	}
	if tools := m.Requests()[0].Tools; len(tools) != 1 || tools[0].Name != llm.OutputTool {
		t.Error(tools)
	}
}
