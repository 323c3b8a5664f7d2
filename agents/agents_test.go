package agents_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/agents"
)

func compile(t *testing.T, name string) *agent.Agent {
	t.Helper()
	src, err := fs.ReadFile(agents.Files(), name+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := agent.Parse(name+".yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Warnings) > 0 {
		t.Errorf("%s", d.Warnings.Detail())
	}
	a, err := agent.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != name {
		t.Errorf("%s.yaml is the agent %s", name, a.Name)
	}
	return a
}

func TestBuiltIns(t *testing.T) {
	files, err := fs.Glob(agents.Files(), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	untested := map[string]bool{}
	for _, name := range files {
		untested[name] = true
	}
	judging := agent.Limits{Requests: 4, TotalTokens: 100000}
	for _, c := range []struct {
		name       string
		dialect    agent.Dialect
		structured bool
		tools      []string
		limits     agent.Limits
	}{
		{"general", agent.Flat, false, []string{"search", "action", "ask_agent", "get_user_profile", "update_user_metadata", "remind_me"}, agent.Limits{}},
		{"sample-agent", agent.Flat, false, []string{"search", "action", "ask_agent"}, agent.Limits{Requests: 10, TotalTokens: 50000}},
		{"default-agent", agent.Nested, false, []string{"search", "action"}, agent.Limits{}},
		{"dreaming-agent", agent.Flat, true, []string{"search"}, agent.Limits{Requests: 15, TotalTokens: 115000}},
		{"user-model", agent.Flat, true, nil, agent.Limits{Requests: 3, TotalTokens: 60000}},
		{"moment-builder", agent.Flat, true, nil, agent.Limits{Requests: 3, TotalTokens: 60000}},
		{"title-writer", agent.Flat, true, nil, agent.Limits{Requests: 2, TotalTokens: 10000}},
		{"rem-query-agent", agent.Flat, true, nil, agent.Limits{Requests: 3, TotalTokens: 40000}},
		{"accuracy", agent.Flat, true, nil, judging},
		{"faithfulness", agent.Flat, true, nil, judging},
		{"lookup-correctness", agent.Flat, true, nil, judging},
		{"search-correctness", agent.Flat, true, nil, judging},
		{"retrieval-precision", agent.Flat, true, nil, judging},
		{"retrieval-recall", agent.Flat, true, nil, judging},
		{"tone", agent.Flat, true, nil, judging},
		{"simulator", agent.Flat, false, nil, agent.Limits{}},
		{"rem-simulator", agent.Flat, false, nil, agent.Limits{}},
	} {
		delete(untested, c.name+".yaml")
		t.Run(c.name, func(t *testing.T) {
			a := compile(t, c.name)
			var tools []string
			for _, tool := range a.Tools {
				tools = append(tools, tool.Name)
			}
			if a.Document.Dialect != c.dialect || a.Structured != c.structured || !slices.Equal(tools, c.tools) || a.Limits != c.limits {
				t.Errorf("got %s, structured %t, %v, %+v", a.Document.Dialect, a.Structured, tools, a.Limits)
			}
		})
	}
	if len(untested) > 0 {
		t.Errorf("not in the table: %v", untested)
	}
}

func TestDreamingAgent(t *testing.T) {
	a := compile(t, "dreaming-agent")
	if a.ChainedTool != "save_moments" || a.Settings.Temperature == nil || *a.Settings.Temperature != 0.7 ||
		a.Document.RoutingEnabled == nil || *a.Document.RoutingEnabled || a.Document.ObservationMode != "disabled" {
		t.Errorf("got %+v", a)
	}
	valid := `{"dream_moments": [{"name": "migration-worries", "summary": "s", "topic_tags": [], "emotion_tags": [],
		"affinity_fragments": [{"target": "handbook", "relation": "builds_on", "weight": 0.8, "reason": "r"}]}],
		"search_questions": [], "cross_session_themes": []}`
	if failures := failuresOf(t, a, []byte(valid)); failures != nil {
		t.Errorf("got %v", failures)
	}
	wrong := `{"dream_moments": [{"name": "Bad Name", "affinity_fragments": [{"weight": 2}]}]}`
	if failures := failuresOf(t, a, []byte(wrong)); len(failures) != 5 {
		t.Errorf("got %q", failures)
	}
}

func TestUserModel(t *testing.T) {
	a := compile(t, "user-model")
	if failures := failuresOf(t, a, []byte(`{"content": "Ann builds boats.", "interests": ["boats"], "preferred_topics": []}`)); failures != nil {
		t.Errorf("got %v", failures)
	}
	long := strings.Repeat("x", 601)
	if failures := failuresOf(t, a, []byte(`{"content": "`+long+`", "interests": "boats"}`)); len(failures) != 3 {
		t.Errorf("got %q", failures)
	}
}

func failuresOf(t *testing.T, a *agent.Agent, raw []byte) []string {
	t.Helper()
	failures, err := a.ValidateOutput(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	return failures
}
