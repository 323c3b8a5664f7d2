package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// Requests lists what runs of the caller ask.
func (s *Service) Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error) {
	if s.o.Store == nil {
		return nil, "", ErrNoRuns
	}
	return s.o.Store.Requests(ctx, f)
}

// Request is one of them.
func (s *Service) Request(ctx context.Context, id string) (store.RunRequest, error) {
	if s.o.Store == nil {
		return store.RunRequest{}, ErrNoRuns
	}
	return s.o.Store.Request(ctx, id)
}

// Decide answers a request, for whoever asks with the right identity. The Turn is
// the run that goes on with it, nil while other requests of it are open, or while
// it is still at the rest of its step: it goes on by itself then.
func (s *Service) Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, *Turn, error) {
	r, err := s.decide(ctx, id, d)
	if err != nil {
		return r, nil, err
	}
	t, err := s.goOn(ctx, r.RunID, nil)
	if t == nil && err == nil {
		t = s.takenUp(ctx, &r)
	}
	return r, t, err
}

// takenUp is the turn of a run that somebody else took up as soon as the request had
// its answer; nil when the run has not come to its pause yet: it goes on by itself.
func (s *Service) takenUp(ctx context.Context, r *store.RunRequest) *Turn {
	t := s.slots.runReady(ctx, r.RunID)
	if t == nil || !t.began.After(r.CreatedAt) {
		return nil
	}
	return t.join(t.after)
}

// decide checks an answer against what was asked, and records it.
func (s *Service) decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, error) {
	r, err := s.Request(ctx, id)
	if err != nil {
		return r, err
	}
	if d.Status == store.RequestAccepted && len(r.Schema) > 0 {
		if len(d.Content) == 0 {
			d.Content = []byte("{}")
		}
		if err := checkAnswer(ctx, r.Schema, d.Content); err != nil {
			return r, err
		}
	}
	return s.o.Store.Decide(ctx, id, d)
}

// checkAnswer holds an answer against the schema that the question came with.
func checkAnswer(ctx context.Context, schema, content []byte) error {
	err := tool.ValidateAnswer(ctx, schema, content)
	var said *tool.Error
	switch {
	case errors.As(err, &said):
		return &InputError{"content", said.Message}
	case err != nil:
		return fmt.Errorf("chat: check an answer: %w", err)
	}
	return nil
}

// goOn takes the run up when it has all its answers; nil when it has not, or is
// at it.
func (s *Service) goOn(ctx context.Context, runID string, results []ToolResult) (*Turn, error) {
	t, err := s.resume(ctx, runID, results, "")
	if errors.Is(err, ErrNotResumable) || errors.Is(err, ErrBusy) {
		return nil, nil
	}
	return t, err
}

// answerAll is a request that decides requests of the session's waiting run.
func (s *Service) answerAll(ctx context.Context, req Request) (*Turn, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	runID := ""
	for _, a := range req.Answers {
		r, err := s.Request(ctx, a.RequestID)
		if err != nil {
			return nil, err
		}
		if who.SessionID != "" && r.SessionID != who.SessionID || runID != "" && r.RunID != runID {
			return nil, fmt.Errorf("request %w", store.ErrNotFound)
		}
		runID = r.RunID
	}
	for _, a := range req.Answers {
		// One that was decided elsewhere stays as it was decided.
		if _, err := s.decide(ctx, a.RequestID, a.Decision); err != nil && !errors.Is(err, store.ErrDecided) {
			return nil, err
		}
	}
	t, err := s.goOn(ctx, runID, req.Results)
	if t != nil || err != nil {
		return t, err
	}
	t, r, err := s.Open(ctx, runID)
	if err != nil {
		return nil, err
	}
	return t.join(r.LastSeq), nil // what it says next, if anything
}
