package inbound

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
)

// Talk is AG-UI's RunAgentInput and the body of an AI SDK client in one: the two
// share no field with different meanings. Every field may be absent; unknown fields
// are ignored.
type Talk struct {
	Messages []talkMessage `json:"messages"`
	// Message is the last message alone, which many AI SDK applications send.
	Message *talkMessage  `json:"message"`
	Resume  []resumeEntry `json:"resume"`
	Tools   clientTools   `json:"tools"`

	// AG-UI.
	ThreadID string `json:"threadId"`
	RunID    string `json:"runId"`
	// ProtocolVersion is "1.0" or later; clients older than 1.0 send none.
	ProtocolVersion string          `json:"protocolVersion"`
	State           json.RawMessage `json:"state"`
	Context         []struct {
		Description string `json:"description"`
		Value       string `json:"value"`
	} `json:"context"`
	ForwardedProps forwardedProps `json:"forwardedProps"`

	// AI SDK.
	ID      string `json:"id"`
	Trigger string `json:"trigger"`
	// MessageID is the message that is edited, or that is answered again; also the last one
	// of the assistant, with the results of its tools.
	MessageID string `json:"messageId"`

	// p8's own, for clients that can add fields.
	Model  string `json:"model"`
	IfBusy string `json:"if_busy"`
	// Metadata describe the session.
	Metadata map[string]any `json:"metadata"`
}

type (
	talkMessage struct {
		ID         string          `json:"id"`
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		Parts      []aiSDKPart     `json:"parts"`
		ToolCalls  []toolCall      `json:"toolCalls"`
		ToolCallID string          `json:"toolCallId"`
		Error      string          `json:"error"`
	}
	// resumeEntry answers an interrupt.
	resumeEntry struct {
		InterruptID string          `json:"interruptId"`
		Status      string          `json:"status"`
		Payload     json.RawMessage `json:"payload"`
	}
	// forwardedProps are the application's own; p8 reads four of them.
	forwardedProps struct {
		Options  map[string]any `json:"options"`
		Model    string         `json:"model"`
		IfBusy   string         `json:"if_busy"`
		Metadata map[string]any `json:"metadata"`
	}
)

// UnmarshalJSON ignores every value that is not an object.
func (p *forwardedProps) UnmarshalJSON(b []byte) error {
	if !web.IsObject(b) {
		return nil
	}
	type plain forwardedProps
	return json.Unmarshal(b, (*plain)(p))
}

// IsUI reports whether an AI SDK client sent the body: its messages have parts.
func (b *Talk) IsUI() bool {
	return b.Trigger != "" || b.Message != nil && b.Message.Parts != nil || len(b.Messages) > 0 && b.Messages[len(b.Messages)-1].Parts != nil
}

// IsAGUI reports whether an AG-UI client sent the body. Its clients name the thread and the
// run; AI SDK clients never do.
func (b *Talk) IsAGUI() bool { return !b.IsUI() && (b.ThreadID != "" || b.RunID != "") }

// IsOldAGUI reports whether an AG-UI client older than 1.0 sent the body. A body without
// the ids of such a client is a person's.
func (b *Talk) IsOldAGUI() bool { return b.ThreadID != "" && b.RunID != "" && b.ProtocolVersion == "" }

// The triggers of an AI SDK client.
const (
	triggerSubmit     = "submit-message"
	triggerRegenerate = "regenerate-message"
)

// Request returns the turn that the body asks for, without its answers to requests.
func (b *Talk) Request() (chat.Request, *problem.Problem) {
	if len(b.Messages) == 0 && b.Message != nil {
		b.Messages = []talkMessage{*b.Message}
	}
	req := chat.Request{Busy: cmp.Or(b.IfBusy, b.ForwardedProps.IfBusy)}
	if b.IsAGUI() {
		if f := b.Names(); f != nil {
			return req, f
		}
		req.Thread = b.ThreadID
	}
	if b.Trigger != "" && b.Trigger != triggerSubmit && b.Trigger != triggerRegenerate {
		return req, problem.Invalid("trigger", "trigger is %q; it is %s or %s", web.Cut(b.Trigger), triggerSubmit, triggerRegenerate)
	}
	metadata := b.Metadata
	if metadata == nil {
		metadata = b.ForwardedProps.Metadata
	}
	f := about(&req, metadata)
	if f != nil {
		return req, f
	}
	if req.ClientTools, f = specs(b.Tools); f != nil {
		return req, f
	}
	for name, value := range b.ForwardedProps.Options {
		text, ok := value.(string)
		if !ok {
			raw, _ := json.Marshal(value)
			text = string(raw)
		}
		if f := SetOption(&req, name, text); f != nil {
			return req, f
		}
	}
	if f := b.transcript(&req); f != nil {
		return req, f
	}
	for _, c := range b.Context {
		Instruct(&req, strings.TrimPrefix(c.Description+": "+c.Value, ": "))
	}
	req.State = b.State
	return req, nil
}

// Names checks the ids that the stream repeats.
func (b *Talk) Names() *problem.Problem {
	for _, id := range [...]struct{ name, value string }{{"threadId", b.ThreadID}, {"runId", b.RunID}} {
		if id.value == "" {
			continue
		}
		if err := identity.ValidateID(id.name, id.value); err != nil {
			return problem.Invalid(id.name, "%s", err)
		}
	}
	return nil
}

// transcript reads the messages.
func (b *Talk) transcript(req *chat.Request) *problem.Problem {
	var all []message
	for i := range b.Messages {
		one, skip, f := b.Messages[i].message("messages[" + strconv.Itoa(i) + "]")
		switch {
		case f != nil:
			return f
		case skip:
		case one.role == llm.System:
			Instruct(req, one.text)
		default:
			all = append(all, one)
		}
	}
	answers := len(b.Resume) > 0 || len(b.approvals()) > 0
	last := len(all) - 1
	switch {
	case answers:
		return nil // the run that waits goes on; it has the messages
	case len(b.Messages) == 0:
		return missingMessages(`{"id":"1","role":"user","content":"hello"}`)
	case b.IsUI() && last >= 0 && all[last].role == llm.Assistant && len(all[last].results) == 0 && b.Trigger != triggerRegenerate:
		return problem.Invalid("messages", "the last message is the assistant's, and answers nothing that was asked; send one of the user")
	}
	if b.Trigger == triggerRegenerate {
		req.Regenerate = true
		for len(all) > 0 && all[len(all)-1].role != llm.User {
			all = all[:len(all)-1]
		}
		req.History = history(all)
		b.answersAgain(req)
		return nil
	}
	if !divide(all, req) {
		return problem.Invalid("messages", "messages has no message of the user with a text: there is nothing to answer")
	}
	if len(req.Results) == 0 {
		b.identify(req)
	}
	return nil
}

// message reads the message of either protocol; skip is true for messages that no
// model reads.
func (m *talkMessage) message(where string) (out message, skip bool, _ *problem.Problem) {
	if m.Parts != nil {
		return m.readUI(where)
	}
	switch m.Role {
	case "activity", "reasoning":
		return out, true, nil
	}
	like := openAIMessage{Role: m.Role, Content: m.Content, ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID}
	out, f := like.message(where)
	if len(out.results) > 0 && m.Error != "" {
		out.results[0].Failed = true
		out.results[0].Content = cmp.Or(out.results[0].Content, m.Error)
	}
	return out, false, f
}
