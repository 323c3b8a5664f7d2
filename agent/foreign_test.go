package agent_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
)

// TestHostileFiles: each file is refused with its place, or read, at a bounded cost.
func TestHostileFiles(t *testing.T) {
	const agentKeys = "name: x\ndescription: d\ntools: Read\n"
	for name, c := range map[string]struct{ file, src, says string }{
		"front matter of 1 MB":            {"x.md", "---\n" + agentKeys + "hooks: " + strings.Repeat("x", 1<<20) + "\n---\nYou answer.\n", "at most 262144 are read"},
		"front matter of 200 KB":          {"x.md", "---\n" + agentKeys + "hooks: " + strings.Repeat("x", 200<<10) + "\n---\nYou answer.\n", "x.md:1:1: the front matter does not end within 64 KiB"},
		"aliases in front matter":         {"x.md", "---\n" + agentKeys + "a0: &a0 [1, 2]\n" + lines(30, "a%e: &a%e [*a%d, *a%d]") + "---\nYou answer.\n", "once its aliases are written out"},
		"deep front matter":               {"x.md", "---\n" + agentKeys + "hooks: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n---\nYou answer.\n", "nested more than 64 levels deep"},
		"an indentation of a thousand":    {"x.md", "---\n" + agentKeys + strings.Repeat(" ", 2000) + "a: b\n---\nYou answer.\n", "x.md:5:1: the line is indented"},
		"bytes that are no text":          {"x.md", "---\n" + agentKeys + "---\nYou \xff answer.\n", "x.md:6:5: the text is not valid UTF-8"},
		"aliases of a team":               {"x.yaml", "x: &x {instruction: " + strings.Repeat("x", 50_000) + "}\nagents:\n" + lines(90, "  a%d: *x"), "once its aliases are written out"},
		"a thousand agents":               {"x.yaml", "agents:\n" + lines(1000, "  a%d: {instruction: d}"), "the file has 1000 agents"},
		"a thousand unknown sub-agents":   {"x.yaml", "agents:\n  root:\n    instruction: d\n    sub_agents:\n" + lines(10000, "      - unknown%d"), `"unknown9"`},
		"an answer that configures tools": {"x.yaml", "instructions: d\noutput_schema: {type: object, tools: [save_agent], override_model: x}\n", "structured_output needs properties"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := agent.ParseFile(c.file, []byte(c.src))
		runtime.ReadMemStats(&after)
		var problems agent.Problems
		if !errors.As(err, &problems) || !strings.Contains(problems.Error(), c.says) {
			t.Errorf("%s: %.300v, want %q", name, err, c.says)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 96 {
			t.Errorf("%s: reading %d bytes took %d MB", name, len(c.src), took)
		}
	}
}

// TestManyTools: thousands of tools are one warning, and each tool of a server is there once.
func TestManyTools(t *testing.T) {
	var tools []string
	for i := range 5000 {
		tools = append(tools, fmt.Sprintf("Tool%d, mcp__crm__t%d", i, i%100))
	}
	docs, err := agent.ParseFile("x.md", []byte("---\nname: x\ndescription: d\ntools: "+strings.Join(tools, ", ")[:60_000]+"\n---\nYou answer.\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := docs[0]; len(d.Tools) != 100 || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Message, "tools are left out: Tool0, ") {
		t.Errorf("%d tools, warnings %v", len(docs[0].Tools), docs[0].Warnings)
	}
}

// TestForeignNames: a file without a name gives its own, and the root of a team has the
// name of the file.
func TestForeignNames(t *testing.T) {
	for file, c := range map[string]struct{ src, want string }{
		"a/Sales Bot.yaml": {"model: openai:gpt-4.1\ninstructions: You sell.\n", "sales-bot"},
		"team.yaml":        {"agents: {helper: {instruction: d}, root: {instruction: d, sub_agents: [helper]}}", "team helper"},
		"helper.yml":       {"agents: {helper: {instruction: d}, root: {instruction: d}}", "helper-root helper"},
		"-.yaml":           {"agents: {root: {instruction: d}}", "root"},
		"x.json":           {`{"object": "assistant", "name": "", "instructions": "d", "model": "gpt-4o"}`, "x"},
	} {
		docs, err := agent.ParseFile(file, []byte(c.src))
		var names []string
		for _, d := range docs {
			names = append(names, d.Key())
		}
		if got := strings.Join(names, " "); err != nil || got != c.want {
			t.Errorf("%s: %q, want %q; %v", file, got, c.want, err)
		}
	}
}

// TestOwnDocumentsWin: a key that only p8 has makes a document p8's.
func TestOwnDocumentsWin(t *testing.T) {
	for _, src := range []string{
		"name: x\ndescription: d\ninstructions: i\ntype: object\n",
		"name: x\ndescription: d\ninstructions: i\nlimits: {request_limit: 1}\n",
		"name: x\ndescription: d\nagents: [y]\n",
		"name: x\ndescription: d\nmodels: {}\nagents: []\n",
		"name: x\ndescription: d\nsystem_prompt: s\nmodel: openai:x\n",
		`{"name": "x", "description": "d", "object": "assistants"}`,
	} {
		docs, err := agent.ParseFile("x.yaml", []byte(src))
		if err != nil || docs[0].Format != "" {
			t.Errorf("%s\n%v", src, err)
		}
	}
}
