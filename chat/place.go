package chat

import (
	"context"
	"errors"

	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/store"
)

// place is where a turn goes back to in its session. The messages after it are hidden, as a
// branch of the session.
type place struct {
	// after is the message that the turn follows, nil if it goes on where the session is.
	after *int64
	// before is the number of a message: the model sees only the messages before it. With 0 it
	// sees all of them.
	before int64
	// message is the stored message that is answered again.
	message message
}

func placeAfter(seq, before int64) place { return place{after: &seq, before: before} }

// maxPath bounds the ids of a request's Path that are looked up.
const maxPath = 8

// place finds where the turn goes back to.
func (s *preparer) place(ctx context.Context, p prepared) (place, error) {
	path := p.request.asked.Path
	path = path[:min(len(path), maxPath)]
	switch {
	case p.session.isNew():
		return place{}, nil
	case p.request.asked.Regenerate:
		return s.again(ctx, p, path)
	case len(path) > 0 && p.session.willAnswer(path[0]):
		return place{}, notTheUsers()
	}
	for i, id := range path {
		m, before, err := s.o.Store.FindMessage(ctx, p.session.stored.ID, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			return place{}, err
		case i > 0:
			return s.following(ctx, p, m.Seq)
		case m.Type == store.MessageUser:
			return placeAfter(before, m.Seq), nil
		}
		return place{}, notTheUsers()
	}
	return place{}, nil
}

func notTheUsers() error {
	return &InputError{"messageId", "messageId names a message that is not the user's: only messages of the user can be edited"}
}

// following returns the place after a message, if anything was said after it.
func (s *preparer) following(ctx context.Context, p prepared, seq int64) (place, error) {
	later, err := s.o.Store.Messages(ctx, p.session.stored.ID, store.MessageFilter{AfterSeq: seq, Limit: 1, Types: []string{store.MessageUser, store.MessageAssistant}})
	if err != nil || len(later) == 0 {
		return place{}, err
	}
	return placeAfter(seq, seq+1), nil
}

// again returns the place of the message to answer again: the first of the path that the session
// has, or the user's message before that one, else the session's last message of the user.
func (s *preparer) again(ctx context.Context, p prepared, path []string) (place, error) {
	f := store.MessageFilter{Last: 1, Types: []string{store.MessageUser}, Parts: true}
	for _, id := range path {
		m, _, err := s.o.Store.FindMessage(ctx, p.session.stored.ID, id)
		if err == nil {
			f.BeforeSeq = m.Seq + 1
			break
		}
		if !errors.Is(err, store.ErrNotFound) {
			return place{}, err
		}
	}
	rows, err := s.o.Store.Messages(ctx, p.session.stored.ID, f)
	if err != nil {
		return place{}, err
	}
	if len(rows) == 0 || rows[0].Content == nil {
		return place{}, &InputError{"regenerate", "the session has no message that could be answered again"}
	}
	at := placeAfter(rows[0].Seq, rows[0].Seq)
	at.message.id, at.message.text = rows[0].ID, *rows[0].Content
	at.message.parts, err = partsOf(&rows[0])
	return at, err
}

// SwitchBranch makes the newest branch with a message of the caller's session its current
// branch. A run that waits for an answer is over then, as with a new message. ErrBusy: a
// turn is under way.
func (s *Service) SwitchBranch(ctx context.Context, sessionID, messageID string) error {
	if s.o.Store == nil {
		return ErrNoRuns
	}
	caller, err := store.Writer(ctx)
	if err != nil {
		return err
	}
	key := sessions.Key{Tenant: caller.TenantID, User: caller.OwnerOf(sessionID), Session: sessionID}
	if err := s.runs.sessions.Take(ctx, key, sessions.Claim{RunID: s.o.NewID(), Cancel: func(error) {}}); err != nil {
		return err
	}
	defer s.runs.sessions.Done()
	defer s.runs.sessions.Release(key)
	if _, _, err := s.o.Store.FindMessage(ctx, sessionID, messageID); !errors.Is(err, store.ErrNotFound) {
		return err // it is on the current branch
	}
	if _, err := s.o.Store.Messages(ctx, sessionID, store.MessageFilter{Branch: messageID, Last: 1}); err != nil {
		return err
	}
	runs, _, err := s.o.Store.Runs(ctx, store.RunFilter{
		SessionID: sessionID, Statuses: []string{store.RunRunning, store.RunWaiting, store.RunInterrupted}, Limit: maxPath,
	})
	if err == nil {
		err = s.stages.settle(ctx, runs)
	}
	if err != nil {
		return err
	}
	return s.o.Store.SwitchBranch(ctx, sessionID, messageID)
}
