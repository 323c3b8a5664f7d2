package agent_test

import (
	"errors"
	"testing"

	"github.com/p8-org/p8/agent"
)

func FuzzClaudeCode(f *testing.F)      { fuzzFile(f, "fuzz.md", "claude/*", "mistakes/*.md", "ordinary/*") }
func FuzzDockerAgent(f *testing.F)     { fuzzFile(f, "fuzz.yaml", "docker/*", "mistakes/*.yaml") }
func FuzzPydanticAI(f *testing.F)      { fuzzFile(f, "fuzz.yaml", "pydantic/*", "mistakes/*.yaml") }
func FuzzOpenAIAssistant(f *testing.F) { fuzzFile(f, "fuzz.json", "openai/*", "mistakes/*.json") }

// fuzzFile: no file panics; one that is read becomes documents that are read again as the
// same.
func fuzzFile(f *testing.F, name string, patterns ...string) {
	for _, pattern := range patterns {
		for _, file := range foreignFiles(f, pattern) {
			f.Add(read(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		docs, err := agent.ParseFile(name, src)
		var problems agent.Problems
		if err != nil && (!errors.As(err, &problems) || problems.Err() == nil || problems.Detail() == "") {
			t.Fatalf("the error is %T %v", err, err)
		}
		for _, d := range docs {
			if _, err := agent.Compile(d); err != nil {
				t.Fatal(err)
			}
			if d.Format != "" {
				converted(t, d)
			}
		}
	})
}
