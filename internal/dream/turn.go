package dream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

const (
	// maxResumes bounds the resumptions of a run within one dream.
	maxResumes = 3
	// maxAttempts bounds the runs of an agent about one window.
	maxAttempts = 3
)

// failed is a turn without an answer, worded for a client. A later dream of the window
// tries again.
type failed struct{ message string }

func (f *failed) Error() string { return f.message }

// turn runs the agent's turn about the window, in a session of its own, unless it is
// done. keep stores the run's answer, adds its outcome to the record, and may be
// called again. A [failed] is recorded; any other error leaves the turn open, to be
// resumed.
func (d *dream) turn(ctx context.Context, agent, input, instruction string, keep func(chat.Result, *record) error) (r record, id string, err error) {
	id = d.sessionID(agent, d.window.Until)
	if r, err = d.attempt(ctx, id, agent); err != nil || r.State == stateDone {
		return r, id, err
	}
	if r.Attempt > maxAttempts {
		return r, id, &failed{fmt.Sprintf("%d runs about this time failed", maxAttempts)}
	}
	if err := d.note(ctx, id, r); err != nil {
		return r, id, err
	}
	who := identity.Identity{
		TenantID: d.who.TenantID, UserID: d.who.UserID, Email: d.who.Email, Name: d.who.Name, Role: d.who.Role,
		SessionID: id, DefaultModel: d.who.DefaultModel,
	}
	result, err := d.run(identity.With(ctx, who), chat.Request{
		Agent: agent, Input: input, Instruction: instruction, Key: r.key(id), KeyHash: r.hash(),
	})
	r.IOTokens += result.Usage.InputTokens + result.Usage.OutputTokens
	if err == nil {
		err = keep(result, &r)
	}
	var why *failed
	switch {
	case err == nil:
		r.State = stateDone
	case errors.As(err, &why):
		r.State = stateFailed
	default:
		return r, id, err
	}
	return r, id, errors.Join(err, d.note(ctx, id, r))
}

// run starts the run of the request's key, or resumes it.
func (d *dream) run(ctx context.Context, req chat.Request) (chat.Result, error) {
	known, err := d.o.Store.RunByKey(ctx, req.Key)
	if missing(err) != nil {
		return chat.Result{}, err
	}
	for range maxResumes {
		var t *chat.Turn
		err = chat.ErrNotResumable
		if known.Status == store.RunInterrupted {
			t, err = d.o.Chat.Resume(ctx, known.ID)
		}
		if errors.Is(err, chat.ErrNotResumable) { // no run was begun yet, or it is running
			t, err = d.o.Chat.Start(ctx, req)
		}
		if err != nil {
			return chat.Result{}, refused(err)
		}
		result, err := t.Wait(ctx)
		if err != nil {
			return chat.Result{}, err
		}
		if known, err = d.o.Store.Run(ctx, t.RunID); err != nil {
			return chat.Result{}, err
		}
		switch known.Status {
		case store.RunCompleted:
			if result.Reason != event.ReasonStop {
				return result, &failed{"the agent ended without an answer: it reached " + cmp.Or(result.Limit, "a limit")}
			}
			return result, nil
		case store.RunFailed, store.RunCancelled:
			return result, &failed{why(result, "the run was stopped")}
		case store.RunWaiting:
			return result, &failed{"the agent waits for an answer of the user, and nobody answers a dream"}
		}
	}
	return chat.Result{}, errors.New("dream: the run is interrupted again and again")
}

// why returns the text of a failure for the result.
func why(r chat.Result, otherwise string) string {
	if r.Error != nil {
		return r.Error.Message
	}
	return otherwise
}

// refused is a failed turn that a retry would not change, such as an unknown agent.
func refused(err error) error {
	switch d := chat.Describe(err); d.HTTPStatus {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		return &failed{d.Message}
	}
	return fmt.Errorf("dream: %w", err)
}

// saved are the used fields of save_moments' answer.
type saved struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Saved  []struct {
		Key string `json:"key"`
	} `json:"saved"`
}

// second is the second phase: each agent dreams, and its document says how the dream
// is stored. After a failure the next agent still dreams.
func (d *dream) second(ctx context.Context, m *material) error {
	instruction := m.instruction(d.window)
	done := false
	for _, agent := range d.agents {
		r, id, err := d.turn(ctx, agent, d.window.input(toDream), instruction, kept)
		var why *failed
		if err != nil && (!errors.As(err, &why) || ctx.Err() != nil) {
			return err
		}
		d.IOTokens += r.IOTokens
		d.Phase2.IOTokens += r.IOTokens
		d.Phase2.SessionIDs = append(d.Phase2.SessionIDs, id)
		d.Phase2.AgentsRun = append(d.Phase2.AgentsRun, agent)
		if why != nil {
			d.o.Logger.WarnContext(ctx, "an agent could not dream", "agent", agent, "session", id, "error", why)
			d.Phase2.Error = join(d.Phase2.Error, agent+": "+why.message)
			continue
		}
		done = true
		d.Phase2.MomentsSaved += r.Saved
		d.Phase2.Keys = append(d.Phase2.Keys, r.Keys...)
	}
	if d.Phase2.Status = StatusCompleted; !done {
		d.Phase2.Status = StatusFailed
	}
	return nil
}

// kept reads the result of storing a dream's moments.
func kept(result chat.Result, r *record) error {
	if result.ChainedTool == "" {
		return nil // the document stores nothing, or stores it another way
	}
	var answer saved
	if json.Unmarshal(result.ChainedResult, &answer) != nil {
		return nil
	}
	if answer.Error != "" {
		return &failed{"the dreams could not be kept: " + answer.Error}
	}
	for _, m := range answer.Saved {
		r.Keys = append(r.Keys, m.Key)
	}
	r.Saved = len(answer.Saved)
	return nil
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
