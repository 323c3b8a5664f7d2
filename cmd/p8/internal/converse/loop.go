package converse

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/cmd/p8/internal/watch"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/routing"
)

// once runs one turn.
func once(t *turns.Runner, req chat.Request) error {
	turn, err := t.Start(req)
	if err != nil {
		return turns.Explain(t.Parts, err)
	}
	return t.Follow(turn)
}

// Loop is an interactive chat without redrawing: each line is a turn, Ctrl-C stops a run,
// Ctrl-D or "exit" ends the chat.
func Loop(t *turns.Runner, id identity.Identity) error { return loop(t, id, nil) }

// loop is Loop. With dev it reports the changes of a folder while it waits for a line.
func loop(t *turns.Runner, id identity.Identity, dev *development) error {
	// A missing agent or model is reported before anything is typed.
	agent, model, err := answering(t, id)
	if err != nil {
		return err
	}
	t.Say("session %s, agent %s, model %s", id.SessionID, agent, model)
	lines, next := readLines(t.Stdin)
	defer close(next)
	w := lineWaiter{t: t, lines: lines, dev: dev, id: id, prompt: "> "}
	if dev != nil && !show.IsTerminal(t.Stdin) {
		w.prompt = ""
	} else {
		t.Say("Ctrl-C stops an answer, Ctrl-D or exit ends the chat")
	}
	for {
		fmt.Fprint(t.Stderr, w.prompt)
		next <- struct{}{}
		line, ok, signal := w.wait()
		switch {
		case !ok && signal == nil && w.prompt != "":
			fmt.Fprintln(t.Stderr)
			return nil
		case !ok && signal == os.Interrupt:
			return command.Fail(command.ExitInterrupted, errors.New("stopped"))
		case !ok:
			return nil
		case line == "exit", line == "quit":
			return nil
		case line == "":
			continue
		}
		if err := dev.ready(t, w.id.AgentSchemaURI); err != nil {
			t.Report(err)
			continue
		}
		done, signal, err := turn(t, chat.Request{Input: line})
		if err == nil {
			err = turns.Incomplete(done)
		}
		if err != nil {
			t.Report(err)
		}
		if signal == syscall.SIGTERM {
			return nil
		}
	}
}

// answering returns the agent and the model that will answer.
func answering(t *turns.Runner, id identity.Identity) (name, model string, err error) {
	name = cmp.Or(id.AgentSchemaURI, chat.DefaultAgent)
	if name == routing.Auto {
		model = cmp.Or(id.DefaultModel, t.Choice.Model)
		if _, err := t.Models.Resolve(model); err != nil {
			return "", "", turns.Explain(t.Parts, err)
		}
		return name, model, nil
	}
	agent, err := t.Catalog.Agent(t.Ctx, name)
	if err != nil {
		return "", "", turns.Explain(t.Parts, err)
	}
	model = chat.ModelName(agent, id.DefaultModel, t.Choice.Model)
	if _, err := t.Models.Resolve(model); err != nil {
		return "", "", turns.Explain(t.Parts, err)
	}
	return agent.Document.Key(), model, nil
}

// lineWaiter waits for lines.
type lineWaiter struct {
	t      *turns.Runner
	lines  <-chan string
	dev    *development
	id     identity.Identity
	prompt string
}

// wait returns the next line; ok is false at the end of the input and on SIGTERM. On Ctrl-C
// it prints how to leave; without a prompt, Ctrl-C leaves.
func (w *lineWaiter) wait() (line string, ok bool, by os.Signal) {
	for {
		select {
		case line, ok = <-w.lines:
			return line, ok, nil
		case by = <-w.t.Interrupts:
			if by != os.Interrupt || w.prompt == "" {
				return "", false, by
			}
			fmt.Fprint(w.t.Stderr, "\nCtrl-D or exit ends the chat.\n"+w.prompt)
		case found, open := <-w.dev.found():
			if !open {
				w.dev = nil
				continue
			}
			w.report(found)
		}
	}
}

// report prints what the watcher has found, and changes to an agent that has become ready.
func (w *lineWaiter) report(found watch.Report) {
	if w.prompt != "" {
		fmt.Fprintln(w.t.Stderr)
	}
	for _, n := range w.dev.notices(found) {
		fmt.Fprintln(w.t.Stderr, n.plain())
	}
	if next := w.dev.follow(w.id.AgentSchemaURI, found.Changes); next != "" {
		w.id.AgentSchemaURI = next
		w.t.Ctx = identity.With(w.t.Ctx, w.id)
		fmt.Fprintln(w.t.Stderr, next+" answers from here on")
	}
	fmt.Fprint(w.t.Stderr, w.prompt)
}

// readLines sends one trimmed line for each message on next.
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

// turn starts a turn and shows it to its end.
func turn(t *turns.Runner, req chat.Request) (done event.DoneData, by os.Signal, err error) {
	turn, err := t.Start(req)
	if err != nil {
		return done, nil, turns.Explain(t.Parts, err)
	}
	return t.Watch(turn)
}
