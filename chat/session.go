package chat

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// readSession reads the session as far as the turn may need it, before a message
// unless that is 0, and fills in what the request says about it.
func (s *Service) readSession(ctx context.Context, j *job, before int64) error {
	said, err := sessionMetadata(j.req.SessionMetadata)
	if err != nil {
		return err
	}
	if s.o.Store != nil && (j.named || nested(j.agent)) {
		if err := s.recall(ctx, j, before); err != nil {
			return err
		}
	}
	j.session, j.said = j.past.Session, nil
	j.session.ID = j.SessionID
	j.session.Name = cmp.Or(j.req.SessionName, j.session.Name)
	if err = j.note(said); err == nil && len(said) > 0 && len(memory.Note(j.session.Metadata, false)) > maxMetadata {
		err = &InputError{"session_metadata", "the session's metadata would be larger than 16 KiB"}
	}
	return err
}

// note adds to the session's metadata, here and where they are stored.
func (j *job) note(add json.RawMessage) error {
	metadata, _, err := store.MergeObjects(j.session.Metadata, add)
	if err != nil {
		return err
	}
	said, _, err := store.MergeObjects(j.said, add)
	if err == nil {
		j.session.Metadata, j.said = metadata, said
	}
	return err
}

// changes is what the turn stores of its session: not what it only read, which
// somebody may have changed meanwhile.
func (j *job) changes() store.Session {
	return store.Session{ID: j.SessionID, Name: j.req.SessionName, AgentName: j.name, Mode: j.session.Mode, Metadata: j.said}
}

// recall reads the session, with what the turn's agent wants of it.
func (s *Service) recall(ctx context.Context, j *job, before int64) (err error) {
	q := s.policy(j.agent).Query(j.SessionID)
	q.BeforeSeq, q.Runs = before, j.before == nil
	q.User = (j.auto || nested(j.agent)) && !j.who.Anonymous()
	j.past, err = s.o.Store.Recall(ctx, q)
	j.recalled = j.agent
	return err
}

// nested reports whether the agent's prompt names the user.
func nested(a *agent.Agent) bool { return a != nil && a.Document.Dialect == agent.Nested }

// maxMetadata bounds what is said about a session: it stands in every prompt of
// a flat agent.
const maxMetadata = 16 << 10

func sessionMetadata(m map[string]any) (json.RawMessage, error) {
	if len(m) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, &InputError{"session_metadata", "the session's metadata cannot be written as JSON"}
	}
	return raw, nil
}
