package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string
	}{
		{"name: general", []string{"general"}},
		{"short_name: query-agent", []string{"query-agent"}},
		{"fully_qualified_name: rem.agents.QueryAgent", []string{"rem-agents-query-agent", "rem.agents.QueryAgent"}},
		{"name: Query Agent\nshort_name: query-agent\nfully_qualified_name: rem.agents.QueryAgent",
			[]string{"query-agent", "rem-agents-query-agent", "Query Agent", "rem.agents.QueryAgent"}},
		{"name: CV Parser", []string{"cv-parser", "CV Parser"}},
		{"name: agent_one", []string{"agent_one", "agent-one"}},
		{"name: größe", []string{"größe"}},
	} {
		d := parse(t, "", []byte("description: d\n"+c.src))
		if diff := cmp.Diff(c.want, d.Names()); diff != "" || d.Key() != c.want[0] {
			t.Errorf("%s: key %s, names (-want +got):\n%s", c.src, d.Key(), diff)
		}
		nested := parse(t, "", []byte("description: d\njson_schema_extra:\n  "+strings.ReplaceAll(c.src, "\n", "\n  ")))
		if diff := cmp.Diff(c.want, nested.Names()); diff != "" {
			t.Errorf("nested %s:\n%s", c.src, diff)
		}
	}
}

func TestKebab(t *testing.T) {
	for name, want := range map[string]string{
		"rem.agents.QueryAgent":            "rem-agents-query-agent",
		"rem.evaluators.AccuracyEvaluator": "rem-evaluators-accuracy-evaluator",
		"HTTPServer":                       "http-server",
		"CV Parser":                        "cv-parser",
		"already-kebab":                    "already-kebab",
		"snake_case":                       "snake-case",
		"v2Agent":                          "v2-agent",
		"..":                               "",
		"Ünïcode.ÄgentName":                "ünïcode-ägent-name",
	} {
		if got := agent.Kebab(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// Every field that the sources have, in both places.
func TestFields(t *testing.T) {
	config := `
name: x
short_name: xs
fully_qualified_name: a.b.X
kind: evaluator
version: 1.2.3
short_description: short
extension: ext
system_prompt: sys
structured_output: true
chained_tool: save
tools:
  - search
  - {name: remote, mcp_server: crm, description: note, uri: "rem://x/{id}"}
resources:
  - {uri_pattern: "rem://.*", mcp_server: rem}
agents: [worker, {name: other, description: for the rest}]
model: openai:gpt-4.1
override_model: openai:o3
temperature: 0
override_temperature: 0.5
max_tokens: 500
max_iterations: 7
override_max_iterations: 5
limits: {request_limit: null, tool_calls_limit: 2, input_tokens_limit: 3, output_tokens_limit: 4, total_tokens_limit: 5}
history: {tools: replay}
child_text: keep
routing_enabled: false
routing_max_turns: 9
routing_model: openai:gpt-4.1-mini
routing: {examples: ["What do I owe?"], keywords: [invoice, due date]}
observation_mode: disabled
tags: [a, b]
labels: [l]
category: c
author: me
evaluation_type: accuracy
evaluator_type: llm
evaluation_weights: {a: 0.5}
phoenix_config: {evaluations: []}
pass_mark: 0.5
provider_configs: [{provider_name: openai, model_name: m}]
embedding_fields: [a]
default_search_table: resources
has_embeddings: true
`
	const schema = "title: T\ndescription: d\nproperties: {a: {type: number}}\n"
	zero, half, yes, no := 0.0, 0.5, true, false
	want := agent.Fields{
		Name: "x", ShortName: "xs", FullyQualifiedName: "a.b.X", Title: "T", Kind: "evaluator", Version: "1.2.3",
		ShortDescription: "short", Description: "d", Extension: "ext", SystemPrompt: "sys",
		Schema:           []byte(`{"type":"object","title":"T","properties":{"a":{"type":"number"}}}`),
		StructuredOutput: true, ChainedTool: "save",
		Tools:     []agent.ToolRef{{Name: "search"}, {Name: "remote", Server: "crm", Description: "note", URI: "rem://x/{id}"}},
		Resources: []agent.Resource{{URIPattern: "rem://.*", Server: "rem"}},
		Agents:    []agent.AgentRef{{Name: "worker"}, {Name: "other", Description: "for the rest"}},
		Model:     "openai:gpt-4.1", OverrideModel: "openai:o3", Temperature: &zero, OverrideTemperature: &half,
		MaxTokens: 500, MaxIterations: 7, OverrideMaxIterations: 5,
		Limits:  agent.Limits{ToolCalls: 2, InputTokens: 3, OutputTokens: 4, TotalTokens: 5},
		History: agent.History{Tools: "replay"}, ChildText: "keep",
		RoutingEnabled: &no, RoutingMaxTurns: 9, RoutingModel: "openai:gpt-4.1-mini", ObservationMode: "disabled",
		Routing: &agent.Routing{Examples: []string{"What do I owe?"}, Keywords: []string{"invoice", "due date"}},
		Tags:    []string{"a", "b"}, Labels: []string{"l"}, Category: "c", Author: "me",
		EvaluationType: "accuracy", EvaluatorType: "llm", EvaluationWeights: []byte(`{"a":0.5}`), PhoenixConfig: []byte(`{"evaluations":[]}`), PassMark: []byte(`0.5`),
		ProviderConfigs: []agent.ProviderConfig{{ProviderName: "openai", ModelName: "m"}}, EmbeddingFields: []string{"a"},
		DefaultSearchTable: "resources", HasEmbeddings: &yes,
	}
	flat := parse(t, "", []byte(schema+config))
	if diff := cmp.Diff(want, flat.Fields); diff != "" || len(flat.Warnings) > 0 {
		t.Errorf("flat (-want +got):\n%s%s", diff, flat.Warnings.Detail())
	}
	want.Dialect = agent.Nested
	nested := parse(t, "", []byte(schema+"json_schema_extra:"+strings.ReplaceAll(config, "\n", "\n  ")))
	if diff := cmp.Diff(want, nested.Fields); diff != "" || len(nested.Warnings) > 0 {
		t.Errorf("nested (-want +got):\n%s%s", diff, nested.Warnings.Detail())
	}
	// REM's evaluators have some of it beside json_schema_extra.
	mixed := parse(t, "", []byte(schema+config+"json_schema_extra: {kind: evaluator, name: x}"))
	if diff := cmp.Diff(want, mixed.Fields); diff != "" || len(mixed.Warnings) > 0 {
		t.Errorf("mixed (-want +got):\n%s%s", diff, mixed.Warnings.Detail())
	}
	for dialect, want := range map[agent.Dialect]agent.Fields{agent.Flat: flat.Fields, agent.Nested: nested.Fields} {
		built, err := agent.New(want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, built.Fields); diff != "" {
			t.Errorf("%s, built from its own fields (-want +got):\n%s", dialect, diff)
		}
	}
}

func TestLegacyResourcesBecomeTools(t *testing.T) {
	d := parse(t, "", []byte(`
name: x
description: d
tools: [search]
resources:
  - {name: User Profile, description: Who the user is}
  - {name: Search}
  - {uri: "rem://status", name: status}
`))
	want := []agent.ToolRef{{Name: "search"}, {Name: "user_profile", Description: "Who the user is"}}
	if diff := cmp.Diff(want, d.Tools); diff != "" {
		t.Error(diff)
	}
	if len(d.Resources) != 1 || d.Resources[0].URI != "rem://status" {
		t.Errorf("got resources %v", d.Resources)
	}
}

func TestPolicies(t *testing.T) {
	for _, c := range []struct{ src, tools, child string }{
		{"name: x", agent.HistorySkip, agent.ChildKeep},
		{"json_schema_extra: {name: x}", agent.HistoryReplay, agent.ChildOnce},
		{"name: x\nhistory: {tools: replay}\nchild_text: replace", agent.HistoryReplay, agent.ChildReplace},
		{"json_schema_extra: {name: x, history: {tools: skip}, child_text: keep}", agent.HistorySkip, agent.ChildKeep},
	} {
		a := compile(t, parse(t, "", []byte("description: d\n"+c.src)), agent.CompileOptions{})
		if a.HistoryTools != c.tools || a.ChildText != c.child {
			t.Errorf("%s: got %s and %s", c.src, a.HistoryTools, a.ChildText)
		}
	}
}

func TestSummary(t *testing.T) {
	d := parse(t, "", []byte("name: x\ndescription: |\n  "+strings.Repeat("long\n  ", 100)))
	if s := d.Summary(); len([]rune(s)) != 200 || strings.Contains(s, "\n") {
		t.Errorf("got %q", s)
	}
}
