// Package turns runs turns for the person at the terminal and shows their events:
// on a terminal as Markdown in colour, with a pane for each child agent and a status
// line ([Screen]); in a pipe as plain text; with --json as lines of JSON.
package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/event"
)

// Runner runs turns of one session for the person at the terminal.
type Runner struct {
	*command.App
	*wiring.Parts
	// Ctx carries the identity.
	Ctx  context.Context
	JSON bool
	// Resume is printed after the answer: the command that continues a session whose id
	// was made up; "" prints nothing.
	Resume     string
	Interrupts chan os.Signal
	// Metadata describe the session of the first turn.
	Metadata map[string]string
	// Screen shows runs in colour and motion; nil prints plain lines.
	Screen *Screen
	// Shown is the view of the last run on the screen.
	Shown *view
	// impatient: a second Ctrl-C ends the program at once.
	impatient bool
}

// WatchInterrupts sends SIGINT and SIGTERM to Interrupts until the returned function is
// called. It ignores SIGPIPE, so that a closed pipe is a failed write and the answer so
// far is stored.
func (t *Runner) WatchInterrupts() func() {
	t.Interrupts = make(chan os.Signal, 1)
	signal.Notify(t.Interrupts, os.Interrupt, syscall.SIGTERM)
	signal.Ignore(syscall.SIGPIPE)
	return func() {
		signal.Stop(t.Interrupts)
		signal.Reset(syscall.SIGPIPE)
	}
}

// Start starts a turn.
func (t *Runner) Start(req chat.Request) (*chat.Turn, error) {
	metadata := map[string]any{}
	for key, value := range t.Metadata {
		metadata[key] = value
	}
	if err := req.SetMetadata(metadata); err != nil {
		return nil, err
	}
	turn, err := t.Chat.Start(t.Ctx, req)
	if err == nil {
		t.Metadata = nil
	}
	return turn, err
}

// Follow shows a turn to its end and returns an error if the answer is incomplete.
func (t *Runner) Follow(turn *chat.Turn) error {
	t.impatient = true
	done, _, err := t.Watch(turn)
	if err != nil {
		return err
	}
	if done.Reason == event.ReasonCancelled {
		return command.Fail(command.ExitInterrupted, errors.New("stopped: what was said is kept in the session"))
	}
	if p := t.plain(); p.shared && !p.json && t.Resume != "" {
		p.note(t.Resume)
	}
	return Incomplete(done)
}

// Watch shows a turn to its end. A signal cancels the run, which keeps its answer so
// far; by is that signal.
func (t *Runner) Watch(turn *chat.Turn) (done event.DoneData, by os.Signal, err error) {
	over := make(chan struct{})
	stopped := make(chan os.Signal, 1)
	go func() {
		select {
		case s := <-t.Interrupts:
			turn.Cancel()
			if t.impatient {
				signal.Reset(os.Interrupt, syscall.SIGTERM)
			}
			stopped <- s
		case <-over:
		}
		close(stopped)
	}()
	p := t.renderer(turn)
	defer p.close()
	var broken error
	for e, err := range turn.EventsAfter(t.Ctx, turn.Past) {
		if err != nil {
			return done, nil, err
		}
		if broken != nil {
			continue
		}
		if broken = p.Print(e); broken != nil {
			turn.Cancel()
		}
	}
	_, err = turn.Wait(t.Ctx)
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

// Explain returns the error of a turn that could not start, in words for the user.
func Explain(p *wiring.Parts, err error) error {
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
	p.Log.Error("start a turn", "error", err)
	return errors.New("something went wrong inside p8: P8_LOG_LEVEL=error makes it say what")
}

// renderer shows the events of a run.
type renderer interface {
	Print(e event.Event) error
	// outcome returns the last events, nil for those that did not come.
	outcome() (*event.DoneData, *event.ErrorData)
	close()
}

// renderer returns the one that fits the output.
func (t *Runner) renderer(turn *chat.Turn) renderer {
	if t.Screen == nil {
		return t.plain()
	}
	t.Shown = newView(t.Screen, turn.Agent, turn.Model)
	return t.Shown
}

// plain returns a renderer that only prints lines.
func (t *Runner) plain() *printer {
	out, errs := show.IsTerminal(t.Stdout), show.IsTerminal(t.Stderr)
	return &printer{
		stdout: t.Stdout, stderr: t.Stderr, json: t.JSON,
		clean: out, shared: out && errs, color: errs && t.Getenv("NO_COLOR") == "",
	}
}

// Incomplete returns an error if a limit or a filter cut the answer.
func Incomplete(done event.DoneData) error {
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
		case event.LimitTokensQuota, event.LimitCostQuota:
			mend = "ask again tomorrow, or ask an admin to raise it (p8 quota set)"
		case event.LimitMemory:
			mend = "ask again when the server is less busy, or raise P8_RUN_MEMORY"
		}
		return fmt.Errorf("the answer is not whole, %s was reached: %s", cmp.Or(done.Limit, "a limit"), mend)
	case event.ReasonFilter:
		return errors.New("the answer is not whole, the provider's content filter stopped it: ask in other words")
	}
	return nil
}
