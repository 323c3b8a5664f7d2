package a2a

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// approvalSchema is the schema of the answer to an approval.
const approvalSchema = `{"type":"object","properties":{"approved":{"type":"boolean"},"comment":{"type":"string"}},"required":["approved"]}`

// question returns an open question as data.
func question(q store.RunRequest) json.RawMessage {
	schema := orNull(q.Schema)
	if q.Kind == event.RequestApproval {
		schema = json.RawMessage(approvalSchema)
	}
	b, err := json.Marshal(map[string]any{
		"request_id": q.ID, "kind": q.Kind, "message": q.Message, "agent": q.AgentPath, "tool_name": q.ToolName,
		"arguments": orNull(q.Arguments), "response_schema": schema,
	})
	if err != nil {
		return null
	}
	return b
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return null
	}
	return raw
}

// reply is the data of an answer. Data without any of these fields are the content of
// an answer.
type reply struct {
	RequestID string          `json:"request_id"`
	Approved  *bool           `json:"approved"`
	Content   json.RawMessage `json:"content"`
	Comment   string          `json:"comment"`
}

// decision is the decision on one question.
type decision struct {
	id string
	store.Decision
}

// answers reads the parts of a message as answers to the open questions. Data may name
// their question; text, and data that do not, need a single open one.
func answers(parts []part, open []store.RunRequest) ([]decision, error) {
	if len(open) == 0 {
		return nil, wrong("the task waits, but not for an answer; ask for it again")
	}
	var decisions []decision
	var texts []string
	for _, p := range parts {
		switch {
		case p.Text != nil:
			texts = append(texts, *p.Text)
		case len(p.Data) > 0:
			d, err := fromData(p.Data, open)
			if err != nil {
				return nil, err
			}
			decisions = append(decisions, d)
		default:
			return nil, wrong("an answer is data or text")
		}
	}
	text := strings.TrimSpace(strings.Join(texts, "\n"))
	switch {
	case len(decisions) == 0:
		d, err := fromText(text, open)
		return []decision{d}, err
	case len(decisions) == 1 && decisions[0].Comment == "":
		decisions[0].Comment = text
	}
	return decisions, nil
}

// signsIn reports whether a question asks the user to follow an address, usually to sign in:
// it wants no data.
func signsIn(q store.RunRequest) bool {
	return q.Kind == event.RequestElicitation && len(q.Schema) == 0
}

// only returns the question with the id; "" means the single open one.
func only(id string, open []store.RunRequest) (store.RunRequest, error) {
	if id == "" && len(open) == 1 {
		return open[0], nil
	}
	i := slices.IndexFunc(open, func(q store.RunRequest) bool { return q.ID == id })
	switch {
	case id == "":
		return store.RunRequest{}, wrong(`the task asks several questions: answer each with data that has its "request_id"`)
	case i < 0:
		return store.RunRequest{}, wrong("the task has no open question with that request_id")
	}
	return open[i], nil
}

func fromData(data json.RawMessage, open []store.RunRequest) (decision, error) {
	var r reply
	if err := json.Unmarshal(data, &r); err != nil {
		return decision{}, wrong(`an answer is an object such as {"approved": true}, with "request_id", "content" or "comment" where needed`)
	}
	q, err := only(r.RequestID, open)
	if err != nil {
		return decision{}, err
	}
	d := accept(q)
	d.Comment, d.Content = r.Comment, r.Content
	switch {
	case r.Approved != nil && !*r.Approved:
		d.Status, d.Content = store.RequestDeclined, nil
	case signsIn(q) && r.Approved != nil:
	case q.Kind == event.RequestApproval && r.Approved == nil:
		return decision{}, wrong(`the question is whether a tool may be called: answer {"approved": true} or {"approved": false}`)
	case q.Kind == event.RequestElicitation && len(r.Content) == 0 && r.Approved == nil && r.RequestID == "" && r.Comment == "":
		d.Content = data
	case q.Kind == event.RequestElicitation && len(r.Content) == 0:
		return decision{}, wrong(`the answer lacks "content", an object that follows the response_schema`)
	}
	return d, nil
}

// fromText reads a text as an answer. For an approval, any text that is not clearly a
// yes denies it, and the agent reads the text.
func fromText(text string, open []store.RunRequest) (decision, error) {
	q, err := only("", open)
	if err != nil {
		return decision{}, err
	}
	d := accept(q)
	if q.Kind == event.RequestApproval || signsIn(q) {
		switch strings.ToLower(strings.Trim(text, " .!")) {
		case "yes", "y", "ok", "okay", "approve", "approved", "allow", "accept", "done":
		case "no", "n", "deny", "denied", "decline", "reject":
			d.Status = store.RequestDeclined
		default:
			d.Status, d.Comment = store.RequestDeclined, text
		}
		return d, nil
	}
	var given map[string]any
	if json.Unmarshal([]byte(text), &given) == nil && given != nil {
		d.Content = json.RawMessage(text)
		return d, nil
	}
	name := soleText(q.Schema)
	if name == "" {
		return decision{}, wrong("the question wants more than text: answer with data that follows its response_schema")
	}
	d.Content, err = json.Marshal(map[string]string{name: text})
	return d, err
}

func accept(q store.RunRequest) decision {
	return decision{q.ID, store.Decision{Status: store.RequestAccepted, Via: "a2a"}}
}

// soleText returns the only property of a schema if it is a text, else "".
func soleText(schema json.RawMessage) string {
	var s struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) != 1 {
		return ""
	}
	for name, p := range s.Properties {
		if p.Type == "string" {
			return name
		}
	}
	return ""
}

// nothing yields no events, for a turn that has no further ones.
func nothing(context.Context, int64) iter.Seq2[event.Event, error] {
	return func(func(event.Event, error) bool) {}
}
