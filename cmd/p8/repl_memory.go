package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/store"
)

// memory shows what the next turn sends.
func (r *repl) memory(string) error {
	p, err := r.chat.Preview(r.ctx, r.id.SessionID, r.id.AgentSchemaURI)
	if errors.Is(err, store.ErrNotFound) {
		r.note("nothing was said in this session yet")
		return nil
	}
	if err != nil {
		return r.explain(err)
	}
	r.lines(append(contextLines(p, r.screen.pen), "")...)
	return nil
}

func (r *repl) timeline(n string) error {
	limit, err := number(n, 20, 500)
	if err != nil {
		return err
	}
	list, err := timeline(r.ctx, r.store, r.id.SessionID, limit)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	if err != nil {
		return err
	}
	r.table(timelineGrid(list), "nothing happened in this session yet")
	return nil
}

// number is an argument, or what stands for none.
func number(text string, otherwise, most int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is no number from 1 to %d", oneLine(text), most)
	}
	return n, nil
}

func (r *repl) moments(kind string) error {
	found, _, err := r.store.Moments().Find(r.ctx, (&momentsListCmd{Type: kind, Limit: 20}).filter())
	if err != nil {
		return err
	}
	r.table(momentGrid(found), "there is no such moment yet")
	return nil
}

func (r *repl) compact(n string) error {
	threshold, err := number(n, 200, 1_000_000)
	if err != nil {
		return err
	}
	b, err := r.remembering()
	if err != nil {
		return err
	}
	built, err := b.Build(r.ctx, r.id.SessionID, threshold)
	if errors.Is(err, store.ErrNotFound) {
		r.note("nothing was said in this session yet")
		return nil
	}
	if err != nil {
		return err
	}
	r.lines(append(builtLines(built), "")...)
	return nil
}

func (r *repl) remind(argument string) error {
	name, when, _ := strings.Cut(argument, " ")
	if name == "" || strings.TrimSpace(when) == "" {
		return errors.New("say what and when: /remind stand-up 0 9 * * 1-5, or /remind tea 2026-02-21T16:00")
	}
	s, err := r.reminding()
	if err != nil {
		return err
	}
	made, err := s.Remind(r.ctx, reminder.Request{Name: name, Description: name, When: strings.TrimSpace(when)})
	if err != nil {
		return explainReminder(err)
	}
	r.note("%s", remindedLine(made))
	return nil
}
