package inbound

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// Answer is a client's answer to a request of a run.
type Answer struct {
	RequestID string
	// where is its place in the body.
	where string
	// status is that of the decision, "" if the payload decides.
	status string
	// payload is an approval's {approved, comment}, or the data that were asked for.
	payload json.RawMessage
	comment string
	via     string
}

// maxAnswers bounds the answers in one body.
const maxAnswers = 128

// Answers returns the answers to requests in the body, in its order. via is recorded
// with each decision.
func (b *Talk) Answers(via stream.Protocol) ([]Answer, *problem.Problem) {
	all := b.approvals()
	for i, e := range b.Resume {
		where := "resume[" + strconv.Itoa(i) + "]"
		a := Answer{where: where, RequestID: e.InterruptID, payload: e.Payload}
		switch {
		case e.InterruptID == "":
			return nil, problem.Invalid("resume", "%s.interruptId is missing; it is the id of an interrupt that ended the run before", where)
		case e.Status == "cancelled":
			a.status = store.RequestCancelled
		case e.Status != "resolved" && e.Status != "":
			return nil, problem.Invalid("resume", "%s.status is %q; it is resolved or cancelled", where, web.Cut(e.Status))
		}
		all = append(all, a)
	}
	for i := range all {
		all[i].via = string(via)
	}
	if len(all) > maxAnswers {
		return nil, problem.Invalid("resume", "there are %d answers; %d are the most", len(all), maxAnswers)
	}
	return all, nil
}

// Decision returns the decision that the answer makes on a request of this kind. The
// chat checks the data against the request's schema.
func (a *Answer) Decision(kind string) (store.Decision, *problem.Problem) {
	d := store.Decision{Status: a.status, Comment: a.comment, Via: a.via}
	switch payload := bytes.TrimSpace(a.payload); {
	case d.Status != "":
		return d, nil
	case kind == event.RequestApproval:
		return a.approval(d)
	case len(payload) > 0 && string(payload) != "null" && !web.IsObject(payload):
		return d, problem.Invalid("resume", "%s.payload must be an object, as the interrupt's responseSchema says", a.where)
	case web.IsObject(payload):
		d.Content = payload
	}
	d.Status = store.RequestAccepted
	return d, nil
}

// approval reads {approved, comment}, or true or false alone.
func (a *Answer) approval(d store.Decision) (store.Decision, *problem.Problem) {
	var in struct {
		Approved *bool  `json:"approved"`
		Comment  string `json:"comment"`
		Reason   string `json:"reason"`
	}
	var yes bool
	switch payload := bytes.TrimSpace(a.payload); {
	case json.Unmarshal(payload, &yes) == nil && string(payload) != "null":
		in.Approved = &yes
	case !web.IsObject(payload) || json.Unmarshal(payload, &in) != nil || in.Approved == nil:
		return d, problem.Invalid("resume", "%s.payload must say whether the call may be made: {\"approved\": true} or {\"approved\": false}", a.where)
	}
	d.Status = store.RequestAccepted
	if !*in.Approved {
		d.Status = store.RequestDeclined
	}
	d.Comment = cmp.Or(in.Comment, in.Reason)
	return d, nil
}
