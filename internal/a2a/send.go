package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// send answers SendMessage, or SendStreamingMessage if streamed.
func (x *exchange) send(raw json.RawMessage, streamed bool) error {
	var p sendParams
	if err := params(raw, &p); err != nil {
		return err
	}
	if p.Message == nil || len(p.Message.Parts) == 0 {
		return wrong("params.message needs parts: text, data or a file")
	}
	c := &p.Configuration
	if _, err := historyLength(c.HistoryLength, 0); err != nil {
		return err
	}
	h, err := x.asks(&p)
	if err != nil {
		return err
	}
	t, l, err := x.begin(p.Message, h)
	if err != nil {
		return err
	}
	x.wanted = c.HistoryLength
	if t == nil { // the run still waits for other answers
		return x.answerCurrent(l, streamed)
	}
	if l == nil {
		l = x.builder(t)
		if err := x.catchUp(l, t, t.Past-1); err != nil {
			return err
		}
	}
	if streamed {
		return x.follow(l, t)
	}
	if !p.atOnce() {
		for e, err := range t.EventsAfter(x.ctx, l.seq) {
			if err != nil {
				return err
			}
			if _, err := l.add(e); err != nil {
				return err
			}
		}
	}
	return x.answerCurrent(l, false)
}

// answerCurrent answers with the current task.
func (x *exchange) answerCurrent(l *builder, streamed bool) error {
	if streamed {
		return x.follow(l, chat.NewTurn(nothing))
	}
	t, err := x.current(l)
	switch {
	case err != nil:
		return err
	case x.old:
		return x.answerTask(t)
	}
	return x.answer(sendResult{t})
}

// current returns the task of a message, with the time and the history that the store has of it.
func (x *exchange) current(l *builder) (*task, error) {
	_, r, err := x.find(l.task.ID)
	if err != nil {
		return nil, err
	}
	l.dated(r)
	t := l.snapshot()
	t.History, err = x.history(r, x.wanted, 0)
	return t, err
}

// begin passes the message to the task that it names, or starts a task. It returns no
// turn if the task still waits; the builder has its open questions. The hook of a known
// task is stored first, so that a failure is reported before the message is delivered.
func (x *exchange) begin(m *message, h *askedHook) (*chat.Turn, *builder, error) {
	if m.TaskID == "" {
		session := m.ContextID
		if session == "" {
			session = x.o.NewID()
		}
		t, err := x.start(m, session, chat.BusyReject)
		x.hookStarted(t, h)
		return t, nil, err
	}
	_, r, err := x.find(m.TaskID)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case m.ContextID != "" && m.ContextID != r.SessionID:
		return nil, nil, wrong("params.message.contextId is not that of the task; leave it out")
	case over(r):
		return nil, nil, unsupported("the task has ended; send the message without a taskId, with the contextId of the task")
	}
	if err := x.keep(r.ID, h); err != nil {
		return nil, nil, err
	}
	if r.Status == store.RunWaiting {
		return x.decide(m, r)
	}
	t, err := x.start(m, r.SessionID, chat.BusySteer)
	if t != nil && t.RunID != r.ID { // the task has ended meanwhile
		x.hookStarted(t, h)
	}
	return t, nil, err
}

// hookStarted stores the hook of a task that has begun. The message was delivered, so a
// failure is not the client's.
func (x *exchange) hookStarted(t *chat.Turn, h *askedHook) {
	if t == nil {
		return
	}
	if err := x.keep(t.RunID, h); err != nil {
		x.o.Logger.ErrorContext(x.ctx, "a webhook was not stored", "task", t.RunID, "error", err)
	}
}

// start starts a run in the session.
func (x *exchange) start(m *message, session, busy string) (*chat.Turn, error) {
	if err := identity.ValidateID("params.message.contextId", session); err != nil {
		return nil, wrong(err.Error())
	}
	who, err := identity.From(x.ctx)
	if err != nil {
		return nil, err
	}
	who = who.Child(x.agent.name, "")
	who.SessionID = session
	who.ClientID = cmp.Or(who.ClientID, "a2a")
	input, parts, err := content(m.Parts)
	if err != nil {
		return nil, err
	}
	req := chat.Request{Agent: x.agent.name, Input: input, Parts: parts, Busy: busy, Protocol: "a2a"}
	if err := req.SetMetadata(ownMetadata(m.Metadata)); err != nil {
		return nil, wrong("params.message: " + err.Error())
	}
	t, err := x.o.Chat.Start(identity.With(x.ctx, who), req)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, wrong("the context of this contextId was deleted; leave it out, or choose another one, to begin a new one")
	case errors.Is(err, chat.ErrBusy):
		return nil, wrong("a task of this context is under way; wait for its end, or send the message with its taskId")
	}
	return t, err
}

// ownMetadata leaves out the keys of A2A's extensions, which are addresses.
func ownMetadata(metadata map[string]any) map[string]any {
	own := map[string]any{}
	for key, value := range metadata {
		if !strings.Contains(key, "://") {
			own[key] = value
		}
	}
	return own
}

// content converts a message for the agent: data become JSON in the text.
func content(parts []part) (text string, files []llm.Part, err error) {
	var texts []string
	for _, p := range parts {
		if p.File != nil {
			p.Raw, p.URL, p.MediaType, p.Filename = p.File.Bytes, p.File.URI, p.File.MimeType, p.File.Name
		}
		p.Filename = fileName(p.Filename)
		switch {
		case p.Text != nil:
			texts = append(texts, *p.Text)
		case len(p.Data) > 0:
			texts = append(texts, "```json\n"+string(p.Data)+"\n```")
		case len(p.Raw) > 0 && strings.HasPrefix(p.MediaType, "text/"):
			if !utf8.Valid(p.Raw) {
				return "", nil, wrong("a part of the message is a text that is not UTF-8; encode it as UTF-8")
			}
			texts = append(texts, llm.Material("document "+cmp.Or(p.Filename, "text"), string(p.Raw)))
		case len(p.Raw) > 0 || p.URL != "":
			f := llm.Part{Kind: llm.Document, MediaType: p.MediaType, Name: p.Filename, Data: p.Raw, URL: p.URL}
			if strings.HasPrefix(p.MediaType, "image/") {
				f.Kind = llm.Image
			}
			if err := chat.CheckPart(f); err != nil {
				return "", nil, unreadable(p, "a part of the message "+err.Error())
			}
			files = append(files, f)
		default:
			return "", nil, wrong("a part of the message is empty: it has text, data, raw or url")
		}
	}
	if len(files) > chat.MaxParts {
		return "", nil, wrong("the message has too many files")
	}
	return strings.Join(texts, "\n\n"), files, nil
}

// unreadable returns the error of a file that cannot be read: because of its media type, or of
// something else.
func unreadable(p part, why string) error {
	if p.URL == "" && strings.Contains(why, "media type") {
		return fail(codeContentType, "CONTENT_TYPE_NOT_SUPPORTED", why)
	}
	return wrong(why)
}

// maxFileName bounds the name of a file, in characters.
const maxFileName = 255

// fileName returns a client's name of a file on one line, for the text of a prompt.
func fileName(name string) string {
	runes := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, name)))
	return string(runes[:min(len(runes), maxFileName)])
}

// decide answers the questions of a waiting task.
func (x *exchange) decide(m *message, r store.Run) (*chat.Turn, *builder, error) {
	ctx := x.ctx
	open, _, err := x.o.Chat.Requests(ctx, store.RequestFilter{RunID: r.ID, Status: store.RequestOpen})
	if err != nil {
		return nil, nil, err
	}
	decisions, err := answers(m.Parts, open)
	if err != nil {
		return nil, nil, err
	}
	var turn *chat.Turn
	for _, d := range decisions {
		_, t, err := x.o.Chat.Decide(ctx, d.id, d.Decision)
		if err != nil {
			return nil, nil, err
		}
		if t != nil {
			turn = t
		}
	}
	if turn != nil {
		return turn, nil, nil
	}
	l, err := x.waiting(ctx, r.ID)
	return nil, l, err
}

// waiting returns the task of a run that still waits.
func (x *exchange) waiting(ctx context.Context, id string) (*builder, error) {
	t, r, err := x.o.Chat.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return x.state(t, r)
}
