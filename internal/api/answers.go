package api

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// answer is what a client says to a request of a run.
type answer struct {
	// where it stands in the body.
	where string
	id    string
	// status is that of the decision; "" leaves it to payload, which is an
	// approval's {approved, comment}, or the data that were asked for.
	status  string
	payload json.RawMessage
	comment string
	via     string
}

// maxAnswers bounds the answers of a request.
const maxAnswers = 128

// decide makes decisions of answers: what was asked for is looked up. The chat
// holds the data against the schema.
func (h *Handler) decide(ctx context.Context, answers []answer) ([]chat.RequestAnswer, *failure) {
	if len(answers) > maxAnswers {
		return nil, invalid("resume", "there are %d answers; %d are the most", len(answers), maxAnswers)
	}
	var out []chat.RequestAnswer
	for _, a := range answers {
		asked, err := h.o.Chat.Request(ctx, a.id)
		if err != nil {
			return nil, h.restFailure(ctx, "request", err)
		}
		d, f := a.decision(asked.Kind)
		if f != nil {
			return nil, f
		}
		out = append(out, chat.RequestAnswer{RequestID: a.id, Decision: d})
	}
	return out, nil
}

// decision is what the answer means for a request of this kind.
func (a *answer) decision(kind string) (store.Decision, *failure) {
	d := store.Decision{Status: a.status, Comment: a.comment, Via: a.via}
	switch payload := bytes.TrimSpace(a.payload); {
	case d.Status != "":
		return d, nil
	case kind == event.RequestApproval:
		return a.approval(d)
	case len(payload) > 0 && string(payload) != "null" && !isObject(payload):
		return d, invalid("resume", "%s.payload must be an object, as the interrupt's responseSchema says", a.where)
	case isObject(payload):
		d.Content = payload
	}
	d.Status = store.RequestAccepted
	return d, nil
}

// approval reads {approved, comment}, or true or false alone.
func (a *answer) approval(d store.Decision) (store.Decision, *failure) {
	var said struct {
		Approved *bool  `json:"approved"`
		Comment  string `json:"comment"`
		Reason   string `json:"reason"`
	}
	var yes bool
	switch payload := bytes.TrimSpace(a.payload); {
	case json.Unmarshal(payload, &yes) == nil && string(payload) != "null":
		said.Approved = &yes
	case !isObject(payload) || json.Unmarshal(payload, &said) != nil || said.Approved == nil:
		return d, invalid("resume", "%s.payload must say whether the call may be made: {\"approved\": true} or {\"approved\": false}", a.where)
	}
	d.Status = store.RequestAccepted
	if !*said.Approved {
		d.Status = store.RequestDeclined
	}
	if d.Comment = said.Comment; d.Comment == "" {
		d.Comment = said.Reason
	}
	return d, nil
}
