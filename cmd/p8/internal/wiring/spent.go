package wiring

import (
	"context"
	"errors"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// The session that stores the usage of questions outside of any session.
const (
	questionsID   = "questions"
	questionsName = "Questions in plain words"
)

// KeepSpent returns what stores the usage of questions that no run counts: in the caller's
// session if it exists, else in one of their own.
func KeepSpent(s *store.Store, log interface{ Warn(string, ...any) }) func(context.Context, []run.Spent) {
	return keepSpent(s, log, store.Session{ID: questionsID, Name: questionsName, Mode: store.ModeQuestions})
}

// keepSpent is KeepSpent with another session for what belongs to none.
func keepSpent(s *store.Store, log interface{ Warn(string, ...any) }, otherwise store.Session) func(context.Context, []run.Spent) {
	return func(ctx context.Context, parts []run.Spent) {
		ctx = context.WithoutCancel(ctx)
		id, err := identity.From(ctx)
		if err == nil {
			err = store.ErrNotFound
			if id.SessionID != "" {
				err = s.Append(ctx, shares(parts, id.SessionID)...)
			}
			if errors.Is(err, store.ErrNotFound) {
				err = s.BeginTurn(ctx, otherwise, shares(parts, otherwise.ID)...)
			}
		}
		if err != nil {
			log.Warn("the usage of a model could not be stored", "error", err)
		}
	}
}

func shares(parts []run.Spent, session string) []*store.Message {
	rows := make([]*store.Message, len(parts))
	for i := range parts {
		rows[i] = memory.Share(&parts[i], session)
	}
	return rows
}
