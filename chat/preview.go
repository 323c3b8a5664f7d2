package chat

import (
	"cmp"
	"context"
	"strings"

	"github.com/p8-org/p8/chat/internal/prompt"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// The parts of a Preview besides those of package memory.
const (
	PreviewPrompt       = "prompt"
	PreviewInstructions = "instructions"
	PreviewTools        = "tools"
	PreviewOutput       = "output_schema"
)

// PreviewPart is a piece of what the model would get.
type PreviewPart struct {
	// Kind is prompt, instructions, tools, output_schema, or one of memory's.
	Kind string `json:"kind"`
	// Role is the role of its message, "" if the part is no message or several.
	Role string `json:"role,omitempty"`
	// Key is its key for LOOKUP; First and Last are the numbers of its rows.
	Key    string `json:"key,omitempty"`
	First  int64  `json:"first_seq,omitempty"`
	Last   int64  `json:"last_seq,omitempty"`
	Tokens int    `json:"tokens"`
	// Content is its text, or the names of the tools.
	Content string `json:"content"`
}

// Preview is what the next turn of a session would send, without a new message.
type Preview struct {
	SessionID string `json:"session_id"`
	Agent     string `json:"agent"`
	Model     string `json:"model"`
	// Budget is what the history may take, Window what the model reads, 0 if unknown;
	// HistoryTokens is what the history takes, Tokens what all of it does.
	Budget        int           `json:"budget"`
	Window        int           `json:"window,omitempty"`
	HistoryTokens int           `json:"history_tokens"`
	Tokens        int           `json:"tokens"`
	Parts         []PreviewPart `json:"parts"`
	// More says that older messages are left out.
	More bool `json:"more"`
	// Messages are the payload itself.
	Messages []llm.Message `json:"-"`
}

// Preview shows what the next turn of the caller's session would send to the model; agent
// is "" for the one that answered last. The error is store.ErrNotFound if the session is
// not the caller's.
func (s *Service) Preview(ctx context.Context, sessionID, agent string) (Preview, error) {
	caller, err := identity.From(ctx)
	if err != nil {
		return Preview{}, err
	}
	if err := identity.ValidateID("session_id", sessionID); err != nil {
		return Preview{}, err
	}
	if s.o.Store == nil {
		return Preview{}, store.ErrNotFound
	}
	was, err := s.o.Store.Session(ctx, sessionID)
	if err != nil {
		return Preview{}, err
	}
	caller.SessionID = sessionID
	p, err := s.stages.lookAt(identity.With(ctx, caller), request{
		asked:  Request{Agent: cmp.Or(agent, caller.AgentSchemaURI, was.AgentName)},
		caller: caller, sessionNamed: true, model: caller.DefaultModel, started: s.o.Now(),
	})
	if err != nil {
		return Preview{}, err
	}
	out := Preview{
		SessionID: sessionID, Agent: p.cast.Name, Model: p.cast.ModelName, Budget: p.payload.Budget,
		HistoryTokens: p.payload.Context.Tokens, More: p.payload.Context.More, Messages: p.payload.Messages,
	}
	if s.o.Window != nil {
		out.Window, _ = s.o.Window(p.cast.ModelName)
	}
	out.Parts = append(leadParts(p), historyParts(p.payload.Context)...)
	for i := range out.Parts {
		out.Tokens += out.Parts[i].Tokens
	}
	return out, nil
}

// lookAt makes the second stage of a turn that is not begun.
func (s *preparer) lookAt(ctx context.Context, r request) (prepared, error) {
	p, err := s.look(ctx, r, true)
	if err != nil {
		return p, err
	}
	if !p.session.recalled.Found { // the caller may read the session but not continue it
		return p, store.ErrNotFound
	}
	if !prompt.SamePolicy(p.session.recalledFor, p.cast.Agent) {
		if p.session, err = s.recall(ctx, p, p.cast.Agent, 0); err != nil {
			return p, err
		}
	}
	return s.withSession(ctx, p)
}

// leadParts returns the parts before the history, and those beside the messages.
func leadParts(p prepared) []PreviewPart {
	var parts []PreviewPart
	for i, m := range p.payload.Lead {
		kind := PreviewInstructions
		if i == 0 {
			kind = PreviewPrompt
		}
		parts = append(parts, PreviewPart{Kind: kind, Role: string(m.Role), Tokens: llm.EstimateTokens(m.Content), Content: m.Content})
	}
	if len(p.cast.Tools) > 0 {
		part := PreviewPart{Kind: PreviewTools}
		names := make([]string, len(p.cast.Tools))
		for i, t := range p.cast.Tools {
			names[i] = t.Spec().Name
			part.Tokens += prompt.ToolTokens(t)
		}
		part.Content = strings.Join(names, ", ")
		parts = append(parts, part)
	}
	if out := p.cast.Agent.Output; p.cast.Agent.Structured && out != nil {
		schema := string(out.Schema)
		parts = append(parts, PreviewPart{Kind: PreviewOutput, Tokens: llm.EstimateTokens(schema), Content: schema})
	}
	return parts
}

// historyParts returns the parts of the history with their texts.
func historyParts(c memory.Context) []PreviewPart {
	parts := make([]PreviewPart, 0, len(c.Parts))
	at := 0
	for _, p := range c.Parts {
		out := PreviewPart{Kind: p.Kind, Key: p.Key, First: p.First, Last: p.Last, Tokens: p.Tokens}
		of := c.Messages[at:min(at+p.Messages, len(c.Messages))]
		at += p.Messages
		if len(of) == 1 {
			out.Role = string(of[0].Role)
		}
		var b strings.Builder
		for i := range of {
			writePart(&b, &of[i])
		}
		out.Content = b.String()
		parts = append(parts, out)
	}
	return parts
}

// writePart adds a message's text, or its calls.
func writePart(b *strings.Builder, m *llm.Message) {
	add := func(text string) {
		if text == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	add(m.Content)
	for i := range m.ToolCalls {
		add(m.ToolCalls[i].Name + " " + m.ToolCalls[i].Arguments)
	}
}
