package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// Requests lists the requests of the caller's runs to their user.
func (s *Service) Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error) {
	if s.o.Store == nil {
		return nil, "", ErrNoRuns
	}
	return s.o.Store.Requests(ctx, f)
}

// Request returns a request of one of the caller's runs.
func (s *Service) Request(ctx context.Context, id string) (store.RunRequest, error) {
	if s.o.Store == nil {
		return store.RunRequest{}, ErrNoRuns
	}
	return s.o.Store.Request(ctx, id)
}

// Decide answers a request. The Turn is the run that is resumed with the answer. It is nil
// while other requests of the run are open, or while the run still executes the rest of
// its step: it then goes on by itself.
//
// The error is store.ErrDecided if the request has an answer already. If the process that
// stored the answer did not resume the run, because the store's reply was lost, Decide does.
func (s *Service) Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, *Turn, error) {
	r, err := s.decide(ctx, id, d)
	if errors.Is(err, store.ErrDecided) {
		if _, failed := s.goOn(ctx, r.RunID, nil); failed != nil {
			return r, nil, failed
		}
	}
	if err != nil {
		return r, nil, err
	}
	t, err := s.goOn(ctx, r.RunID, nil)
	if t == nil && err == nil {
		t = s.takenUp(ctx, &r)
	}
	return r, t, err
}

// takenUp returns the turn of a run that another caller resumed as soon as the request had its
// answer; nil if the run has not paused yet: it then goes on by itself.
func (s *Service) takenUp(ctx context.Context, r *store.RunRequest) *Turn {
	here, ok := s.runs.sessions.RunReady(ctx, r.RunID)
	if !ok || !here.since.After(r.CreatedAt) {
		return nil
	}
	return here.turn(here.after)
}

// decide checks an answer against the request's schema, and stores it. With an error it
// returns the request as it was before.
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
	decided, err := s.o.Store.Decide(ctx, id, d)
	if err != nil {
		return r, err
	}
	return decided, nil
}

// checkAnswer validates an answer by the schema of its request.
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

// goOn resumes the run if it has all its answers; nil if it does not, or is under way.
func (s *Service) goOn(ctx context.Context, runID string, results []ToolResult) (*Turn, error) {
	t, err := s.resume(ctx, runID, results, message{}, nil)
	if errors.Is(err, ErrNotResumable) || errors.Is(err, ErrBusy) {
		return nil, nil
	}
	return t, err
}

// answerAll decides requests of the session's waiting run.
func (s *Service) answerAll(ctx context.Context, r request) (*Turn, error) {
	runID := ""
	for _, a := range r.asked.Answers {
		asked, err := s.Request(ctx, a.RequestID)
		if err != nil {
			return nil, err
		}
		if r.sessionNamed && asked.SessionID != r.caller.SessionID || runID != "" && asked.RunID != runID {
			return nil, fmt.Errorf("request %w", store.ErrNotFound)
		}
		runID = asked.RunID
	}
	// An open request keeps the run from being resumed. With the last answer, another caller
	// may resume it first, and the log then grows: the client has only what is in it now.
	was, err := s.o.Store.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	for _, a := range r.asked.Answers {
		// A request that was decided elsewhere stays as it is.
		if _, err := s.decide(ctx, a.RequestID, a.Decision); err != nil && !errors.Is(err, store.ErrDecided) {
			return nil, err
		}
	}
	return s.goOnWith(ctx, runID, was.LastSeq, r.asked.Results)
}

// If another caller resumed the run with the answers alone, goOnWith waits until the run
// pauses again, to give it the results: at most resultTries times resultPause.
const (
	resultTries = 100
	resultPause = 20 * time.Millisecond
)

// goOnWith resumes a run whose requests have their answers, and gives it the results of the
// client's tools. The run may resume itself first, with the answers alone: the caller then
// reads it from the event after past. If it lacks the results, it pauses again. If the
// session stays busy with another run, the error is ErrBusy: the client has to send the
// results again.
func (s *Service) goOnWith(ctx context.Context, runID string, past int64, results []ToolResult) (*Turn, error) {
	for tries := 0; ; tries++ {
		t, err := s.goOn(ctx, runID, results)
		if err != nil {
			return nil, err
		}
		if t != nil {
			if tries > 0 {
				t.Past = past
			}
			return t, nil
		}
		// A run that another caller is about to resume still waits in the store.
		s.runs.sessions.RunReady(ctx, runID)
		t, stored, err := s.Open(ctx, runID)
		if err != nil {
			return nil, err
		}
		t.Past = past
		rests := stored.Status == store.RunWaiting || stored.Status == store.RunInterrupted
		if len(results) == 0 || !rests && stored.Status != store.RunRunning {
			return t, nil
		}
		if tries == resultTries {
			return nil, ErrBusy
		}
		if open, err := s.stages.readAnswers(ctx, runID, new(record.Journal)); open || err != nil {
			return t, err
		}
		if stored.Status != store.RunInterrupted {
			if _, err := t.Wait(ctx); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(resultPause):
		}
	}
}
