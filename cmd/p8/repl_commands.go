package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/store"
)

// replCommand is something that a person may ask of the chat itself.
type replCommand struct {
	name, args, help string
	run              func(r *repl, argument string) error
	// words complete the argument.
	words func(a *app) []word
	// stored: it needs a session that is stored.
	stored bool
}

// replCommands are in the order of /help.
func replCommands() []replCommand {
	return []replCommand{
		{name: "help", help: "show the commands", run: (*repl).help},
		{name: "agents", args: "[NAME]", help: "list the agents, or go on with one", run: (*repl).agents, words: (*app).agentWords},
		{name: "sessions", args: "[ID]", help: "list your sessions, or go on with one", run: (*repl).sessions, words: (*app).sessionWords, stored: true},
		{name: "new", help: "begin a new session", run: (*repl).fresh},
		{name: "model", args: "[NAME]", help: "show the model, or go on with another, provider:model", run: (*repl).choose},
		{name: "memory", help: "show what the next turn sends, and what it takes", run: (*repl).memory},
		{name: "timeline", args: "[N]", help: "show the messages and moments of this session", run: (*repl).timeline, stored: true},
		{name: "moments", args: "[TYPE]", help: "list your newest moments", run: (*repl).moments, stored: true},
		{name: "compact", args: "[TOKENS]", help: "sum up what this session has said", run: (*repl).compact, stored: true},
		{name: "remind", args: "NAME WHEN", help: `be reminded: /remind stand-up 0 9 * * 1-5`, run: (*repl).remind, stored: true},
		{name: "stop", help: "end the runs of this session that wait", run: (*repl).stop, stored: true},
		{name: "quit", help: "end the chat", run: func(*repl, string) error { return errQuit }},
	}
}

// command does what a line that begins with "/" says.
func (r *repl) command(line string) error {
	name, argument, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	commands := replCommands()
	names := make([]string, len(commands))
	for i, c := range commands {
		if names[i] = c.name; c.name != strings.ToLower(name) {
			continue
		}
		if c.stored && !r.kept {
			return errors.New("nothing of this chat is stored, so there is nothing to show")
		}
		return c.run(r, strings.TrimSpace(argument))
	}
	if near := agent.Near(name, names, 2); len(near) > 0 {
		return fmt.Errorf("there is no command /%s; did you mean /%s?", oneLine(name), strings.Join(near, " or /"))
	}
	return fmt.Errorf("there is no command /%s: /help lists those there are", oneLine(name))
}

// complete is what Tab finds: commands, and what their arguments may be.
func (r *repl) complete(text string, at int) (begin int, found []string) {
	head := text[:at]
	if !strings.HasPrefix(head, "/") {
		return 0, nil
	}
	name, typed, has := strings.Cut(head[1:], " ")
	for _, c := range replCommands() {
		switch {
		case !has && strings.HasPrefix(c.name, name):
			found = append(found, "/"+c.name)
		case has && c.name == name && c.words != nil && !strings.Contains(typed, " "):
			begin = at - len(typed)
			for _, w := range r.words(c) {
				if strings.HasPrefix(w.text, typed) {
					found = append(found, w.text)
				}
			}
		}
	}
	return begin, found
}

// words are what an argument may be, of the one who is talking.
func (r *repl) words(c replCommand) []word {
	switch c.name {
	case "agents":
		entries, _ := r.catalog.List(r.ctx, "agent")
		list := make([]word, len(entries))
		for i, e := range entries {
			list[i] = word{e.Name, e.Description}
		}
		return append(list, word{routing.Auto, chosenByUs})
	case "sessions":
		list, _ := r.newest(completed)
		return list
	}
	return nil
}

func (r *repl) help(string) error {
	for _, c := range replCommands() {
		usage := "/" + c.name
		if c.args != "" {
			usage += " " + c.args
		}
		r.lines(r.paint(term.Cyan, fmt.Sprintf("%-20s", usage)) + c.help)
	}
	r.lines("", r.paint(term.Dim, `A line that ends in \, Alt-Enter or a paste makes a text of several lines.`),
		r.paint(term.Dim, "Tab completes, Ctrl-R looks back, Ctrl-C stops an answer, Ctrl-D ends the chat."), "")
	return nil
}

// chosenByUs describes the agent auto.
const chosenByUs = "p8 chooses who answers, by what the documents say of themselves"

func (r *repl) agents(name string) error {
	if name != "" {
		next := r.id
		next.AgentSchemaURI = name
		err := r.become(next)
		if missing := new(catalog.NotFoundError); errors.As(err, &missing) && len(missing.Near) == 0 {
			err = fmt.Errorf("%w: /agents lists those there are", err)
		}
		if err == nil {
			r.note("%s answers from here on", r.agent)
		}
		return err
	}
	entries, err := r.catalog.List(r.ctx, "agent")
	if err != nil {
		return err
	}
	show := func(answers bool, name, description string) {
		mark := "  "
		if answers {
			mark = r.paint(term.Green, "● ")
		}
		r.lines(mark + r.paint(term.Bold, fmt.Sprintf("%-22s", oneLine(name))) + " " + r.paint(term.Dim, oneLine(description)))
	}
	for _, e := range entries {
		show(slices.Contains(e.Names, r.agent), e.Name, e.Description)
	}
	if !slices.ContainsFunc(entries, func(e catalog.Entry) bool { return e.Name == routing.Auto }) {
		show(r.agent == routing.Auto, routing.Auto, chosenByUs)
	}
	r.lines("")
	return nil
}

func (r *repl) sessions(id string) error {
	if id == "" {
		list, _, err := r.store.Sessions(r.ctx, store.SessionFilter{Limit: 20})
		if err != nil {
			return err
		}
		g := grid{columns: []string{"session", "name", "agent", "messages", "last turn"}}
		for _, s := range list {
			g.rows = append(g.rows, []string{s.ID, s.Name, s.AgentName, strconv.FormatInt(s.Messages, 10), local(s.UpdatedAt)})
		}
		r.table(g, "there is no session yet")
		return nil
	}
	s, err := r.store.Session(r.ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		var ids []string
		known, _ := r.newest(completed)
		for _, w := range known {
			if strings.HasPrefix(w.text, id) {
				ids = append(ids, w.text)
			}
		}
		if len(ids) != 1 {
			return fmt.Errorf("there is no session %q: /sessions lists those there are", oneLine(id))
		}
		s, err = r.store.Session(r.ctx, ids[0])
	}
	if err != nil {
		return err
	}
	if err := r.begin(s.ID); err != nil {
		return err
	}
	r.note("session %s, %s", oneLine(s.ID), count(int(s.Messages), "message"))
	return nil
}

// newest are the sessions that were used last.
func (r *repl) newest(limit int) ([]word, error) {
	if !r.kept {
		return nil, nil
	}
	found, _, err := r.store.Sessions(r.ctx, store.SessionFilter{Limit: limit})
	list := make([]word, len(found))
	for i, s := range found {
		list[i] = word{s.ID, s.Name}
	}
	return list, err
}

func (r *repl) fresh(string) error {
	if err := r.begin(""); err != nil {
		return err
	}
	r.note("new session %s", r.id.SessionID)
	return nil
}

func (r *repl) choose(name string) error {
	if name == "" {
		r.note("%s", r.model)
		return nil
	}
	next := r.id
	next.DefaultModel = name
	if err := r.become(next); err != nil {
		return err
	}
	r.note("%s answers from here on", r.model)
	return nil
}

// stop ends what waits in this session.
func (r *repl) stop(string) error {
	runs, _, err := r.store.Runs(r.ctx, store.RunFilter{
		SessionID: r.id.SessionID, Statuses: []string{store.RunRunning, store.RunWaiting, store.RunInterrupted}, Limit: 20,
	})
	if err != nil {
		return err
	}
	for _, run := range runs {
		if _, err := r.chat.Stop(context.WithoutCancel(r.ctx), run.ID); err != nil {
			return r.explain(err)
		}
	}
	r.note("%s stopped", count(len(runs), "run"))
	return nil
}

// note is a quiet line, and an empty one.
func (r *repl) note(format string, args ...any) {
	r.lines(r.paint(term.Dim, fmt.Sprintf(format, args...)), "")
}

// table prints rows, or that there are none.
func (r *repl) table(g grid, none string) {
	if len(g.rows) == 0 {
		r.note("%s", none)
		return
	}
	lines := gridLines(g)
	lines[0] = r.paint(term.Dim, lines[0])
	r.lines(append(lines, "")...)
}
