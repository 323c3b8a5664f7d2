// Package title has a model write the title of a session that nobody has named, from its
// first question and answer.
package title

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// AgentName is the document by which a model writes titles.
const AgentName = "title-writer"

// Store has the sessions. [store.Store] implements it.
type Store interface {
	Session(ctx context.Context, id string) (store.Session, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	TitleSession(ctx context.Context, id, title string) (bool, error)
}

// Options configure a Writer. Store, Agent and Model are required.
type Options struct {
	Store Store
	// Agent is the document: structured, with the property title.
	Agent func(ctx context.Context) (*agent.Agent, error)
	// Model runs the agent.
	Model func() (llm.Model, error)
	// Timeout is a minute if 0.
	Timeout time.Duration
	// StructuredMode and Cost are as in run.Options.
	StructuredMode string
	Cost           func(model string, u llm.Usage) float64
	// Spent stores what the model consumed, with an answer or an error, in the session of the
	// context's identity. It may be nil.
	Spent  func(ctx context.Context, parts []run.Spent)
	Logger *slog.Logger
}

// Writer writes titles.
type Writer struct{ o Options }

// New makes a Writer.
func New(o Options) (*Writer, error) {
	if o.Store == nil || o.Agent == nil || o.Model == nil {
		return nil, errors.New("title: a Writer needs a store, a document and a model")
	}
	o.Timeout = cmp.Or(max(0, o.Timeout), time.Minute)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return &Writer{o}, nil
}

// Write titles one of the caller's own sessions. It does nothing if the session has a name
// already, has no answer yet, or is p8's background work, so it may run twice.
func (w *Writer) Write(ctx context.Context, session string) error {
	about, err := w.exchange(ctx, session)
	if err != nil || about.answer == "" {
		return err
	}
	said, spent, err := w.ask(ctx, about)
	if len(spent) > 0 && w.o.Spent != nil {
		about.who.SessionID = session
		w.o.Spent(identity.With(ctx, about.who), spent)
	}
	if err != nil {
		return fmt.Errorf("title: ask the model: %w", err)
	}
	title := clean(said)
	if title == "" {
		return errors.New("title: the model's answer has no title")
	}
	if _, err = w.o.Store.TitleSession(ctx, session, title); errors.Is(err, store.ErrNotFound) {
		return nil // it was deleted meanwhile
	}
	return err
}

// exchange is the caller, and the beginning of the first question and of the first answer of
// a session. The question may be empty, as that of a picture.
type exchange struct {
	who              identity.Identity
	question, answer string
}

// The first exchange is among the first maxRows messages; maxChars of each text are read.
const (
	maxRows  = 20
	maxChars = 1000
)

// exchange reads the exchange, an empty one if the session needs no title.
func (w *Writer) exchange(ctx context.Context, session string) (x exchange, err error) {
	if x.who, err = identity.From(ctx); err != nil {
		return x, err
	}
	sess, err := w.o.Store.Session(ctx, session)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return x, nil
	case err != nil:
		return x, err
	case sess.UserID != x.who.UserID || sess.Name != "" || store.IsBackground(sess.Mode):
		return x, nil
	}
	rows, err := w.o.Store.Messages(ctx, session, store.MessageFilter{
		Types: []string{store.MessageUser, store.MessageAssistant}, Limit: maxRows,
	})
	if err != nil {
		return x, err
	}
	for i := range rows {
		row := &rows[i]
		switch {
		case row.Content == nil || *row.Content == "" || row.AgentPath != "":
		case row.Type == store.MessageUser:
			if x.question == "" {
				x.question = first(*row.Content, maxChars)
			}
		case store.IsAnswer(row):
			x.answer = first(*row.Content, maxChars)
			return x, nil
		}
	}
	return x, nil
}

// ask has the model write a title. What it consumed is returned also with an error.
func (w *Writer) ask(ctx context.Context, about exchange) (title string, spent []run.Spent, err error) {
	a, err := w.o.Agent(ctx)
	if err != nil {
		return "", nil, err
	}
	if !a.Structured {
		return "", nil, fmt.Errorf("the document %s must have structured_output: true, and the property title", a.Name)
	}
	model, err := w.o.Model()
	if err != nil {
		return "", nil, err
	}
	out, err := run.As[struct {
		Title string `json:"title"`
	}](run.Stream(ctx, run.Options{
		Agent: a, Model: model, StructuredMode: w.o.StructuredMode, Timeout: w.o.Timeout, Cost: w.o.Cost, Logger: w.o.Logger,
		Spent: func(parts []run.Spent) { spent = parts },
		Messages: []llm.Message{
			{Role: llm.System, Content: a.SystemPrompt("")},
			{Role: llm.User, Content: "Write the title of the conversation that begins like this:\n\n" +
				llm.Material("question", about.question) + "\n\n" + llm.Material("answer", about.answer)},
		},
	}))
	return out.Title, spent, err
}
