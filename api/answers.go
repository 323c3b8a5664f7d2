package api

import (
	"bytes"
	"context"
	"encoding/json"

	"p8/chat"
	"p8/event"
	"p8/store"
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

// decide makes decisions of answers: what was asked for is looked up, and the
// data are held against the schema. An answer that says again what was decided
// already is left out.
func (h *Handler) decide(ctx context.Context, answers []answer) ([]chat.RequestAnswer, *failure) {
	var out []chat.RequestAnswer
	again := false
	for _, a := range answers {
		asked, err := h.o.Chat.Request(ctx, a.id)
		if err != nil {
			return nil, h.restFailure(ctx, "request", err)
		}
		d, f := a.decision(&asked)
		switch {
		case f != nil:
			return nil, f
		case asked.Status == d.Status:
			again = true
			continue
		case asked.Status != store.RequestOpen:
			return nil, decided(&asked)
		}
		out = append(out, chat.RequestAnswer{RequestID: a.id, Decision: d})
	}
	if len(out) == 0 && again {
		return nil, &failure{status: 409, code: "request_decided", message: "the request was answered so already; read what the run says with GET /chat/{id}/stream"}
	}
	return out, nil
}

// decision is what the answer means for the request.
func (a *answer) decision(asked *store.RunRequest) (store.Decision, *failure) {
	d := store.Decision{Status: a.status, Comment: a.comment, Via: a.via}
	if d.Status == "" {
		d.Status = store.RequestAccepted
		if asked.Kind == event.RequestApproval {
			return a.approval(d)
		}
		d.Content = a.payload
	}
	if asked.Kind == event.RequestApproval || d.Status != store.RequestAccepted {
		d.Content = nil
		return d, nil
	}
	return d, checkContent(a.where, asked.Schema, d.Content)
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
		return d, invalid("payload", "%s.payload must say whether the call may be made: {\"approved\": true} or {\"approved\": false}", a.where)
	}
	if !*said.Approved {
		d.Status = store.RequestDeclined
	}
	if d.Comment = said.Comment; d.Comment == "" {
		d.Comment = said.Reason
	}
	return d, nil
}

// checkContent holds the data of an answer against what was asked for.
func checkContent(where string, schema, content json.RawMessage) *failure {
	name := "content"
	if where != "" {
		name = where + ".payload"
	}
	switch content = bytes.TrimSpace(content); {
	case len(content) > 0 && string(content) != "null" && !isObject(content):
		return invalid(name, "%s must be an object, as response_schema says", name)
	case len(schema) == 0:
		return nil
	}
	if string(content) == "null" {
		content = nil
	}
	if err := fits(schema, content); err != nil {
		return invalid(name, "%s does not fit the request's response_schema: %s", name, cutLong(err.Error()))
	}
	return nil
}

// decided is a request that is not open any more.
func decided(asked *store.RunRequest) *failure {
	return &failure{
		status: 409, code: "request_decided",
		message: "the request " + cut(asked.ID) + " is " + asked.Status + " already; what was decided stays",
	}
}
