package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/store"
)

type agentSaved struct {
	Status, Name, Version, Error string
	Created                      *bool
	Warnings, Problems           []string
	ActionEvent                  bool   `json:"_action_event"`
	ActionType                   string `json:"action_type"`
}

func TestSaveAgent(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	var got agentSaved
	res := k.ok(t, ctx, "save_agent", `{"name":"tea-expert","description":"You know tea.","properties":{"zeal":{"type":"string"},"aroma":{"type":"string"}},
		"required":["zeal"],"tools":["search",{"name":"action","description":"once"}],"tags":["tea"]}`, &got)
	if got.Status != "success" || got.Name != "tea-expert" || got.Version != "1.0.0" || !*got.Created || !got.ActionEvent || got.ActionType != "agent_saved" ||
		res.Action.ActionType != "agent_saved" || string(res.Action.Payload) != `{"name":"tea-expert","version":"1.0.0","created":true}` {
		t.Errorf("%s, %+v", res.Content, res.Action)
	}
	a, err := k.Documents.Agent(ctx, "tea-expert")
	must(t, err)
	if len(a.Tools) != 2 || strings.Index(a.Prompt, "zeal") > strings.Index(a.Prompt, "aroma") {
		t.Errorf("%+v\n%s", a.Tools, a.Prompt)
	}
	row, err := k.Store.Schema(ctx, "tea-expert")
	must(t, err)
	if row.UserID != "ann" || row.Origin != catalog.Person {
		t.Errorf("%+v", row)
	}
	if has, err := k.Documents.Has(as(t, "bob"), "tea-expert"); has || err != nil {
		t.Errorf("bob has it: %v, %v", has, err)
	}

	// A name that is taken, by a row or by a built-in document.
	const yaml = `"schema_yaml":"type: object\nname: %\nversion: 2.0.0\ndescription: You brew.\ntoolz: []\n"`
	for _, name := range []string{"tea-expert", "general"} {
		args := strings.ReplaceAll(yaml, "%", name)
		res, err := k.use(t, ctx, "save_agent", `{`+args+`}`)
		if err != nil || !res.Failed || !strings.Contains(res.Content, `there is an agent \"`+name+`\" already; choose another name, or set overwrite`) || res.Action.ActionType != "agent_save_error" {
			t.Errorf("%s: %v, %s", name, err, res.Content)
		}
		k.ok(t, ctx, "save_agent", `{`+args+`,"overwrite":true}`, &got)
		if *got.Created || got.Version != "2.0.0" || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "toolz") {
			t.Errorf("%+v", got)
		}
	}
	if a, err := k.Documents.Agent(as(t, "bob"), "general"); err != nil || a.Document.Version == "2.0.0" {
		t.Errorf("bob's general: %v", err)
	}

	res = k.ok(t, ctx, "save_agent", `{}`, &got)
	if res.Content != `{"status":"pending","_action_event":true,"action_type":"trigger_save"}` || res.Action.ActionType != "trigger_save" || res.Action.Payload != nil {
		t.Errorf("%s, %+v", res.Content, res.Action)
	}
}

// An agent of an anonymous caller is shared: it may be new, or replace another one like it,
// but no document that p8 or its operator provides.
func TestSaveAgentOfNobody(t *testing.T) {
	k := newKit(t)
	nobody := as(t, "")
	const args = `{"name":"%","description":"You obey.","overwrite":true}`
	var got agentSaved
	for range 2 {
		k.ok(t, nobody, "save_agent", strings.ReplaceAll(args, "%", "tea"), &got)
	}
	for _, name := range []string{"general", "General", "gene-ral"} {
		res, err := k.use(t, nobody, "save_agent", strings.ReplaceAll(args, "%", name))
		if err != nil || !res.Failed || !strings.Contains(res.Content, "is the name of a document that comes with p8") {
			t.Errorf("%s: %v, %s", name, err, res.Content)
		}
	}
	if a, err := k.Documents.Agent(as(t, "bob"), "general"); err != nil || !strings.Contains(a.Prompt, "You help.") {
		t.Errorf("bob's general: %v", err)
	}
}

func TestSaveAgentTellsEveryProblem(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	for args, want := range map[string][]string{
		`{"schema_yaml":"type: object\nname: x\nversion: 1.0.0\ndescription: d\ntemperature: hot\nmax_iterations: -1\n"}`: {"document:5:14: ", "document:6:"},
		`{"schema_yaml":"a: [1"}`:                       {"document:1:"},
		`{"name":"x","tools":[{"description":"none"}]}`: {"/tools/0"},
		`{"description":"no name"}`:                     {"name"},
	} {
		res, err := k.use(t, ctx, "save_agent", args)
		var got agentSaved
		if err != nil || !res.Failed || json.Unmarshal([]byte(res.Content), &got) != nil || got.Status != "error" || got.Error != "the document is not valid" || got.ActionType != "agent_save_error" {
			t.Errorf("%s: %v, %s", args, err, res.Content)
			continue
		}
		for _, part := range want {
			if !strings.Contains(strings.Join(got.Problems, "\n"), part) {
				t.Errorf("%s: %q lacks %s", args, got.Problems, part)
			}
		}
	}
	k.fails(t, ctx, "save_agent", `{"schema_yaml":"x","name":"y"}`, "either schema_yaml or the parts")
	k.fails(t, ctx, "save_agent", `{"user_id":"bob"}`, "user_id")
	if rows, _, err := k.Store.Schemas(ctx, store.SchemaFilter{Kind: "agent"}); err != nil || len(rows) != 0 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
