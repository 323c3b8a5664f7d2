package converse

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/routing"
)

// once runs one turn.
func once(t *turns.Runner, req chat.Request) error {
	turn, err := t.Chat.Start(t.Ctx, req)
	if err != nil {
		return turns.Explain(t.Parts, err)
	}
	return t.Follow(turn)
}

// Loop is an interactive chat without redrawing: each line is a turn, Ctrl-C stops a run,
// Ctrl-D or "exit" ends the chat.
func Loop(t *turns.Runner, id identity.Identity) error {
	// A missing agent or model is reported before anything is typed.
	agent, model, err := answering(t, id)
	if err != nil {
		return err
	}
	t.Say("session %s, agent %s, model %s", id.SessionID, agent, model)
	t.Say("Ctrl-C stops an answer, Ctrl-D or exit ends the chat")
	lines, next := readLines(t.Stdin)
	defer close(next)
	for {
		fmt.Fprint(t.Stderr, "> ")
		next <- struct{}{}
		line, ok, signal := waitLine(t, lines)
		switch {
		case !ok && signal != syscall.SIGTERM:
			fmt.Fprintln(t.Stderr)
			return nil
		case !ok:
			return nil
		case line == "exit", line == "quit":
			return nil
		case line == "":
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

// waitLine returns the next line; ok is false at the end of the input and on SIGTERM. On
// Ctrl-C it prints how to leave.
func waitLine(t *turns.Runner, lines <-chan string) (line string, ok bool, by os.Signal) {
	for {
		select {
		case line, ok = <-lines:
			return line, ok, nil
		case by = <-t.Interrupts:
			if by != os.Interrupt {
				return "", false, by
			}
			fmt.Fprint(t.Stderr, "\nCtrl-D or exit ends the chat.\n> ")
		}
	}
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
	turn, err := t.Chat.Start(t.Ctx, req)
	if err != nil {
		return done, nil, turns.Explain(t.Parts, err)
	}
	return t.Watch(turn)
}
