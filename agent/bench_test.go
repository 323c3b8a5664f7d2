package agent_test

import (
	"testing"

	"github.com/p8-org/p8/agent"
)

func BenchmarkParse(b *testing.B) {
	for _, file := range []string{"research-agent.yaml", "query_agent.json"} {
		b.Run(file, func(b *testing.B) {
			src := read(b, "../testdata/agents/"+file)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := agent.Parse(file, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Building an agent from a parsed document: below 3 µs and 2 KB.
func BenchmarkCompile(b *testing.B) {
	d := parse(b, "", read(b, "../testdata/agents/research-agent.yaml"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agent.Compile(d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSystemPrompt(b *testing.B) {
	a := compile(b, parse(b, "", read(b, "../testdata/agents/research-agent.yaml")), agent.CompileOptions{})
	for name, userContext := range map[string]string{"nobody": "", "user": "Date: 2026-02-21\nTime: 14:30:00\nUser: Ada"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = a.SystemPrompt(userContext)
			}
		})
	}
}

func BenchmarkValidateOutput(b *testing.B) {
	a := compile(b, parse(b, "", []byte(strict)), agent.CompileOptions{})
	raw := []byte(`{"answer": "x", "confidence": 0.5, "owner": {"name": "Ada"}, "a/b~c": [{"k": 1}, {"k": 2}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if failures, err := a.ValidateOutput(b.Context(), raw); err != nil || failures != nil {
			b.Fatal(failures)
		}
	}
}
