package chat

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat/internal/prompt"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// session is the session of a turn, as it was read.
type session struct {
	// stored is the stored row merged with what the request says about the session;
	// change is the part of its metadata that this turn stores.
	stored store.Session
	change json.RawMessage
	// recalled is what the store recalled, as the agent recalledFor wants it.
	recalled    store.Recalled
	recalledFor *agent.Agent
}

// isNew reports whether the turn creates the session.
func (s session) isNew() bool { return s.stored.CreatedAt.IsZero() }

// with adds to the metadata, here and in what is stored.
func (s session) with(add json.RawMessage) (session, error) {
	metadata, _, err := store.MergeObjects(s.stored.Metadata, add)
	if err != nil {
		return s, err
	}
	change, _, err := store.MergeObjects(s.change, add)
	if err != nil {
		return s, err
	}
	s.stored.Metadata, s.change = metadata, change
	return s, nil
}

// maxMetadata bounds the metadata of a session, in bytes: every prompt of a flat agent
// contains them.
const maxMetadata = 16 << 10

// readSession reads the session as far as the agent may need it, up to the message before,
// 0 for all of it. The agent may be nil, if it is not known yet.
func (s *preparer) readSession(ctx context.Context, p prepared, a *agent.Agent, before int64) (session, error) {
	var out session
	if s.o.Store != nil && (p.request.sessionNamed || prompt.Nested(a)) {
		var err error
		if out, err = s.recall(ctx, p, a, before); err != nil {
			return out, err
		}
	}
	out.stored = out.recalled.Session
	out.stored.ID = p.request.caller.SessionID
	out.stored.Name = cmp.Or(p.request.asked.SessionName, out.stored.Name)
	out, err := out.with(p.request.metadata)
	if err == nil && len(p.request.metadata) > 0 && len(memory.Note(out.stored.Metadata, false)) > maxMetadata {
		err = &InputError{"session_metadata", "the session's metadata would be larger than 16 KiB"}
	}
	return out, err
}

// recall reads the session again, as the agent wants it.
func (s *preparer) recall(ctx context.Context, p prepared, a *agent.Agent, before int64) (session, error) {
	q := s.prompts.Policy(a).Query(p.request.caller.SessionID)
	q.BeforeSeq, q.Runs = before, !p.request.resumed
	q.User = (p.auto || prompt.Nested(a)) && !p.caller.Anonymous()
	out, err := p.session, error(nil)
	out.recalled, err = s.o.Store.Recall(ctx, q)
	out.recalledFor = a
	return out, err
}
