package api

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// chatBody is AG-UI's RunAgentInput and the body of an AI SDK client in one:
// they share no field that means two things. Every field may be absent, and
// others are ignored.
type chatBody struct {
	Messages []chatMessage `json:"messages"`
	Resume   []resumeEntry `json:"resume"`
	Tools    []clientTool  `json:"tools"`

	// AG-UI.
	ThreadID string          `json:"threadId"`
	RunID    string          `json:"runId"`
	State    json.RawMessage `json:"state"`
	Context  []struct {
		Description string `json:"description"`
		Value       string `json:"value"`
	} `json:"context"`
	ForwardedProps forwardedProps `json:"forwardedProps"`

	// AI SDK.
	ID      string `json:"id"`
	Trigger string `json:"trigger"`

	// p8's own, for clients that can add fields.
	Model  string `json:"model"`
	IfBusy string `json:"if_busy"`
}

type (
	chatMessage struct {
		ID         string          `json:"id"`
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		Parts      []uiPart        `json:"parts"`
		ToolCalls  []openAICall    `json:"toolCalls"`
		ToolCallID string          `json:"toolCallId"`
		Error      string          `json:"error"`
	}
	// resumeEntry answers an interrupt.
	resumeEntry struct {
		InterruptID string          `json:"interruptId"`
		Status      string          `json:"status"`
		Payload     json.RawMessage `json:"payload"`
	}
	// forwardedProps are the application's own; p8 reads three of them.
	forwardedProps struct {
		Options map[string]any `json:"options"`
		Model   string         `json:"model"`
		IfBusy  string         `json:"if_busy"`
	}
)

// UnmarshalJSON takes any value: what is no object has nothing for p8.
func (p *forwardedProps) UnmarshalJSON(b []byte) error {
	if !isObject(b) {
		return nil
	}
	type plain forwardedProps
	return json.Unmarshal(b, (*plain)(p))
}

// isUI tells an AI SDK client's body: its messages have parts.
func (b *chatBody) isUI() bool {
	return b.Trigger != "" || len(b.Messages) > 0 && b.Messages[len(b.Messages)-1].Parts != nil
}

// The triggers of an AI SDK client.
const (
	triggerSubmit     = "submit-message"
	triggerRegenerate = "regenerate-message"
)

// request is the turn that the body asks for, without the answers to requests.
func (b *chatBody) request() (chat.Request, *failure) {
	req := chat.Request{Busy: cmp.Or(b.IfBusy, b.ForwardedProps.IfBusy)}
	if b.Trigger != "" && b.Trigger != triggerSubmit && b.Trigger != triggerRegenerate {
		return req, invalid("trigger", "trigger is %q; it is %s or %s", cut(b.Trigger), triggerSubmit, triggerRegenerate)
	}
	var f *failure
	if req.ClientTools, f = specs(b.Tools); f != nil {
		return req, f
	}
	for name, value := range b.ForwardedProps.Options {
		text, ok := value.(string)
		if !ok {
			raw, _ := json.Marshal(value)
			text = string(raw)
		}
		if f := setOption(&req, name, text); f != nil {
			return req, f
		}
	}
	if f := b.transcript(&req); f != nil {
		return req, f
	}
	for _, c := range b.Context {
		instruct(&req, strings.TrimPrefix(c.Description+": "+c.Value, ": "))
	}
	if state := strings.TrimSpace(string(b.State)); state != "" && state != "null" && state != "{}" && state != `""` {
		instruct(&req, "The state of the user's application, as JSON:\n"+state)
	}
	return req, nil
}

// transcript reads the messages.
func (b *chatBody) transcript(req *chat.Request) *failure {
	var all []said
	for i := range b.Messages {
		one, skip, f := b.Messages[i].said("messages[" + strconv.Itoa(i) + "]")
		switch {
		case f != nil:
			return f
		case skip:
		case one.role == llm.System:
			instruct(req, one.text)
		default:
			all = append(all, one)
		}
	}
	answers := len(b.Resume) > 0 || len(b.decisions()) > 0
	last := len(all) - 1
	switch {
	case answers:
		return nil // what is said is known, and the run goes on with it
	case len(b.Messages) == 0:
		return missingMessages(`{"id":"1","role":"user","content":"hello"}`)
	case b.isUI() && last >= 0 && all[last].role == llm.Assistant && len(all[last].results) == 0 && b.Trigger != triggerRegenerate:
		return invalid("messages", "the last message is the assistant's, and answers nothing that was asked; send one of the user")
	}
	if b.Trigger == triggerRegenerate {
		req.Regenerate = true
		for len(all) > 0 && all[len(all)-1].role != llm.User {
			all = all[:len(all)-1]
		}
		req.History = history(all)
		return nil
	}
	if !converse(all, req) {
		return invalid("messages", "messages has no message of the user with a text: there is nothing to answer")
	}
	return nil
}

// said is the message as every protocol has it; skip is true for what no model
// is shown.
func (m *chatMessage) said(where string) (out said, skip bool, _ *failure) {
	if m.Parts != nil {
		return m.ui(where)
	}
	switch m.Role {
	case "activity", "reasoning":
		return out, true, nil
	}
	like := bodyMessage{Role: m.Role, Content: m.Content, ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID}
	out, f := like.said(where)
	if len(out.results) > 0 && m.Error != "" {
		out.results[0].Failed = true
		out.results[0].Content = cmp.Or(out.results[0].Content, m.Error)
	}
	return out, false, f
}

// answers are the decisions that the body brings, by the requests that they
// decide.
func (b *chatBody) answers(protocol stream.Protocol) ([]answer, *failure) {
	all := b.decisions()
	for i, e := range b.Resume {
		where := "resume[" + strconv.Itoa(i) + "]"
		a := answer{where: where, id: e.InterruptID, payload: e.Payload}
		switch {
		case e.InterruptID == "":
			return nil, invalid("resume", "%s.interruptId is missing; it is the id of an interrupt that ended the run before", where)
		case e.Status == "cancelled":
			a.status = store.RequestCancelled
		case e.Status != "resolved" && e.Status != "":
			return nil, invalid("resume", "%s.status is %q; it is resolved or cancelled", where, cut(e.Status))
		}
		all = append(all, a)
	}
	for i := range all {
		all[i].via = string(protocol)
	}
	return all, nil
}
