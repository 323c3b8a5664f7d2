package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/routing"
)

// talk runs turns of one session for the person at the terminal.
type talk struct {
	*app
	*parts
	// ctx carries the identity.
	ctx  context.Context
	json bool
	// resume is the command that goes on with a session that the caller did not
	// name, "" when there is nothing to say.
	resume     string
	interrupts chan os.Signal
	// screen is where runs are shown in colour and motion, nil for plain lines.
	screen *screen
	// shown is the view of the last run on the screen.
	shown *view
	// impatient: a second Ctrl-C ends the program at once.
	impatient bool
}

// watchInterrupts turns Ctrl-C and SIGTERM into messages; the result undoes
// it. A closed pipe becomes a failed write instead of a sudden death, so that
// what was said is stored.
func (t *talk) watchInterrupts() func() {
	t.interrupts = make(chan os.Signal, 1)
	signal.Notify(t.interrupts, os.Interrupt, syscall.SIGTERM)
	signal.Ignore(syscall.SIGPIPE)
	return func() {
		signal.Stop(t.interrupts)
		signal.Reset(syscall.SIGPIPE)
	}
}

// once is one turn.
func (t *talk) once(req chat.Request) error {
	turn, err := t.chat.Start(t.ctx, req)
	if err != nil {
		return t.explain(err)
	}
	return t.follow(turn)
}

// follow shows a turn to its end.
func (t *talk) follow(turn *chat.Turn) error {
	t.impatient = true
	done, _, err := t.watch(turn)
	if err != nil {
		return err
	}
	if done.Reason == event.ReasonCancelled {
		return &exitError{exitInterrupted, errors.New("stopped: what was said is kept in the session")}
	}
	if p := t.plain(); p.shared && !p.json && t.resume != "" {
		p.note(t.resume)
	}
	return incomplete(done)
}

// loop is an interactive chat: a line is a turn, Ctrl-C stops a run, Ctrl-D or
// "exit" ends the chat.
func (t *talk) loop(id identity.Identity) error {
	// An agent or a model that is not there is named before anything is typed.
	agent, model, err := t.answering(id)
	if err != nil {
		return err
	}
	t.say("session %s, agent %s, model %s", id.SessionID, agent, model)
	t.say("Ctrl-C stops an answer, Ctrl-D or exit ends the chat")
	lines, next := readLines(t.stdin)
	defer close(next)
	for {
		fmt.Fprint(t.stderr, "> ")
		next <- struct{}{}
		line, ok, signal := t.waitLine(lines)
		switch {
		case !ok && signal != syscall.SIGTERM:
			fmt.Fprintln(t.stderr)
			return nil
		case !ok:
			return nil
		case line == "exit", line == "quit":
			return nil
		case line == "":
			continue
		}
		done, signal, err := t.turn(chat.Request{Input: line})
		if err == nil {
			err = incomplete(done)
		}
		if err != nil {
			t.report(err)
		}
		if signal == syscall.SIGTERM {
			return nil
		}
	}
}

// answering names the agent and the model that somebody asked for.
func (t *talk) answering(id identity.Identity) (name, model string, err error) {
	name = cmp.Or(id.AgentSchemaURI, chat.DefaultAgent)
	if name == routing.Auto {
		model = cmp.Or(id.DefaultModel, t.choice.Model)
		if _, err := t.models.Resolve(model); err != nil {
			return "", "", t.explain(err)
		}
		return name, model, nil
	}
	agent, err := t.catalog.Agent(t.ctx, name)
	if err != nil {
		return "", "", t.explain(err)
	}
	model = chat.ModelName(agent, id.DefaultModel, t.choice.Model)
	if _, err := t.models.Resolve(model); err != nil {
		return "", "", t.explain(err)
	}
	return agent.Document.Key(), model, nil
}

// waitLine is the next line; not ok at the end of the input and on SIGTERM. A
// Ctrl-C at the prompt only says how to leave.
func (t *talk) waitLine(lines <-chan string) (line string, ok bool, by os.Signal) {
	for {
		select {
		case line, ok = <-lines:
			return line, ok, nil
		case by = <-t.interrupts:
			if by != os.Interrupt {
				return "", false, by
			}
			fmt.Fprint(t.stderr, "\nCtrl-D or exit ends the chat.\n> ")
		}
	}
}

// readLines reads a line, trimmed, whenever it is asked for the next one.
func readLines(r io.Reader) (lines <-chan string, next chan<- struct{}) {
	out, ask := make(chan string), make(chan struct{})
	go func() {
		defer close(out)
		in := bufio.NewScanner(r)
		in.Buffer(nil, 1<<20)
		for range ask {
			if !in.Scan() {
				return
			}
			out <- strings.TrimSpace(in.Text())
		}
	}()
	return out, ask
}

// turn starts a turn and shows it to its end. A signal stops the run, which
// keeps what it has said; by is that signal.
func (t *talk) turn(req chat.Request) (done event.DoneData, by os.Signal, err error) {
	turn, err := t.chat.Start(t.ctx, req)
	if err != nil {
		return done, nil, t.explain(err)
	}
	return t.watch(turn)
}

// watch shows a turn that runs.
func (t *talk) watch(turn *chat.Turn) (done event.DoneData, by os.Signal, err error) {
	over := make(chan struct{})
	stopped := make(chan os.Signal, 1)
	go func() {
		select {
		case s := <-t.interrupts:
			turn.Cancel()
			if t.impatient {
				signal.Reset(os.Interrupt, syscall.SIGTERM)
			}
			stopped <- s
		case <-over:
		}
		close(stopped)
	}()
	p := t.shower(turn)
	defer p.close()
	var broken error
	for e, err := range turn.EventsAfter(t.ctx, turn.Past) {
		if err != nil {
			return done, nil, err
		}
		if broken != nil {
			continue
		}
		if broken = p.print(e); broken != nil {
			turn.Cancel()
		}
	}
	_, err = turn.Wait(t.ctx)
	close(over)
	by = <-stopped
	ended, failed := p.outcome()
	switch {
	case err != nil:
		return done, by, err
	case broken != nil:
		return done, by, errors.New("the output cannot be written, so the run was stopped: what was said is kept in the session")
	case failed != nil:
		return done, by, errors.New(failed.Message)
	case ended != nil:
		done = *ended
	}
	return done, by, nil
}

// explain words why a turn could not begin.
func (t *talk) explain(err error) error {
	if name := new(catalog.NameError); errors.As(err, &name) {
		return name
	}
	if missing := new(catalog.NotFoundError); errors.As(err, &missing) {
		return missing
	}
	d := chat.Describe(err)
	if d.Code != event.CodeInternal {
		return errors.New(d.Message)
	}
	t.log.Error("start a turn", "error", err)
	return errors.New("something went wrong inside p8: P8_LOG_LEVEL=error makes it say what")
}

// shower shows a run.
type shower interface {
	print(e event.Event) error
	// outcome is how the run ended, nil for what it did not say.
	outcome() (*event.DoneData, *event.ErrorData)
	close()
}

// shower is one for where the output goes.
func (t *talk) shower(turn *chat.Turn) shower {
	if t.screen == nil {
		return t.plain()
	}
	t.shown = newView(t.screen, turn.Agent, turn.Model)
	return t.shown
}

// plain shows a run as lines that stay.
func (t *talk) plain() *printer {
	out, errs := isTerminal(t.stdout), isTerminal(t.stderr)
	return &printer{
		stdout: t.stdout, stderr: t.stderr, json: t.json,
		clean: out, shared: out && errs, color: errs && t.getenv("NO_COLOR") == "",
	}
}

// incomplete is an error when the answer is not whole.
func incomplete(done event.DoneData) error {
	switch done.Reason {
	case event.ReasonLength:
		mend := "raise it in the agent's document, under limits"
		switch done.Limit {
		case event.LimitTime:
			mend = "raise P8_RUN_TIMEOUT"
		case event.LimitAnswer:
			mend = "raise P8_DEFAULT_MAX_TOKENS"
		case event.LimitEvents:
			mend = "ask for less at once"
		case event.LimitMemory:
			mend = "ask again when the server is less busy, or raise P8_RUN_MEMORY"
		}
		return fmt.Errorf("the answer is not whole, %s was reached: %s", cmp.Or(done.Limit, "a limit"), mend)
	case event.ReasonFilter:
		return errors.New("the answer is not whole, the provider's content filter stopped it: ask in other words")
	}
	return nil
}
