package dream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/p8-org/p8/store"
)

// The states of a turn.
const (
	stateOpen   = "open"
	stateDone   = "done"
	stateFailed = "failed"
)

// record is the state of a turn, in the metadata of its dreaming session.
type record struct {
	window
	Agent string `json:"agent"`
	State string `json:"state"`
	// Attempt counts the runs: a failed one is followed by another.
	Attempt  int      `json:"attempt"`
	Keys     []string `json:"keys,omitempty"`
	Saved    int      `json:"saved,omitempty"`
	IOTokens int      `json:"io_tokens,omitempty"`
}

const recordKey = "dream"

// recordOf reads the record of a session; ok is false if it has none.
func recordOf(s *store.Session) (r record, ok bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(s.Metadata, &all) != nil || all[recordKey] == nil {
		return r, false
	}
	return r, json.Unmarshal(all[recordKey], &r) == nil && !r.Until.IsZero()
}

// sessionID returns the id of the session of an agent's turn about a window, the same
// on every process.
func (d *dream) sessionID(agent string, until time.Time) string {
	return "dream-" + store.EntityID("dreams", agent+" "+until.UTC().Format(time.RFC3339Nano), d.who.TenantID+" "+d.who.UserID)
}

// key returns the idempotency key of the record's run, hash the hash of its request.
func (r record) key(session string) string { return session + "-" + strconv.Itoa(r.Attempt) }

func (r record) hash() string {
	sum := sha256.Sum256([]byte(r.Agent + " " + r.From.Format(time.RFC3339Nano) + " " + r.Until.Format(time.RFC3339Nano)))
	return hex.EncodeToString(sum[:])
}

// note writes a record into its session, and makes the session.
func (d *dream) note(ctx context.Context, id string, r record) error {
	metadata, err := json.Marshal(map[string]record{recordKey: r})
	if err != nil {
		return err
	}
	return d.o.Store.PutSession(ctx, store.Session{
		ID: id, Name: "dreaming-" + r.Until.Format(time.DateOnly), Mode: Mode, AgentName: r.Agent, Metadata: metadata,
	})
}

// past is the state that earlier dreams left.
type past struct {
	// last is the end of the last finished window.
	last time.Time
	// begun is true if this window was begun before.
	begun bool
	// open is an unfinished window, nil for none.
	open *window
	// sessions are those whose moments are no material: of dreams, and of evaluations.
	sessions map[string]bool
}

const (
	// maxPast bounds the dreaming sessions, and those of evaluations, that are read.
	maxPast = 100
	// openFor is how long an unfinished dream may be resumed.
	openFor = 7 * 24 * time.Hour
)

// recall reads the state that earlier dreams left.
func (d *dream) recall(ctx context.Context) (past, error) {
	p := past{sessions: map[string]bool{}}
	list, _, err := d.o.Store.Sessions(ctx, store.SessionFilter{Mode: Mode, Limit: maxPast})
	if err != nil {
		return p, err
	}
	for i := range list {
		p.sessions[list[i].ID] = true
		r, ok := recordOf(&list[i])
		if !ok || r.Agent != AgentUserModel && !d.dreams(r.Agent) {
			continue
		}
		if r.State == stateOpen && p.open == nil && d.window.Until.Sub(r.Until) < openFor {
			begun, err := d.hasRun(ctx, list[i].ID, r)
			if err != nil {
				return p, err
			}
			if begun {
				p.open, p.begun = &r.window, true
			}
		}
	}
	evaluations, _, err := d.o.Store.Sessions(ctx, store.SessionFilter{Mode: store.ModeEvaluation, Limit: maxPast})
	if err != nil {
		return p, err
	}
	for i := range evaluations {
		p.sessions[evaluations[i].ID] = true
	}
	until := d.window.Until
	if p.open != nil {
		until = p.open.Until
	}
	for i := range list {
		r, ok := recordOf(&list[i])
		switch {
		case !ok || r.State != stateDone || !d.dreams(r.Agent):
		case r.Until.Equal(until):
			p.begun = true
		case r.Until.After(p.last):
			p.last = r.Until // a job may have waited while a later window was dreamt
		}
	}
	return p, nil
}

func (d *dream) dreams(agent string) bool { return slices.Contains(d.agents, agent) }

// hasRun reports whether the run of a record was begun and may still have an answer.
func (d *dream) hasRun(ctx context.Context, session string, r record) (bool, error) {
	run, err := d.o.Store.RunByKey(ctx, r.key(session))
	if err != nil {
		return false, missing(err)
	}
	return run.Status == store.RunRunning || run.Status == store.RunInterrupted || run.Status == store.RunCompleted, nil
}

// attempt returns the record to continue with, from the session's record.
func (d *dream) attempt(ctx context.Context, id, agent string) (record, error) {
	r := record{window: d.window, Agent: agent, State: stateOpen, Attempt: 1}
	sess, err := d.o.Store.Session(ctx, id)
	if err != nil {
		return r, missing(err)
	}
	before, ok := recordOf(&sess)
	switch {
	case !ok:
	case before.State == stateFailed:
		r.Attempt = before.Attempt + 1
	default:
		r = before
		r.Attempt = cmp.Or(r.Attempt, 1)
	}
	return r, nil
}
