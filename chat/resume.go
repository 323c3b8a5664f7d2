package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"p8/agent"
	"p8/identity"
	"p8/llm"
	"p8/memory"
	"p8/store"
)

// Resume takes up a run that was interrupted, or that waits and has all its
// answers. It calls no tool again whose result is known.
func (s *Service) Resume(ctx context.Context, runID string) (*Turn, error) {
	return s.resume(ctx, runID, nil)
}

// resume also gives the run the results of the client's tools.
func (s *Service) resume(ctx context.Context, runID string, results []ToolResult) (*Turn, error) {
	if s.o.Store == nil {
		return nil, ErrNoRuns
	}
	r, err := s.o.Store.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	if r.Status != store.RunWaiting && r.Status != store.RunInterrupted {
		return nil, ErrNotResumable
	}
	j, err := s.restore(ctx, r)
	if err != nil {
		return nil, err
	}
	j.journal.give(results)
	t, err := s.launch(ctx, j, s.takeUp)
	if err != nil {
		return nil, err
	}
	return t.join(j.before.LastSeq), nil
}

// restore is the job of a run as it was begun.
func (s *Service) restore(ctx context.Context, r store.Run) (*job, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	var was saved
	if err := json.Unmarshal(r.Request, &was); err != nil {
		return nil, fmt.Errorf("chat: read the request of a run: %w", err)
	}
	// Who goes on with it was checked by the store; the rest is as it was.
	was.Identity.TenantID, was.Identity.UserID = who.TenantID, who.UserID
	was.Identity.SessionID = r.SessionID
	j := &job{Turn: new(Turn), who: was.Identity, asked: was.Asked, named: was.Named, started: r.CreatedAt, before: &r}
	j.req = Request{
		Agent: was.Agent, Model: was.Asked, Instruction: was.Instruction, Settings: was.Settings,
		ClientTools: was.ClientTools, ResponseFormat: was.ResponseFormat, History: was.History, Protocol: r.Protocol,
	}
	if len(was.Document) > 0 {
		if j.req.Document, err = agent.Parse("the request's document", was.Document); err != nil {
			return nil, err
		}
	}
	j.RunID, j.MessageID, j.InReplyTo = r.ID, r.MessageID, r.InReplyTo
	j.SessionID, j.Protocol, j.Turn.key = r.SessionID, r.Protocol, r.Key
	j.key = sessionKey{who.TenantID, who.UserID, r.SessionID}
	return j, nil
}

// takeUp claims the run and puts together what it had: the payload, the journal,
// the answers of the user.
func (s *Service) takeUp(ctx context.Context, j *job) error {
	entries, err := s.o.Store.RunJournal(ctx, j.RunID)
	if err != nil {
		return err
	}
	took, err := j.journal.load(entries)
	if err != nil {
		return err
	}
	if open, err := s.answers(ctx, j); err != nil {
		return err
	} else if open {
		return ErrNotResumable
	}
	if err := s.readSession(ctx, j); err != nil {
		return err
	}
	name := j.req.Agent
	if took != "" {
		j.req.Document, name = nil, took
	}
	if err := s.equip(ctx, j, name); err != nil {
		return err
	}
	j.Agent, j.Model = j.name, j.modelName
	if j.user, err = s.readUser(ctx, j); err != nil {
		return err
	}
	if err := s.recall(ctx, j); err != nil {
		return err
	}
	claimed, err := s.o.Store.ClaimRun(ctx, j.RunID, s.o.Owner)
	if errors.Is(err, store.ErrNotOwner) {
		return ErrNotResumable
	}
	j.before = &claimed
	return err
}

// recall makes the payload that the run began with, and finds what came in for
// it since.
func (s *Service) recall(ctx context.Context, j *job) error {
	var history []llm.Message
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
			if err := s.steered(ctx, j, row.Seq); err != nil {
				return err
			}
		}
	}
	var err error
	if len(j.req.History) > 0 {
		history, _, err = s.brought(j)
	} else {
		history, err = s.history(ctx, j, max(before, 1))
	}
	j.messages = s.payload(j, j.user, history)
	return err
}

// steered puts the messages that came in while the run was running, and that it
// has not read, into its inbox.
func (s *Service) steered(ctx context.Context, j *job, after int64) error {
	rows, err := s.o.Store.Messages(ctx, j.SessionID, store.MessageFilter{AfterSeq: after, Types: []string{store.MessageUser}})
	if err != nil {
		return err
	}
	read := 0
	for _, e := range j.journal.Entries("") {
		if e.Message != nil && e.Message.Role == llm.User {
			read++
		}
	}
	for i := range rows {
		if rows[i].RunID != j.RunID || rows[i].Content == nil {
			continue
		}
		if read--; read < 0 {
			j.inbox.put(llm.Message{Role: llm.User, Content: *rows[i].Content})
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

var _ memory.Source = upTo{}
