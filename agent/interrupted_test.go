package agent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
)

// if_interrupted is kept when a document is written and read again, in both dialects.
func TestIfInterruptedRoundTrip(t *testing.T) {
	want := []agent.ToolRef{
		{Name: "a", IfInterrupted: agent.InterruptedUnknown},
		{Name: "b", Server: "s", IfInterrupted: agent.InterruptedAsk},
		{Name: "c", IfInterrupted: agent.InterruptedRepeat},
		{Name: "d"},
	}
	for _, dialect := range []agent.Dialect{agent.Flat, agent.Nested} {
		built, err := agent.New(agent.Fields{Dialect: dialect, Name: "x", Description: "d", Tools: want})
		if err != nil {
			t.Fatal(err)
		}
		yaml, err := built.MarshalYAML()
		if err != nil {
			t.Fatal(err)
		}
		read := parse(t, "x.yaml", yaml)
		if diff := cmp.Diff(want, read.Tools); diff != "" || read.Dialect != dialect || len(read.Warnings) > 0 {
			t.Errorf("%s: %v\n%s", dialect, read.Warnings, diff)
		}
	}
}

// A wrong if_interrupted is refused where it is written, and one that means nothing
// is warned about.
func TestIfInterruptedProblems(t *testing.T) {
	_, err := agent.Parse("x.yaml", []byte("name: x\ndescription: d\ntools:\n  - name: a\n    if_interrupted: asks\n"))
	var problems agent.Problems
	if !errors.As(err, &problems) || problems[0].Line != 5 || problems[0].Column != 21 || !strings.Contains(problems[0].Error(), "did you mean ask?") {
		t.Errorf("got %v", err)
	}
	d := parse(t, "x.yaml", []byte("name: x\ndescription: d\ntools:\n  - {name: ask_agent, if_interrupted: ask}\n"))
	if len(d.Warnings) != 1 || d.Warnings[0].Line != 4 || !strings.Contains(d.Warnings[0].Error(), "is resumed") {
		t.Errorf("got %v", d.Warnings)
	}
}
