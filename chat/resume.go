package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// Resume takes up a run that was interrupted, or that waits and has all its
// answers. It calls no tool again whose result is known.
func (s *Service) Resume(ctx context.Context, runID string) (*Turn, error) {
	return s.resume(ctx, runID, nil, "")
}

// resume also gives the run the results of the client's tools, and what the user
// says to them.
func (s *Service) resume(ctx context.Context, runID string, results []ToolResult, text string) (*Turn, error) {
	if s.o.Store == nil {
		return nil, ErrNoRuns
	}
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.o.Store.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	if r.Status != store.RunWaiting && r.Status != store.RunInterrupted {
		return nil, ErrNotResumable
	}
	who.SessionID = r.SessionID
	j := &job{
		Turn: &Turn{
			RunID: r.ID, SessionID: r.SessionID, MessageID: r.MessageID, InReplyTo: r.InReplyTo, Protocol: r.Protocol, key: r.Key,
		},
		who: who, started: r.CreatedAt, before: &r,
		key: sessionKey{who.TenantID, who.UserID, r.SessionID},
	}
	if open, err := s.answers(ctx, j); err != nil {
		return nil, err
	} else if open {
		return nil, ErrNotResumable
	}
	j.journal.give(results)
	t, err := s.launch(ctx, j, func(ctx context.Context, j *job) error { return s.takeUp(ctx, j, text) })
	if err != nil {
		return nil, err
	}
	return t.join(j.before.LastSeq), nil
}

// takeUp claims the run and puts together what it had. One that cannot go on
// after all is left as it was. text is what the user says to it, "" for nothing.
func (s *Service) takeUp(ctx context.Context, j *job, text string) error {
	was := j.before.Status
	claimed, err := s.o.Store.ClaimRun(ctx, j.RunID, s.o.Owner)
	if errors.Is(err, store.ErrNotOwner) {
		return ErrNotResumable
	}
	if err != nil {
		// It may be ours all the same.
		return errors.Join(err, s.tellEnd(ctx, lastWrite{who: j.who, write: store.RunWrite{RunID: j.RunID, Owner: s.o.Owner, Status: was, Reason: j.before.Reason}}))
	}
	reason := j.before.Reason
	j.before = &claimed
	err = s.restore(ctx, j, &claimed)
	if err == nil {
		err = s.restart(ctx, j, was)
	}
	if err == nil && was == store.RunWaiting && len(j.journal.results) > 0 && !j.journal.waitsFor() {
		err = &InputError{"messages", "no call of this session waits for these results; give each the id of the call that it answers"}
	}
	if err == nil && text != "" {
		row := j.steeringRow(s, s.o.NewID(), text)
		if _, err = s.o.Store.WriteRun(ctx, store.RunWrite{RunID: j.RunID, Owner: s.o.Owner, Messages: []*store.Message{row}}); err == nil {
			j.inbox.put(row.ID, text)
		}
	}
	if err == nil {
		return nil
	}
	back := store.RunWrite{RunID: j.RunID, Status: was, Reason: reason, Attempted: was == store.RunInterrupted}
	return errors.Join(err, s.letGo(ctx, j.who, back))
}

// restore puts together what the run had: what it was asked, the payload, the
// journal.
func (s *Service) restore(ctx context.Context, j *job, r *store.Run) error {
	var was saved
	if err := json.Unmarshal(r.Request, &was); err != nil {
		return fmt.Errorf("chat: read the request of a run: %w", err)
	}
	// Who goes on with it was checked by the store; the rest is as it was.
	was.Identity.TenantID, was.Identity.UserID, was.Identity.SessionID = j.who.TenantID, j.who.UserID, r.SessionID
	j.who, j.asked, j.named, j.auto = was.Identity, was.Asked, was.Named, was.Auto
	ctx = identity.With(ctx, j.who)
	j.req = Request{
		Agent: was.Agent, Model: was.Asked, Instruction: was.Instruction, Settings: was.Settings,
		ClientTools: was.ClientTools, ResponseFormat: was.ResponseFormat, History: was.History, Protocol: r.Protocol,
	}
	var err error
	if len(was.Document) > 0 {
		if j.req.Document, err = agent.Parse("the request's document", was.Document); err != nil {
			return err
		}
	}
	entries, err := s.o.Store.RunJournal(ctx, j.RunID)
	if err != nil {
		return err
	}
	name := j.req.Agent
	took, err := j.journal.load(entries)
	if err != nil {
		return err
	}
	if took != "" {
		j.req.Document, name = nil, took
	}
	if err := s.equip(ctx, j, name); err != nil {
		return err
	}
	j.Agent, j.Model = j.name, j.modelName
	return s.rebuild(ctx, j)
}

// rebuild makes the payload that the run began with, and finds what came in for
// it since.
func (s *Service) rebuild(ctx context.Context, j *job) error {
	var before int64
	if j.InReplyTo != "" {
		row, err := s.o.Store.Message(ctx, j.InReplyTo)
		switch {
		case errors.Is(err, store.ErrNotFound): // a run of tool results alone has none
		case err != nil:
			return err
		default:
			before = row.Seq
			if row.Content != nil {
				j.input = *row.Content
			}
			if j.req.Parts, err = partsOf(&row); err != nil {
				return err
			}
		}
	}
	if err := s.readSession(ctx, j, max(before, 1)); err != nil {
		return err
	}
	if err := s.steered(ctx, j, before); err != nil {
		return err
	}
	var history []llm.Message
	var err error
	if len(j.req.History) > 0 {
		history, _, err = s.brought(j)
	} else {
		history, err = s.history(ctx, j)
	}
	j.messages = s.payload(j, history)
	return err
}

// steered puts the messages that came in while the run was running, and that it
// has not read, into its inbox.
func (s *Service) steered(ctx context.Context, j *job, after int64) error {
	rows, err := s.o.Store.Messages(ctx, j.SessionID, store.MessageFilter{AfterSeq: after, Types: []string{store.MessageUser}})
	if err != nil {
		return err
	}
	read := map[string]int{} // the run speaks to its model as the user, too
	for _, e := range j.journal.Entries(j.journal.thread()) {
		if e.Message != nil && e.Message.Role == llm.User {
			read[e.Message.Content]++
		}
	}
	for i := range rows {
		if rows[i].RunID != j.RunID || rows[i].Content == nil {
			continue
		}
		if text := *rows[i].Content; read[text] > 0 {
			read[text]--
		} else {
			j.inbox.put(rows[i].ID, text)
		}
	}
	return nil
}

// partsOf are the images and documents of a row.
func partsOf(row *store.Message) (parts []llm.Part, err error) {
	if len(row.Parts) > 0 {
		err = json.Unmarshal(row.Parts, &parts)
	}
	return parts, err
}

// answers reads what the user said to the run's requests; open reports whether
// one has no answer yet.
func (s *Service) answers(ctx context.Context, j *job) (open bool, err error) {
	filter := store.RequestFilter{RunID: j.RunID}
	for {
		page, next, err := s.o.Store.Requests(ctx, filter)
		if err != nil {
			return false, err
		}
		if j.journal.decided(page) {
			open = true
		}
		if next == "" {
			return open, nil
		}
		filter.Cursor = next
	}
}
