package chat

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// continued goes on with the session's run that waits for the results of the
// client's tools; nil when the request is another.
func (s *Service) continued(ctx context.Context, req Request) (*Turn, error) {
	who, err := identity.From(ctx)
	if err != nil || len(req.Results) == 0 || s.o.Store == nil || who.SessionID == "" {
		return nil, err
	}
	runs, _, err := s.o.Store.Runs(ctx, store.RunFilter{SessionID: who.SessionID, Statuses: []string{store.RunWaiting, store.RunInterrupted}, Limit: 1})
	if err != nil {
		return nil, ignore(err, store.ErrNotFound)
	}
	if len(runs) == 0 {
		sess, err := s.o.Store.Session(ctx, who.SessionID)
		switch isNew := errors.Is(err, store.ErrNotFound) || sess.UserID != who.UserID; {
		case isNew && len(req.History) > 0:
			return nil, nil // the client keeps its own history
		case err != nil && !isNew:
			return nil, err
		}
		return nil, &InputError{"messages", "no run of this session waits for the results of tools; send a message"}
	}
	return s.resume(ctx, runs[0].ID, req.Results, req.Input)
}

// steer gives the message to the session's running run; nil when it has none, or
// one that reads no more.
func (s *Service) steer(ctx context.Context, req Request) (*Turn, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	t := s.slots.of(sessionKey{who.TenantID, who.UserID, who.SessionID})
	if t == nil {
		return nil, nil
	}
	text, err := input(req)
	if err != nil {
		return nil, err
	}
	id := s.o.NewID()
	if req.Key != "" {
		id = keyedRow(who, req.Key)
	}
	return t.steer(ctx, s, id, text)
}

// keyedRow is the row of a message that steers, where its request has a key: sent
// again, it is the same.
func keyedRow(who identity.Identity, key string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(who.TenantID+"\x00"+who.UserID+"\x00steer\x00"+key)).String()
}

// steeredBefore is the run that an earlier request with the same key steered; nil
// when there is none.
func (s *Service) steeredBefore(ctx context.Context, req Request) (*Turn, error) {
	who, err := identity.From(ctx)
	if err != nil || req.Busy != BusySteer {
		return nil, err
	}
	row, err := s.o.Store.Message(ctx, keyedRow(who, req.Key))
	if err != nil {
		return nil, ignore(err, store.ErrNotFound)
	}
	if text, err := input(req); err != nil || row.Content == nil || *row.Content != text {
		return nil, ErrKeyReused
	}
	t, _, err := s.Open(ctx, row.RunID)
	return t, err
}

// steer stores the message, so that it is not lost, and then shows it to the run.
func (t *Turn) steer(ctx context.Context, s *Service, id, text string) (*Turn, error) {
	if !t.inbox.hold(id) {
		return nil, nil
	}
	var err error
	if s.o.Store != nil {
		_, err = s.o.Store.WriteRun(ctx, store.RunWrite{
			RunID: t.RunID, Owner: s.o.Owner, Messages: []*store.Message{t.steeringRow(s, id, text)},
		})
	}
	t.inbox.give(id, text, err == nil)
	if errors.Is(err, store.ErrNotOwner) {
		return nil, nil // it has ended meanwhile
	}
	if err != nil {
		return nil, err
	}
	return t.join(t.log.Last()), nil
}

// steeringRow is the row of what the user says to a run that is at it.
func (t *Turn) steeringRow(s *Service, id, text string) *store.Message {
	return &store.Message{
		ID: id, SessionID: t.SessionID, Type: store.MessageUser, Content: &text, AgentName: t.Agent,
		TokenCount: llm.EstimateTokens(text), RunID: t.RunID, CreatedAt: s.o.Now(),
	}
}
