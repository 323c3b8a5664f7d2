package chat

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// inThread returns the request in the session of its thread. A session that the address
// names belongs to the first thread that writes to it; any other thread is a session of
// its own, with the thread's id.
func (s *Service) inThread(ctx context.Context, r request) (request, error) {
	thread := r.asked.Thread
	if thread == "" || thread == r.caller.SessionID || len(r.asked.Answers) > 0 {
		return r, nil
	}
	if r.caller.SessionID != "" && s.o.Store != nil {
		sess, err := s.o.Store.Session(ctx, r.caller.SessionID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return r, err
		}
		if !OfOtherThread(sess.Metadata, thread) {
			claim, err := json.Marshal(map[string]string{memory.NoteThread: thread})
			if err != nil {
				return r, err
			}
			r.metadata, _, err = store.MergeObjects(r.metadata, claim)
			return r, err
		}
	}
	r.caller.SessionID, r.sessionNamed = thread, true
	return r, nil
}

// OfOtherThread reports whether a session with the metadata belongs to another thread.
func OfOtherThread(metadata json.RawMessage, thread string) bool {
	var all map[string]json.RawMessage
	if json.Unmarshal(metadata, &all) != nil {
		return false
	}
	var owner string
	return json.Unmarshal(all[memory.NoteThread], &owner) == nil && owner != "" && owner != thread
}
