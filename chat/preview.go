package chat

import (
	"context"
	"errors"

	"p8/llm"
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
	// Role is that of its messages, "" for what is no message.
	Role string `json:"role,omitempty"`
	// Key is what LOOKUP finds it by; First and Last are the numbers of its rows.
	Key    string `json:"key,omitempty"`
	First  int64  `json:"first_seq,omitempty"`
	Last   int64  `json:"last_seq,omitempty"`
	Tokens int    `json:"tokens"`
	// Content is its text.
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
// the one that would answer. store.ErrNotFound for a session that is not the caller's.
func (s *Service) Preview(ctx context.Context, sessionID, agent string) (Preview, error) {
	return Preview{}, errors.ErrUnsupported
}
