package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// user answers questions, or has not answered yet.
type user struct {
	answer *tool.Answer
	asked  []tool.Question
}

func (u *user) Ask(_ context.Context, q tool.Question) (tool.Answer, error) {
	u.asked = append(u.asked, q)
	if u.answer == nil {
		return tool.Answer{}, tool.ErrPaused
	}
	return *u.answer, nil
}

// askUser calls action with a user to ask.
func askUser(t *testing.T, u *user, args string) (tool.Result, error) {
	t.Helper()
	action := find(t, "action")
	if err := tool.Validate(t.Context(), action, json.RawMessage(args)); err != nil {
		t.Fatal(err)
	}
	return action.Call(tool.WithAsker(t.Context(), u), tool.Call{ID: "c1", Name: "action", Arguments: json.RawMessage(args)})
}

func TestElicitAsks(t *testing.T) {
	const schema = `{"type":"object","properties":{"day":{"type":"string","format":"date"}},"required":["day"]}`
	for payload, want := range map[string]string{
		`{"question":"Which?","options":["a","b","a"]}`:                                                          `{"additionalProperties":false,"properties":{"answer":{"type":"string","title":"Answer","enum":["a","b"]}},"required":["answer"],"type":"object"}`,
		`{"question":"Which?","options":[{"title":"First","value":"a"},{"value":2},{"title":"c"},"<d>", false]}`: `{"additionalProperties":false,"properties":{"answer":{"type":"string","title":"Answer","oneOf":[{"const":"a","title":"First"},{"const":"2","title":"2"},{"const":"c","title":"c"},{"const":"<d>","title":"<d>"},{"const":"false","title":"false"}]}},"required":["answer"],"type":"object"}`,
		`{"question":"When?","schema":` + schema + `}`:                                                           schema,
		`{"question":"When?","response_schema":` + schema + `,"options":["a"],"schema":null}`:                    schema,
	} {
		u := &user{}
		res, err := askUser(t, u, `{"type":"elicit","payload":`+payload+`}`)
		if !errors.Is(err, tool.ErrPaused) || res.Action != nil || len(u.asked) != 1 {
			t.Fatalf("%s: %+v, %v", payload, res, err)
		}
		q := u.asked[0]
		if string(q.Schema) != want || q.Kind != event.RequestElicitation || !strings.HasPrefix(q.Message, "Wh") {
			t.Errorf("%s asks %s %s %s", payload, q.Kind, q.Message, q.Schema)
		}
		if q.Action == nil || q.Action.ActionType != "elicit" || string(q.Action.Payload) != payload {
			t.Errorf("%s: the event before the question is %+v", payload, q.Action)
		}
	}
}

func TestElicitAnswers(t *testing.T) {
	const payload = `{"question":"Which?","options":["a","b"]}`
	for _, c := range []struct {
		answer tool.Answer
		want   string
	}{
		{tool.Answer{Action: tool.Accepted, Content: json.RawMessage(`{"answer":"b"}`)}, `"answer":{"action":"accept","content":{"answer":"b"}},"payload":` + payload},
		{tool.Answer{Action: tool.Declined, Reason: "not now"}, `"answer":{"action":"decline","reason":"not now"},"message":"the user declined to answer","payload":` + payload},
		{tool.Answer{Action: tool.Cancelled}, `"answer":{"action":"cancel"},"message":"the user went on without an answer","payload":` + payload},
		{tool.Answer{Action: tool.Expired}, `"answer":{"action":"expired"},"message":"nobody answered in time","payload":` + payload},
	} {
		res, err := askUser(t, &user{answer: &c.answer}, `{"type":"elicit","payload":`+payload+`}`)
		want := `{"_action_event":true,"action_type":"elicit",` + c.want + `,"status":"success"}`
		if err != nil || res.Content != want || res.Action != nil || res.Failed {
			t.Errorf("%s:\n got %s %v\nwant %s", c.answer.Action, res.Content, err, want)
		}
		checkOutput(t, find(t, "action"), res)
	}
}

// In a dialogue, options and fields become the text of the answer; the call does not wait.
func TestElicitInADialogue(t *testing.T) {
	const form = `{"type":"object","properties":{"day":{"type":"string","format":"date"}},"required":["day"]}`
	for payload, want := range map[string]string{
		`{"question":" Which? ","options":["a",{"title":"Second","value":2}]}`: "Which?\n\n1. a\n2. Second",
		`{"question":"When?","schema":{"type":"object","properties":{}}}`:      "When?",
		`{"question":"When? ","schema":` + form + `}`:                          "When?\n\n- day (date)",
		`{"question":"When?","options":["a"],"response_schema":` + form + `}`:  "When?\n\n- day (date)",
		`{"question":"Which?"}`: "",
	} {
		res, err := find(t, "action").Call(tool.WithDialogue(t.Context()), tool.Call{Arguments: json.RawMessage(`{"type":"elicit","payload":` + payload + `}`)})
		if err != nil || res.Question != want || res.Action == nil {
			t.Errorf("%s: %+v, %v", payload, res, err)
		}
		if strings.Contains(want, "date") != (string(res.Wanted) == form) {
			t.Errorf("%s wants %s", payload, res.Wanted)
		}
	}
	_, err := find(t, "action").Call(tool.WithDialogue(t.Context()), tool.Call{Arguments: json.RawMessage(`{"type":"elicit","payload":{"question":"q","schema":[]}}`)})
	var known *tool.Error
	if !errors.As(err, &known) || !strings.Contains(known.Message, "payload.schema is not") {
		t.Error(err)
	}
}

// An action without a typed answer is an event like any other, even if a user could be
// asked; so is a delegation.
func TestActionsThatAskNobody(t *testing.T) {
	for _, args := range []string{
		`{"type":"elicit","payload":{"question":"Which?"}}`,
		`{"type":"elicit","payload":{"question":"Which?","options":[]}}`,
		`{"type":"elicit","payload":{"question":" ","options":["a"]}}`,
		`{"type":"elicit","payload":{"question":7,"options":["a"]}}`,
		`{"type":"elicit","payload":{"question":"Which?","options":"a"}}`,
		`{"type":"elicit"}`,
		`{"type":"delegate","payload":{"question":"Which?","options":["a"]}}`,
		`{"type":"observation","payload":{"question":"Which?","options":["a"]}}`,
	} {
		u := &user{}
		res, err := askUser(t, u, args)
		plain, plainErr := call(t, "action", args)
		if err != nil || plainErr != nil || len(u.asked) > 0 || res.Content != plain.Content || res.Action == nil || res.TransferTo != "" {
			t.Errorf("%s: %+v, %v, %d questions", args, res, err, len(u.asked))
		}
	}
}

func TestElicitRefusals(t *testing.T) {
	for payload, want := range map[string]string{
		`{"question":"q","schema":{"type":"string"}}`:                                                     "payload.schema is not the JSON Schema of an object",
		`{"question":"q","schema":[]}`:                                                                    "payload.schema is not",
		`{"question":"q","options":["a",[]]}`:                                                             "payload.options[1] is neither",
		`{"question":"q","options":[{}]}`:                                                                 "payload.options[0] is neither",
		`{"question":"q","options":[null]}`:                                                               "payload.options[0] is neither",
		`{"question":"q","options":[{"title":3}]}`:                                                        "payload.options[0] is neither",
		`{"question":"q","options":[` + strings.TrimSuffix(strings.Repeat(`"a",`, 101), ",") + `]}`:       "payload.options has 101 entries; at most 100",
		`{"question":"q","options":["` + strings.Repeat("x", 70000) + `"]}`:                               "at most 65536 are allowed",
		`{"question":"q","schema":{"type":"object","properties":{"a":{"$ref":"https://example.com/x"}}}}`: "payload.schema is not",
	} {
		_, err := askUser(t, &user{}, `{"type":"elicit","payload":`+payload+`}`)
		var known *tool.Error
		if !errors.As(err, &known) || !strings.Contains(known.Message, want) {
			t.Errorf("%.80s: got %v, want %s", payload, err, want)
		}
	}
}
