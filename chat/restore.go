package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// restore makes the second stage of the run from the store: the saved request, the journal
// and the session.
func (s *preparer) restore(ctx context.Context, caller identity.Identity, from *resumed) (prepared, error) {
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
	if p, err = s.withCast(ctx, p, name, s.pinned(ctx, &from.run, name, p.request)); err != nil {
		return p, err
	}
	if from.choice != nil {
		if err := checkChoice(*from.choice, &p.cast); err != nil {
			return p, err
		}
		p.request.asked.ToolChoice = *from.choice
	} else if asked(from.journal) {
		p.request.asked.ToolChoice = p.request.asked.ToolChoice.Later()
	}
	return s.rebuild(ctx, p, from.journal, from.unread)
}

// pinned finds the version of the agent that the run began with, which may have changed since.
// A version that is gone, or another agent's turn, is left to the catalog.
func (s *preparer) pinned(ctx context.Context, r *store.Run, name string, req request) named {
	keeper, ok := s.o.Catalog.(Keeper)
	if !ok || r.AgentHash == "" || r.AgentName != name || req.asked.Document != nil {
		return named{}
	}
	a, err := keeper.Version(ctx, name, r.AgentHash)
	if err != nil {
		return named{}
	}
	return named{name: name, agent: a}
}

// reread restores the request of the run, and the name of its agent.
func (s *preparer) reread(caller identity.Identity, r *store.Run) (p prepared, agentName string, err error) {
	var was saved
	if err := json.Unmarshal(r.Request, &was); err != nil {
		return p, "", fmt.Errorf("chat: read the request of a run: %w", err)
	}
	// The store has checked the caller; the rest of the identity is as it was.
	was.Identity.TenantID, was.Identity.SessionID, was.Identity.KeyID = caller.TenantID, r.SessionID, was.KeyID
	if r.Author == "" { // a guest's turn keeps the guest's rights, whoever resumes it
		was.Identity.UserID = caller.UserID
	}
	req := request{
		caller: was.Identity, sessionNamed: was.SessionNamed, model: was.Model, runID: r.ID, answerID: r.MessageID, started: r.CreatedAt, resumed: true, trace: was.Trace,
		asked: Request{
			Agent: was.Agent, Model: was.Model, Instruction: was.Instruction, Settings: was.Settings,
			ClientTools: was.ClientTools, ToolChoice: was.ToolChoice, ResponseFormat: was.ResponseFormat, History: was.History, Protocol: r.Protocol,
		},
	}
	if req.clientTools, err = newClientTools(was.ClientTools, r.Protocol); err != nil {
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
func (s *preparer) rebuild(ctx context.Context, p prepared, journal *record.Journal, unread *sessions.Inbox) (prepared, error) {
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
	if p, err = s.withState(ctx, p); err != nil {
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

// readSteering puts into the inbox the messages that came in while the run was under way
// and that its model has not seen.
func (s *preparer) readSteering(ctx context.Context, p prepared, after int64, journal *record.Journal, unread *sessions.Inbox) error {
	rows, err := s.o.Store.Messages(ctx, p.session.stored.ID, store.MessageFilter{AfterSeq: after, Types: []string{store.MessageUser}})
	if err != nil {
		return err
	}
	seen := map[string]int{} // by text: the run itself sends user messages to its model, too
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
			unread.Read(rows[i].ID)
		} else {
			unread.Put(rows[i].ID, text)
		}
	}
	return nil
}

// readAnswers reads the user's answers to the run's requests; open reports whether one has
// no answer yet.
func (s *preparer) readAnswers(ctx context.Context, runID string, journal *record.Journal) (open bool, err error) {
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
