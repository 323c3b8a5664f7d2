package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/recovery"
	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// Resume resumes a run that was interrupted, or that waits and has all its answers. It
// repeats no tool call whose result is known.
func (s *Service) Resume(ctx context.Context, runID string) (*Turn, error) {
	return s.resume(ctx, runID, nil, "")
}

// resume also gives the run the results of the client's tools, and a message of the user.
func (s *Service) resume(ctx context.Context, runID string, results []ToolResult, text string) (*Turn, error) {
	if s.o.Store == nil {
		return nil, ErrNoRuns
	}
	caller, err := identity.From(ctx)
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
	caller.SessionID = r.SessionID
	from := &resumed{run: r, journal: new(record.Journal), unread: new(sessions.Inbox)}
	if open, err := s.readAnswers(ctx, r.ID, from.journal); err != nil {
		return nil, err
	} else if open {
		return nil, ErrNotResumable
	}
	for _, x := range results {
		from.journal.Give(x.ToolCallID, tool.Result{Content: x.Content, Failed: x.Failed})
	}
	claim := sessions.Claim{RunID: r.ID, IdempotencyKey: r.Key}
	running, err := s.launch(ctx, caller, claim, func(ctx context.Context) (prepared, *resumed, error) {
		p, err := s.takeUp(ctx, caller, from, text)
		return p, from, err
	})
	if err != nil {
		return nil, err
	}
	return running.turn(from.run.LastSeq), nil
}

// takeUp claims the run and restores its second stage. A run that cannot be resumed after
// all is given back as it was. text is what the user says to it, "" for nothing.
func (s *Service) takeUp(ctx context.Context, caller identity.Identity, from *resumed, text string) (prepared, error) {
	was := from.run
	claimed, err := s.o.Store.ClaimRun(ctx, was.ID, s.o.Owner)
	if errors.Is(err, store.ErrNotOwner) {
		return prepared{}, ErrNotResumable
	}
	if err != nil {
		// The claim may have succeeded all the same.
		back := store.RunWrite{RunID: was.ID, Owner: s.o.Owner, Status: was.Status, Reason: was.Reason}
		return prepared{}, errors.Join(err, s.ends.Try(ctx, recovery.End{Caller: caller, Write: back}))
	}
	from.run = claimed
	p, err := s.restore(ctx, caller, from)
	if err == nil {
		err = s.restart(ctx, p, from, was.Status)
	}
	if err == nil && was.Status == store.RunWaiting && !from.journal.UsesResults() {
		err = &InputError{"messages", "no call of this session waits for these results; give each the id of the call that it answers"}
	}
	if err == nil && text != "" {
		row := s.steeringRow(was.ID, was.SessionID, p.cast.Name, s.o.NewID(), text)
		if _, err = s.o.Store.WriteRun(ctx, store.RunWrite{RunID: was.ID, Owner: s.o.Owner, Messages: []*store.Message{row}}); err == nil {
			from.unread.Put(row.ID, text)
		}
	}
	if err == nil {
		return p, nil
	}
	back := store.RunWrite{RunID: was.ID, Status: was.Status, Reason: was.Reason, Attempted: was.Status == store.RunInterrupted}
	if p.request.runID != "" {
		caller = p.caller
	}
	return p, errors.Join(err, s.ends.Tell(ctx, recovery.End{Caller: caller, Write: back}))
}

// restart takes back what the run said of a step that it makes again. The event is stored
// before anybody reads on, so that later readers never see that text.
func (s *Service) restart(ctx context.Context, p prepared, from *resumed, was string) error {
	e, err := recovery.Restart(ctx, s.o.Store, &from.run, was, p.cast.Name, p.cast.Script != nil)
	if e == nil || err != nil {
		return err
	}
	_, err = s.o.Store.WriteRun(ctx, store.RunWrite{
		RunID: e.RunID, Owner: s.o.Owner, Events: []store.RunEvents{{First: e.Seq, Last: e.Seq, Data: event.AppendLog(nil, e)}},
	})
	from.restarted = e.Seq
	return err
}

// restore makes the second stage of the run from what is stored: what it was asked, the
// journal, the session.
func (s *Service) restore(ctx context.Context, caller identity.Identity, from *resumed) (prepared, error) {
	p, name, err := s.reread(caller, &from.run)
	if err != nil {
		return p, err
	}
	ctx = identity.With(ctx, p.caller)
	entries, err := s.o.Store.RunJournal(ctx, from.run.ID)
	if err != nil {
		return p, err
	}
	successor, err := from.journal.Load(entries)
	if err != nil {
		return p, err
	}
	if successor != "" {
		p.request.asked.Document, name = nil, successor
	}
	if p, err = s.withCast(ctx, p, name, named{}); err != nil {
		return p, err
	}
	return s.rebuild(ctx, p, from.journal, from.unread)
}

// reread is what the run was asked, and the name of its agent.
func (s *Service) reread(caller identity.Identity, r *store.Run) (p prepared, agentName string, err error) {
	var was saved
	if err := json.Unmarshal(r.Request, &was); err != nil {
		return p, "", fmt.Errorf("chat: read the request of a run: %w", err)
	}
	// The store has checked the caller; the rest of the identity is as it was.
	was.Identity.TenantID, was.Identity.UserID, was.Identity.SessionID = caller.TenantID, caller.UserID, r.SessionID
	req := request{
		caller: was.Identity, sessionNamed: was.SessionNamed, model: was.Model, runID: r.ID, answerID: r.MessageID, started: r.CreatedAt, resumed: true,
		asked: Request{
			Agent: was.Agent, Model: was.Model, Instruction: was.Instruction, Settings: was.Settings,
			ClientTools: was.ClientTools, ResponseFormat: was.ResponseFormat, History: was.History, Protocol: r.Protocol,
		},
	}
	if req.clientTools, err = newClientTools(was.ClientTools); err != nil {
		return p, "", err
	}
	if len(was.Document) > 0 {
		if req.asked.Document, err = agent.Parse("the request's document", was.Document); err != nil {
			return p, "", err
		}
	}
	p = prepared{request: req, caller: was.Identity, message: message{id: r.InReplyTo}, auto: was.Auto}
	return p, was.Agent, nil
}

// rebuild makes the payload that the run began with, and finds the messages that steer it.
func (s *Service) rebuild(ctx context.Context, p prepared, journal *record.Journal, unread *sessions.Inbox) (prepared, error) {
	var before int64
	if p.message.id != "" {
		row, err := s.o.Store.Message(ctx, p.message.id)
		switch {
		case errors.Is(err, store.ErrNotFound): // a run of tool results alone has none
		case err != nil:
			return p, err
		default:
			before = row.Seq
			if row.Content != nil {
				p.message.text = *row.Content
			}
			if p.message.parts, err = partsOf(&row); err != nil {
				return p, err
			}
		}
	}
	var err error
	if p.session, err = s.readSession(ctx, p, p.cast.Agent, max(before, 1)); err != nil {
		return p, err
	}
	if err := s.readSteering(ctx, p, before, journal, unread); err != nil {
		return p, err
	}
	if len(p.request.asked.History) > 0 {
		p, _, err = s.withSent(p)
		return p, err
	}
	return s.withSession(ctx, p)
}

// readSteering puts the messages that came in while the run was under way, and that its
// model has not seen, into the inbox.
func (s *Service) readSteering(ctx context.Context, p prepared, after int64, journal *record.Journal, unread *sessions.Inbox) error {
	rows, err := s.o.Store.Messages(ctx, p.session.stored.ID, store.MessageFilter{AfterSeq: after, Types: []string{store.MessageUser}})
	if err != nil {
		return err
	}
	seen := map[string]int{} // the run speaks to its model as the user, too
	for _, e := range journal.Entries(journal.Thread()) {
		if e.Message != nil && e.Message.Role == llm.User {
			seen[e.Message.Content]++
		}
	}
	for i := range rows {
		if rows[i].RunID != p.request.runID || rows[i].Content == nil {
			continue
		}
		if text := *rows[i].Content; seen[text] > 0 {
			seen[text]--
		} else {
			unread.Put(rows[i].ID, text)
		}
	}
	return nil
}

// readAnswers reads the user's answers to the run's requests; open reports whether one has
// no answer yet.
func (s *Service) readAnswers(ctx context.Context, runID string, journal *record.Journal) (open bool, err error) {
	filter := store.RequestFilter{RunID: runID}
	for {
		page, next, err := s.o.Store.Requests(ctx, filter)
		if err != nil {
			return false, err
		}
		if journal.Decide(page) {
			open = true
		}
		if next == "" {
			return open, nil
		}
		filter.Cursor = next
	}
}

// said is what a run said before it was resumed.
func (s *Service) said(ctx context.Context, r *store.Run) iter.Seq2[event.Event, error] {
	return recovery.Said(ctx, s.o.Store, r, 0)
}
