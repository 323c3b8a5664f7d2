package tool_test

import (
	"context"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/tool"
)

// resumable is a tool that continues where it stopped.
type resumable struct{ tool.Tool }

func (resumable) Resumes() {}

// The document decides about an interrupted call; without a rule, the tool's annotations
// do.
func TestIfInterrupted(t *testing.T) {
	annotated := func(name string, a tool.Annotations) tool.Tool {
		made, err := tool.Annotate(named(t, name, "here"), a)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	server := &shelf{tools: []tool.Tool{
		named(t, "acts", "there"), annotated("reads", tool.Annotations{ReadOnly: true}),
		annotated("idempotent", tool.Annotations{Idempotent: true}), annotated("destroys", tool.Annotations{Destructive: true}), annotated("keyed", tool.Annotations{Keyed: true}),
		resumable{named(t, "resumes", "there")},
	}}
	for _, dialect := range []string{"flat", "nested"} {
		for _, policy := range []string{"", "unknown", "ask", "repeat"} {
			lines := "name: a\ndescription: d\n"
			indent := ""
			if dialect == "nested" {
				lines, indent = "description: d\ntype: object\njson_schema_extra:\n  name: a\n", "  "
			}
			lines += indent + "tools:\n"
			for _, name := range []string{"acts", "reads", "idempotent", "destroys", "keyed", "resumes"} {
				lines += indent + "  - {name: " + name + ", server: s"
				if policy != "" {
					lines += ", if_interrupted: " + policy
				}
				lines += ", approval: always, description: note}\n"
			}
			d, err := agent.Parse("a.yaml", []byte(lines))
			if err != nil {
				t.Fatal(err)
			}
			a, err := agent.Compile(d)
			if err != nil {
				t.Fatal(err)
			}
			got := box(t, shelves{"s": server}).Resolve(t.Context(), a)
			want := map[string]string{"acts": policy, "reads": policy, "idempotent": policy, "destroys": policy, "keyed": policy, "resumes": agent.InterruptedRepeat}
			if policy == "" {
				want = map[string]string{"acts": agent.InterruptedUnknown, "destroys": agent.InterruptedUnknown, "reads": agent.InterruptedRepeat, "idempotent": agent.InterruptedRepeat, "keyed": agent.InterruptedRepeat, "resumes": agent.InterruptedRepeat}
			}
			if len(got.Tools) != len(want) {
				t.Fatalf("resolved %s", toolNames(got.Tools))
			}
			for _, made := range got.Tools {
				if g := tool.IfInterrupted(made); g != want[made.Spec().Name] {
					t.Errorf("%s, %q: %s is %q", dialect, policy, made.Spec().Name, g)
				}
			}
		}
	}
}

// keyed is an asker with the key of its call.
type keyed struct{ tool.Asker }

func (keyed) Key() string { return "k" }

func TestKeyFrom(t *testing.T) {
	for want, ctx := range map[string]context.Context{
		"": tool.WithAsker(t.Context(), nil), "k": tool.WithAsker(t.Context(), keyed{}),
	} {
		if got := tool.KeyFrom(ctx); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := tool.KeyFrom(t.Context()); got != "" {
		t.Errorf("a call outside of a run has the key %q", got)
	}
}
