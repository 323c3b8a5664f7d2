package builtin_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

func find(t *testing.T, name string) tool.Tool {
	t.Helper()
	tools, err := builtin.Tools(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.NewRegistry(tools...); err != nil {
		t.Fatal(err)
	}
	for _, b := range tools {
		if b.Spec().Name == name {
			return b
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

func call(t *testing.T, name, args string) (tool.Result, error) {
	t.Helper()
	b, raw := find(t, name), json.RawMessage(args)
	if err := tool.Validate(t.Context(), b, raw); err != nil {
		return tool.Result{}, err
	}
	return b.Call(t.Context(), tool.Call{ID: "c1", Name: name, Arguments: raw})
}

func TestAction(t *testing.T) {
	for _, c := range []struct{ args, content, payload string }{
		{`{"type":"elicit","payload":{"question":"Which?","options":["a","b"]}}`,
			`{"_action_event":true,"action_type":"elicit","payload":{"question":"Which?","options":["a","b"]},"status":"success"}`,
			`{"question":"Which?","options":["a","b"]}`},
		{`{"type":"my_own","payload":{"confidence":"high"}}`,
			`{"_action_event":true,"action_type":"my_own","payload":{"confidence":"high"},"status":"success"}`, `{"confidence":"high"}`},
		{`{"type":"delegate"}`, `{"_action_event":true,"action_type":"delegate","status":"success"}`, ``},
		{`{"type":"delegate","payload":null}`, `{"_action_event":true,"action_type":"delegate","status":"success"}`, ``},
		{`{"type":"delegate","payload":{}}`, `{"_action_event":true,"action_type":"delegate","status":"success"}`, ``},
	} {
		got, err := call(t, "action", c.args)
		if err != nil || got.Content != c.content || string(got.Action.Payload) != c.payload || got.Metadata != nil || got.Failed {
			t.Errorf("%s: %+v, %v", c.args, got, err)
		}
	}
}

func TestObservation(t *testing.T) {
	const payload = `{"confidence":0.85,"sources":["doc-1"],"references":["http://x/?a&b"],"flags":["f"],"session_name":" Plan \n the trip ",` +
		`"risk_level":"moderate","risk_score":40.0,"risk_reasoning":"why","recommended_action":"do","agent_schema":"a","extra":{"k":1},"mine":7,"status":"x","empty":null}`
	want := &event.MetadataData{
		Confidence: new(0.85), Sources: []string{"doc-1"}, References: []string{"http://x/?a&b"}, Flags: []string{"f"}, SessionName: "Plan the trip",
		RiskLevel: "moderate", RiskScore: new(40), RiskReasoning: "why", RecommendedAction: "do", AgentSchema: "a", Extra: map[string]any{"k": 1.0},
	}
	got, err := call(t, "action", `{"type":"observation","payload":`+payload+`}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Metadata); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&event.ActionData{ActionType: "observation", Payload: json.RawMessage(payload)}, got.Action); diff != "" {
		t.Error(diff)
	}
	var content map[string]any
	if err := json.Unmarshal([]byte(got.Content), &content); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{
		"_action_event": true, "_metadata_event": true, "action_type": "observation", "status": "success", "confidence": 0.85, "mine": 7.0,
	} {
		if content[name] != value {
			t.Errorf("%s is %v", name, content[name])
		}
	}
	if _, ok := content["empty"]; ok || content["payload"] == nil {
		t.Errorf("got %s", got.Content)
	}
}

func TestRegisterMetadata(t *testing.T) {
	const fields = `{"confidence":0.5,"sources":["a"],"risk_score":100}`
	flat, err := call(t, "register_metadata", fields)
	if err != nil {
		t.Fatal(err)
	}
	nested, err := call(t, "action", `{"type":"observation","payload":`+fields+`}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(nested, flat); diff != "" {
		t.Error(diff)
	}
	if got, err := call(t, "register_metadata", `{"confidence":null,"flags":null}`); err != nil || got.Metadata.Confidence != nil {
		t.Errorf("nulls: %+v, %v", got, err)
	}
	if _, err := call(t, "register_metadata", `{"confidence":7}`); err == nil || !strings.Contains(err.Error(), "confidence") {
		t.Errorf("got %v", err)
	}
}

func TestBadObservations(t *testing.T) {
	for payload, want := range map[string]string{
		`{"confidence":1.5}`:                             "confidence is 1.5; it takes a number from 0 to 1",
		`{"confidence":-0.1}`:                            "confidence is -0.1; it takes a number from 0 to 1",
		`{"confidence":"high"}`:                          `confidence is "high"; it takes a number from 0 to 1`,
		`{"risk_score":101}`:                             "risk_score is 101; it takes a number from 0 to 100",
		`{"risk_score":1.5}`:                             "risk_score is 1.5; it takes a whole number from 0 to 100",
		`{"risk_level":"severe"}`:                        `risk_level is "severe"; it takes low, moderate, high, critical`,
		`{"risk_level":3}`:                               "risk_level is 3; it takes a string",
		`{"sources":"doc"}`:                              `sources is "doc"; it takes a list of at most 100 strings`,
		`{"flags":[1]}`:                                  "flags is [1]; it takes a list of at most 100 strings",
		`{"references":[null]}`:                          "references is [null]; it takes a list of at most 100 strings",
		`{"session_name":{}}`:                            "session_name is {}; it takes a string",
		`{"session_name":"a\u0007"}`:                     `session_name is "a\u0007"; it takes at most 200 printable characters`,
		`{"extra":[]}`:                                   "extra is []; it takes a JSON object",
		`{"confidence":2,"risk_score":-1}`:               "confidence is 2; it takes a number from 0 to 1; risk_score is -1; it takes a number from 0 to 100",
		`{"extra":"` + strings.Repeat("x", 70000) + `"}`: "payload is 70012 bytes long; at most 65536 are allowed",
	} {
		_, err := call(t, "action", `{"type":"observation","payload":`+payload+`}`)
		var known *tool.Error
		if !errors.As(err, &known) || known.Message != want {
			t.Errorf("%.60s: got %v, want %s", payload, err, want)
		}
	}
	for _, args := range []string{`{}`, `{"type":""}`, `{"type":"x","payload":[]}`, `{"type":"x","payload":"{}"}`} {
		if _, err := call(t, "action", args); err == nil {
			t.Errorf("%s passed", args)
		}
	}
}

func TestNoBuiltinAsksForAnIdentity(t *testing.T) {
	for _, name := range []string{"search", "action", "register_metadata"} {
		schema := string(find(t, name).Spec().Parameters)
		if strings.Contains(schema, "user_id") || strings.Contains(schema, "tenant_id") {
			t.Errorf("%s: %s", name, schema)
		}
	}
}
