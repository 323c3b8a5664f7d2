package converse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/completion"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/store"
)

// replCommand is a command of the chat.
type replCommand struct {
	name, args, help string
	run              func(r *repl, argument string) error
	// completes: Tab completes the argument.
	completes bool
	// stored: the command needs a stored session.
	stored bool
}

// replCommands returns the commands in the order of /help.
func replCommands() []replCommand {
	return []replCommand{
		{name: "help", help: "show the commands", run: (*repl).help},
		{name: "agents", args: "[NAME]", help: "list the agents, or change to one", run: (*repl).agents, completes: true},
		{name: "sessions", args: "[ID]", help: "list your sessions, or continue one", run: (*repl).sessions, completes: true, stored: true},
		{name: "new", help: "start a new session", run: (*repl).fresh},
		{name: "model", args: "[NAME]", help: "show the model, or change to another, provider:model", run: (*repl).choose},
		{name: "attach", args: "FILE", help: "send an image, a PDF or a text with the next message", run: (*repl).attach},
		{name: "copy", help: "copy the last answer to the clipboard", run: (*repl).copy},
		{name: "thinking", help: "show the reasoning of the last answer", run: (*repl).thinking},
		{name: "memory", help: "show what the next turn sends, with its tokens", run: (*repl).memory},
		{name: "timeline", args: "[N]", help: "show the messages and moments of this session", run: (*repl).timeline, stored: true},
		{name: "moments", args: "[TYPE]", help: "list your newest moments", run: (*repl).moments, stored: true},
		{name: "compact", args: "[TOKENS]", help: "summarise this session since its last moment", run: (*repl).compact, stored: true},
		{name: "remind", args: "NAME WHEN", help: `create a reminder: /remind stand-up 0 9 * * 1-5`, run: (*repl).remind, stored: true},
		{name: "stop", help: "stop the runs of this session that have not ended", run: (*repl).stop, stored: true},
		{name: "quit", help: "end the chat", run: func(*repl, string) error { return errQuit }},
	}
}

// command runs a line that begins with "/".
func (r *repl) command(line string) error {
	name, argument, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	commands := replCommands()
	names := make([]string, len(commands))
	for i, c := range commands {
		if names[i] = c.name; c.name != strings.ToLower(name) {
			continue
		}
		if c.stored && !r.Keeps {
			return errors.New("nothing of this chat is stored, so there is nothing to show")
		}
		return c.run(r, strings.TrimSpace(argument))
	}
	if similar := near.Names(name, names, 2); len(similar) > 0 {
		return fmt.Errorf("there is no command /%s; did you mean /%s?", show.OneLine(name), strings.Join(similar, " or /"))
	}
	return fmt.Errorf("there is no command /%s: /help lists those there are", show.OneLine(name))
}

// complete returns the commands and arguments that Tab completes.
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
		case has && c.name == name && c.completes && !strings.Contains(typed, " "):
			begin = at - len(typed)
			for _, w := range r.words(c) {
				if strings.HasPrefix(w.Text, typed) {
					found = append(found, w.Text)
				}
			}
		}
	}
	return begin, found
}

// words returns the possible arguments of a command for the user.
func (r *repl) words(c replCommand) []completion.Word {
	switch c.name {
	case "agents":
		entries, _ := r.Catalog.List(r.Ctx, "agent")
		list := make([]completion.Word, len(entries))
		for i, e := range entries {
			list[i] = completion.Word{Text: e.Name, Help: e.Description}
		}
		return append(list, completion.Word{Text: routing.Auto, Help: chosenByUs})
	case "sessions":
		list, _ := r.newest(completion.MaxWords)
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
const chosenByUs = "p8 chooses the agent for each message"

func (r *repl) agents(name string) error {
	if name != "" {
		next := r.id
		next.AgentSchemaURI = name
		err := r.become(next)
		if missing := new(catalog.NotFoundError); errors.As(err, &missing) && len(missing.Near) == 0 {
			err = fmt.Errorf("%w: /agents lists those there are", err)
		}
		if err == nil {
			if r.dev != nil {
				r.dev.agent = r.agent
			}
			r.note("%s answers from here on", r.agent)
		}
		return err
	}
	entries, err := r.Catalog.List(r.Ctx, "agent")
	if err != nil {
		return err
	}
	list := func(answers bool, name, description string) {
		mark := "  "
		if answers {
			mark = r.paint(term.Green, "● ")
		}
		r.lines(mark + r.paint(term.Bold, fmt.Sprintf("%-22s", show.OneLine(name))) + " " + r.paint(term.Dim, show.OneLine(description)))
	}
	for _, e := range entries {
		list(slices.Contains(e.Names, r.agent), e.Name, e.Description)
	}
	if !slices.ContainsFunc(entries, func(e catalog.Entry) bool { return e.Name == routing.Auto }) {
		list(r.agent == routing.Auto, routing.Auto, chosenByUs)
	}
	r.lines("")
	return nil
}

func (r *repl) sessions(id string) error {
	if id == "" {
		list, _, err := r.Store.Sessions(r.Ctx, store.SessionFilter{Limit: 20})
		if err != nil {
			return err
		}
		g := show.Grid{Columns: []string{"session", "title", "agent", "messages", "last turn"}}
		for _, s := range list {
			g.Rows = append(g.Rows, []string{s.ID, s.Title, s.AgentName, strconv.FormatInt(s.Messages, 10), show.Local(s.UpdatedAt)})
		}
		r.table(g, "there are no sessions yet")
		return nil
	}
	s, err := r.Store.Session(r.Ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		var ids []string
		known, _ := r.newest(completion.MaxWords)
		for _, w := range known {
			if strings.HasPrefix(w.Text, id) {
				ids = append(ids, w.Text)
			}
		}
		if len(ids) != 1 {
			return fmt.Errorf("there is no session %q: /sessions lists those there are", show.OneLine(id))
		}
		s, err = r.Store.Session(r.Ctx, ids[0])
	}
	if err != nil {
		return err
	}
	if err := r.begin(s.ID); err != nil {
		return err
	}
	r.note("session %s, %s", show.OneLine(s.ID), show.Count(int(s.Messages), "message"))
	return nil
}

// newest returns the newest sessions.
func (r *repl) newest(limit int) ([]completion.Word, error) {
	if !r.Keeps {
		return nil, nil
	}
	found, _, err := r.Store.Sessions(r.Ctx, store.SessionFilter{Limit: limit})
	list := make([]completion.Word, len(found))
	for i, s := range found {
		list[i] = completion.Word{Text: s.ID, Help: s.Title}
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

// stop ends the runs of this session that have not ended.
func (r *repl) stop(string) error {
	runs, _, err := r.Store.Runs(r.Ctx, store.RunFilter{
		SessionID: r.id.SessionID, Statuses: []string{store.RunRunning, store.RunWaiting, store.RunInterrupted}, Limit: 20,
	})
	if err != nil {
		return err
	}
	for _, run := range runs {
		if _, err := r.Chat.Stop(context.WithoutCancel(r.Ctx), run.ID); err != nil {
			return turns.Explain(r.Runner.Parts, err)
		}
	}
	r.note("%s stopped", show.Count(len(runs), "run"))
	return nil
}

// note prints a dim line and an empty one.
func (r *repl) note(format string, args ...any) {
	r.lines(r.paint(term.Dim, fmt.Sprintf(format, args...)), "")
}

// table prints a table, or the text none if it is empty.
func (r *repl) table(g show.Grid, none string) {
	if len(g.Rows) == 0 {
		r.note("%s", none)
		return
	}
	lines := g.Lines()
	lines[0] = r.paint(term.Dim, lines[0])
	r.lines(append(lines, "")...)
}
