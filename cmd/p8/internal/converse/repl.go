package converse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/datadir"
	"github.com/p8-org/p8/cmd/p8/internal/prompt"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/store"
)

// repl is an interactive chat on a terminal: a text is a turn, a text that begins with "/"
// is a command.
type repl struct {
	*turns.Runner
	id identity.Identity
	// agent and model are those of the last answer, or of the next.
	agent, model string
	keys         *keyboard
	editor       *term.Editor
	history      prompt.History
	// next has the files of the next message, each of at most maxUpload bytes.
	next      chat.Request
	maxUpload int64
	// dev is set in p8 dev.
	dev *development
}

// startREPL runs the chat until Ctrl-D.
func startREPL(t *turns.Runner, cfg *config.Config, id identity.Identity, dev *development) error {
	agent, model, err := answering(t, id)
	if err != nil {
		return err
	}
	restore, err := term.Raw(t.Stdin)
	if err != nil {
		return loop(t, id, dev)
	}
	defer restore()
	// On a raw terminal, output needs carriage returns.
	cooked := t.App
	raw := *t.App
	raw.Stdout, raw.Stderr = term.Returns{W: cooked.Stdout}, term.Returns{W: cooked.Stderr}
	t.App, t.Screen.Asks = &raw, true
	defer func() { t.App = cooked }()

	r := &repl{Runner: t, id: id, agent: agent, model: model, dev: dev, maxUpload: int64(cfg.MaxUploadBytes)}
	if r.Keeps {
		r.history.Path = filepath.Join(cfg.DataDir, datadir.ChatHistory)
	}
	r.keys = newKeyboard(t.Stdin, t.Interrupts)
	r.editor = term.NewEditor(r.keys, t.Screen.File, t.Screen.Canvas.Size, t.Screen.Pen)
	r.editor.Multiline, r.editor.Complete, r.editor.History = true, r.complete, r.history.Load()
	if r.greet(); dev != nil {
		r.keys.reports, r.keys.report = dev.reports, r.report
	}
	return r.converse()
}

// greet prints the agent, the model and the session.
func (r *repl) greet() {
	r.lines(r.paint(term.Bold, "p8")+r.paint(term.Dim, " · "+r.agent+" · "+r.model),
		r.paint(term.Dim, "session "+r.id.SessionID),
		r.paint(term.Dim, "/help, Ctrl-C stops an answer, Ctrl-D ends the chat"), "")
}

// errQuit ends the chat.
var errQuit = errors.New("quit")

// converse reads texts and answers them until the chat ends.
func (r *repl) converse() error {
	for {
		text, err := r.editor.Read(r.paint(term.Bold|term.Cyan, "› "))
		switch {
		case errors.Is(err, term.ErrInterrupted) && text != "":
			continue
		case errors.Is(err, term.ErrInterrupted):
			r.lines(r.paint(term.Dim, "Ctrl-D or /quit ends the chat"))
			continue
		case err != nil: // Ctrl-D, the end of the input, SIGTERM
			return nil
		}
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		r.history.Remember(r.editor, text)
		err = r.obey(text)
		switch {
		case errors.Is(err, errQuit):
			return nil
		case err != nil:
			r.problem(err)
		}
	}
}

// obey runs a command, or a turn with the text.
func (r *repl) obey(text string) error {
	switch {
	case text == "exit", text == "quit":
		return errQuit
	case strings.HasPrefix(text, "/"):
		return r.command(text)
	}
	if err := r.dev.ready(r.Runner, r.agent); err != nil {
		return err
	}
	r.lines("")
	turn, err := r.Start(r.request(text))
	if err != nil {
		return turns.Explain(r.Runner.Parts, err)
	}
	r.next = chat.Request{}
	return r.show(turn)
}

// show shows a turn to its end and asks the user its questions.
func (r *repl) show(turn *chat.Turn) error {
	for turn != nil {
		over := r.keys.run()
		done, by, err := r.Watch(turn)
		over()
		r.account()
		if by == syscall.SIGTERM {
			return errQuit
		}
		if err == nil {
			err = turns.Incomplete(done)
		}
		if err != nil {
			return err
		}
		turn = nil
		if done.Reason == event.ReasonPaused {
			if turn, err = r.answer(r.Shown.Asked); err != nil {
				return err
			}
		}
	}
	return nil
}

// account adds the tokens and the cost of the last turn, and notes what answered it.
func (r *repl) account() {
	v := r.Shown
	r.Screen.Tokens += v.Usage.InputTokens + v.Usage.OutputTokens
	r.Screen.Cost += v.Usage.CostUSD
	if name := show.OneLine(v.Meta.RespondingAgent); name != "" {
		r.agent = name
	}
	if name := show.OneLine(v.Meta.ModelVersion); name != "" {
		r.model = name
	}
}

// answer asks the user the questions of a run. It returns the resumed turn, nil if the run
// still waits.
func (r *repl) answer(asked []event.ActionRequestData) (turn *chat.Turn, err error) {
	for _, q := range asked {
		d, ok, err := r.decision(q)
		if err != nil {
			return nil, err
		}
		if !ok {
			r.lines(r.paint(term.Dim, "it waits: p8 approvals approve "+q.RequestID+", or deny"), "")
			continue
		}
		_, next, err := r.Chat.Decide(r.Ctx, q.RequestID, d)
		if err != nil {
			return nil, turns.Explain(r.Runner.Parts, err)
		}
		if next != nil {
			turn = next
		}
	}
	return turn, nil
}

// decision asks one question; ok is false if the user leaves it open.
func (r *repl) decision(q event.ActionRequestData) (d store.Decision, ok bool, err error) {
	d.Via = "cli"
	r.lines(r.paint(term.Yellow, "? ")+show.OneLine(q.Message), r.paint(term.Dim, "  "+hintFor(q)))
	for {
		text, err := r.editor.Read(r.paint(term.Bold|term.Yellow, "? "))
		switch {
		case errors.Is(err, term.ErrInterrupted), errors.Is(err, io.EOF):
			return d, false, nil
		case err != nil:
			return d, false, errQuit
		}
		switch text = strings.TrimSpace(text); strings.ToLower(text) {
		case "":
			return d, false, nil
		case "n", "no":
			d.Status = store.RequestDeclined
			return d, true, nil
		}
		d.Status = store.RequestAccepted
		if q.Kind != event.RequestElicitation {
			if t := strings.ToLower(text); t == "y" || t == "yes" {
				return d, true, nil
			}
		} else if d.Content = contentFor(q.Schema, text); d.Content != nil {
			return d, true, nil
		}
		r.lines(r.paint(term.Dim, "  "+hintFor(q)))
	}
}

// begin changes to another session; "" starts a new one.
func (r *repl) begin(session string) error {
	next := r.id
	next.SessionID = session
	if session == "" {
		next.SessionID = uuid.NewString()
	}
	return r.become(next)
}

// become changes the identity of the next turns.
func (r *repl) become(id identity.Identity) error {
	id, err := id.Normalize()
	var invalid *identity.InvalidError
	switch {
	case errors.As(err, &invalid):
		return fmt.Errorf("%s %s", strings.TrimPrefix(command.FlagOf[invalid.Name], "--"), invalid.Problem)
	case err != nil:
		return err
	}
	agent, model, err := answering(r.Runner, id)
	if err != nil {
		return err
	}
	if id.SessionID != r.id.SessionID {
		r.Screen.Tokens, r.Screen.Cost = 0, 0
	}
	r.id, r.agent, r.model = id, agent, model
	r.Ctx = identity.With(r.Ctx, id)
	return nil
}

// interruptible returns a context that Ctrl-C ends, until over is called.
func (r *repl) interruptible() (ctx context.Context, over func()) {
	ctx, cancel := context.WithCancel(r.Ctx)
	done, stopped := make(chan struct{}), make(chan struct{})
	end := r.keys.run()
	go func() {
		defer close(stopped)
		select {
		case s := <-r.Interrupts:
			cancel()
			if s == syscall.SIGTERM {
				r.Interrupts <- s // it also ends the chat
			}
		case <-done:
		}
	}()
	return ctx, func() {
		end()
		close(done)
		<-stopped
	}
}

// lines writes lines, paint adds a style to a text, problem prints an error.
func (r *repl) lines(lines ...string) { r.Screen.Lines(lines...) }

func (r *repl) paint(s term.Style, text string) string { return r.Screen.Pen.Paint(s, text) }

func (r *repl) problem(err error) {
	if errors.Is(err, command.ErrSilent) {
		return
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		r.Screen.Wrapped(r.paint(term.Red, "✗ "), show.Visible(line))
	}
	r.lines("")
}
