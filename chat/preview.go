package chat

import (
	"cmp"
	"context"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// The parts of a Preview besides those of package memory.
const (
	PreviewPrompt       = "prompt"
	PreviewInstructions = "instructions"
	PreviewTools        = "tools"
	PreviewOutput       = "output_schema"
)

// PreviewPart is a piece of what a model would be sent.
type PreviewPart struct {
	// Kind is prompt, instructions, tools, output_schema, or one of memory's.
	Kind string `json:"kind"`
	// Role is that of its messages, "" for what is no message or is several.
	Role string `json:"role,omitempty"`
	// Key is what LOOKUP finds it by; First and Last are the numbers of its rows.
	Key    string `json:"key,omitempty"`
	First  int64  `json:"first_seq,omitempty"`
	Last   int64  `json:"last_seq,omitempty"`
	Tokens int    `json:"tokens"`
	// Content is its text; of tools their names.
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

// Preview shows what the next turn of the caller's session would send; agent is "" for
// the one that answered last. store.ErrNotFound for a session that is not the caller's.
func (s *Service) Preview(ctx context.Context, sessionID, agent string) (Preview, error) {
	who, err := identity.From(ctx)
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
	who.SessionID = sessionID
	j := &job{
		Turn: &Turn{SessionID: sessionID}, who: who, asked: who.DefaultModel, named: true, started: s.o.Now(),
		req: Request{Agent: cmp.Or(agent, who.AgentSchemaURI, was.AgentName)},
	}
	if err := s.look(identity.With(ctx, who), j); err != nil {
		return Preview{}, err
	}
	p := Preview{
		SessionID: sessionID, Agent: j.name, Model: j.modelName, Budget: s.within(j).Budget,
		HistoryTokens: j.context.Tokens, More: j.context.More, Messages: j.messages,
	}
	if s.o.Window != nil {
		p.Window, _ = s.o.Window(j.modelName)
	}
	p.Parts = append(leadParts(j), historyParts(j)...)
	for i := range p.Parts {
		p.Tokens += p.Parts[i].Tokens
	}
	return p, nil
}

// look prepares a turn that is not begun.
func (s *Service) look(ctx context.Context, j *job) error {
	j.agent = s.firstAgent(ctx, j)
	if err := s.readSession(ctx, j, 0); err != nil {
		return err
	}
	if !j.past.Found { // the caller may read it, and not go on with it
		return store.ErrNotFound
	}
	if err := s.equip(ctx, j, s.routed(ctx, j)); err != nil {
		return err
	}
	if !sameHistory(j.recalled, j.agent) {
		if err := s.recall(ctx, j, 0); err != nil {
			return err
		}
	}
	history, err := s.history(ctx, j)
	j.messages = s.payload(j, history)
	return err
}

// leadParts are what stands before the history, and what comes beside the messages.
func leadParts(j *job) []PreviewPart {
	var parts []PreviewPart
	for i, m := range j.lead {
		kind := PreviewInstructions
		if i == 0 {
			kind = PreviewPrompt
		}
		parts = append(parts, PreviewPart{Kind: kind, Role: string(m.Role), Tokens: llm.EstimateTokens(m.Content), Content: m.Content})
	}
	if len(j.tools) > 0 {
		p := PreviewPart{Kind: PreviewTools}
		names := make([]string, len(j.tools))
		for i, t := range j.tools {
			names[i] = t.Spec().Name
			p.Tokens += toolTokens(t)
		}
		p.Content = strings.Join(names, ", ")
		parts = append(parts, p)
	}
	if out := j.agent.Output; j.agent.Structured && out != nil {
		schema := string(out.Schema)
		parts = append(parts, PreviewPart{Kind: PreviewOutput, Tokens: llm.EstimateTokens(schema), Content: schema})
	}
	return parts
}

// historyParts are the parts of the history with their texts.
func historyParts(j *job) []PreviewPart {
	parts := make([]PreviewPart, 0, len(j.context.Parts))
	at := 0
	for _, p := range j.context.Parts {
		out := PreviewPart{Kind: p.Kind, Key: p.Key, First: p.First, Last: p.Last, Tokens: p.Tokens}
		of := j.context.Messages[at:min(at+p.Messages, len(j.context.Messages))]
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
