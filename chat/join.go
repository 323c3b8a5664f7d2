package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/telemetry"
)

// repeated returns the run that an earlier request with the same key began; nil if the key is
// new.
func (s *Service) repeated(ctx context.Context, r request) (*Turn, error) {
	if r.asked.Key == "" || s.o.Store == nil {
		return nil, nil
	}
	was, err := s.o.Store.RunByKey(ctx, r.asked.Key)
	if errors.Is(err, store.ErrNotFound) {
		return s.steeredBefore(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	if was.KeyHash != r.asked.KeyHash {
		return nil, ErrKeyReused
	}
	t, _, err := s.Open(ctx, was.ID)
	return t, err
}

// continued resumes the session's run that waits for the results of the client's tools;
// nil if the request brings none.
func (s *Service) continued(ctx context.Context, r request) (*Turn, error) {
	if len(r.asked.Results) == 0 || s.o.Store == nil || !r.sessionNamed {
		return nil, nil
	}
	sessionID := r.caller.SessionID
	runs, _, err := s.o.Store.Runs(ctx, store.RunFilter{SessionID: sessionID, Statuses: []string{store.RunWaiting, store.RunInterrupted}, Limit: 1})
	if err != nil {
		return nil, ignore(err, store.ErrNotFound)
	}
	if len(runs) == 0 {
		_, err := s.o.Store.Session(ctx, sessionID)
		switch isNew := errors.Is(err, store.ErrNotFound); {
		case isNew && len(r.asked.History) > 0:
			return nil, nil // the client keeps its own history
		case err != nil && !isNew:
			return nil, err
		}
		return nil, &InputError{"messages", "no run of this session waits for the results of tools; send a message"}
	}
	if runs[0].Author != r.caller.Guest() {
		return nil, errNotYours
	}
	choice := r.asked.ToolChoice // not its address: r would be on the heap in every turn
	return s.resume(ctx, runs[0].ID, r.asked.Results, r.steering(s.o.NewID), &choice)
}

// steer gives the message to the session's run that is under way. It returns nil if the
// request does not steer, if no run is under way, or if the run reads no further messages.
func (s *Service) steer(ctx context.Context, r request) (*Turn, error) {
	if r.asked.Busy != BusySteer {
		return nil, nil
	}
	running, ok := s.runs.sessions.Of(r.key())
	if !ok {
		return nil, nil
	}
	if running.caller.UserID != r.caller.UserID {
		return nil, nil // the tools of the run have another person's rights
	}
	t := &running.first
	run := store.Run{ID: t.RunID, SessionID: t.SessionID}
	err := s.say(ctx, running.inbox, &run, t.Agent, r.steering(s.o.NewID))
	if errors.Is(err, errInbox) || errors.Is(err, store.ErrRunTaken) {
		return nil, nil // the run has ended, or reads no further messages
	}
	if err != nil {
		return nil, err
	}
	return running.turn(running.log.Last()), nil
}

// errNotYours: the run is another person's turn in a shared session.
var errNotYours = fmt.Errorf("%w: another person's turn waits for these results, and only that person may send them", store.ErrForbidden)

// steering returns the request's message for a run that exists.
func (r *request) steering(newID func() string) message {
	id := newID()
	if r.asked.Key != "" {
		id = keyedRow(r.caller, r.asked.Key)
	}
	return message{id: id, text: r.message.text}
}

// errInbox: the run reads no further messages, has too many that it has not read, or has
// this one.
var errInbox = fmt.Errorf("chat: the run does not take the message: %w", ErrOverloaded)

// say stores a message of the user to a run of this process, and then gives it to the run,
// so that it is not lost. If it is unknown whether the message was stored, a request that
// is repeated with its key finds out, in steeredBefore.
func (s *Service) say(ctx context.Context, inbox *sessions.Inbox, r *store.Run, agent string, m message) error {
	if !inbox.Hold(m.id) {
		return errInbox
	}
	var err error
	if s.o.Store != nil {
		row := record.Steering(r, agent, m.id, m.text, s.o.Now())
		row.TraceID, row.SpanID = telemetry.IDs(ctx)
		_, err = s.o.Store.WriteRun(ctx, store.RunWrite{RunID: r.ID, Process: s.o.Process, Messages: []*store.Message{row}})
		if isFailure(err) {
			if _, missing := s.o.Store.Message(ctx, m.id); missing == nil {
				err = nil // only the answer was lost
			}
		}
	}
	inbox.Give(m.id, m.text, err == nil)
	return err
}

// keyedRow derives the row id of a steering message from the request's key, so that a
// repeated request writes the same row.
func keyedRow(caller identity.Identity, key string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(caller.TenantID+"\x00"+caller.UserID+"\x00steer\x00"+key)).String()
}

// steeredBefore returns the run that an earlier request with the same key steered; nil if the key
// is new.
func (s *Service) steeredBefore(ctx context.Context, r request) (*Turn, error) {
	if r.asked.Busy != BusySteer || len(r.asked.Results) > 0 {
		return nil, nil
	}
	row, err := s.o.Store.Message(ctx, keyedRow(r.caller, r.asked.Key))
	if err != nil {
		return nil, ignore(err, store.ErrNotFound)
	}
	if row.Content == nil || *row.Content != r.message.text {
		return nil, ErrKeyReused
	}
	if running, ok := s.runs.sessions.Run(row.RunID); ok {
		running.inbox.PutOnce(row.ID, r.message.text) // the run lacks it if the store's reply was lost
	}
	t, _, err := s.Open(ctx, row.RunID)
	return t, err
}
