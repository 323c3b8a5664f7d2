package converse

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/sessions"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/store"
)

// memory prints what the next turn sends.
func (r *repl) memory(string) error {
	p, err := r.Chat.Preview(r.Ctx, r.id.SessionID, r.id.AgentSchemaURI)
	if errors.Is(err, store.ErrNotFound) {
		r.note("nothing was said in this session yet")
		return nil
	}
	if err != nil {
		return turns.Explain(r.Runner.Parts, err)
	}
	r.lines(append(sessions.PreviewLines(p, r.Screen.Pen), "")...)
	return nil
}

func (r *repl) timeline(n string) error {
	limit, err := number(n, 20, 500)
	if err != nil {
		return err
	}
	list, err := sessions.ReadTimeline(r.Ctx, r.Store, r.id.SessionID, limit)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	if err != nil {
		return err
	}
	r.table(sessions.TimelineGrid(list), "nothing happened in this session yet")
	return nil
}

// number parses an argument; otherwise is the value of "".
func number(text string, otherwise, most int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is no number from 1 to %d", show.OneLine(text), most)
	}
	return n, nil
}

func (r *repl) moments(kind string) error {
	found, err := (&sessions.MomentsList{Type: kind, Limit: 20}).Find(r.Ctx, r.Store)
	if err != nil {
		return err
	}
	none := "there are no moments yet: /compact makes them from this session"
	if kind != "" {
		none = "no moments match"
	}
	r.table(sessions.MomentGrid(found), none)
	return nil
}

func (r *repl) compact(n string) error {
	threshold, err := number(n, 200, 1_000_000)
	if err != nil {
		return err
	}
	b, err := r.Remembering()
	if err != nil {
		return err
	}
	ctx, over := r.interruptible()
	built, err := b.Build(ctx, r.id.SessionID, threshold)
	over()
	if err != nil && ctx.Err() != nil {
		r.note("stopped")
		return nil
	}
	if errors.Is(err, store.ErrNotFound) {
		r.note("nothing was said in this session yet")
		return nil
	}
	if err != nil {
		return err
	}
	r.lines(append(sessions.BuiltLines(built), "")...)
	return nil
}

func (r *repl) remind(argument string) error {
	name, when, _ := strings.Cut(argument, " ")
	if name == "" || strings.TrimSpace(when) == "" {
		return errors.New("say what and when: /remind stand-up 0 9 * * 1-5, or /remind tea 2026-02-21T16:00")
	}
	s, err := r.Reminding()
	if err != nil {
		return err
	}
	made, err := s.Remind(r.Ctx, reminder.Request{Name: name, Description: name, When: strings.TrimSpace(when)})
	if err != nil {
		return sessions.ExplainReminder(err)
	}
	r.note("%s", sessions.RemindedLine(made))
	return nil
}
