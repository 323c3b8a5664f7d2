package chat

import (
	"errors"
	"slices"
	"time"

	"github.com/p8-org/p8/chat/internal/delegate"
	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/route"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// recorder follows a run that is under way: it stores the rows, adds what a turn says
// about itself, and shows everything to the readers. One goroutine uses it.
type recorder struct {
	s     *executor
	begun *begun
	// now is the stage of the agent that answers now: begun.prepared until a hand-over.
	now    prepared
	rows   *record.Rows
	writer *record.Writer
	// routing tracks how the turn changes the session's routing; tree is what the turn's
	// delegations share.
	routing *route.Turn
	tree    *delegate.Tree

	// text is the text of the answer, asides are the thoughts and observations beside it;
	// shown says that readers have seen a part of either.
	text   record.Text
	asides record.Asides
	shown  bool
	usage  *event.UsageData
	// parts are each agent's share of the usage.
	parts []run.Spent
	meta  *event.MetadataData
	done  *event.DoneData
	// scriptFailed is the error of a script.
	scriptFailed *event.ErrorData
	// speaker is the path of the agent that spoke last, tookOver the fallback model that
	// answers in place of the chosen one, if any.
	speaker, tookOver string
	// asks are the questions without an answer, unasked those that could not be stored yet.
	asks    []event.ActionRequestData
	unasked []store.RunRequest
	// open counts the calls of the root agent that have not ended; called are the calls
	// whose rows exist. chaining: the answer is complete, and the chained tool runs.
	open     int
	called   map[record.Call]bool
	chaining bool
	// progressed counts the progress events of each call.
	progressed map[string]int
	// heard is the number of the last event that was given to the tree.
	heard int64
	// answered: the answer's row is stored already.
	answered bool
	// unanswered: the message does not answer the session's question. The turn says so
	// without asking a model.
	unanswered bool
}

func (s *executor) newRecorder(b *begun) *recorder {
	p := b.prepared
	r := &recorder{
		s: s, begun: b, now: p, rows: s.stages.rows(p), speaker: p.cast.Name, text: record.NewText(&b.account, b.log),
		routing: s.stages.router.Begin(p.session.stored.Metadata, p.auto), tree: delegate.NewTree(s.unkept(p), p.request.asked.Instruction),
	}
	if n, state := b.journal.HandOvers(); n > 0 {
		r.routing.Resume(state)
	}
	o := record.Options{
		Context: b.stored, Log: b.log, Journal: b.journal, Account: &b.account, Stop: b.cancel, Warn: r.warnIncomplete,
		RunID: r.rows.RunID, SessionID: r.rows.SessionID, Logger: s.o.Logger,
	}
	if s.o.Store != nil {
		o.Lookup = s.o.Store
	}
	r.writer = record.NewWriter(o)
	return r
}

// unkept returns the conversation for delegated agents if no session stores it, else nil.
func (s *executor) unkept(p prepared) []llm.Message {
	messages := p.payload.Messages
	if p.request.sessionNamed && s.o.Store != nil || len(messages) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(messages), func(m llm.Message) bool { return m.Role == llm.System })
}

// scripted reports whether a script answers.
func (r *recorder) scripted() bool { return r.now.cast.Script != nil }

// record stores and shows one event of the run.
func (r *recorder) record(e event.Event) {
	root := e.Agent == r.rows.Agent
	if d, ok := e.Data.(*event.ToolCallData); !ok || d.Status == event.ToolStarted {
		r.writer.Flush()
	}
	if r.chaining && e.Type == event.Text {
		return // what the chained tool says is no part of the answer
	}
	r.asides.Add(e)
	r.rows.Heard(e)
	r.text.Add(&e)
	switch d := e.Data.(type) {
	case nil:
		if e.Type == event.Text {
			r.speaker = e.Agent
		}
		r.shown = true
	case *event.ToolCallData:
		r.shown = true
		r.toolCall(e, d, root)
		return
	case *event.ActionData:
		if root {
			r.routing.Action(r.begun.stored, r.rows.Agent, d)
		}
	case *event.ActionRequestData:
		r.shown = true
		if d.RequestID != "" {
			r.ask(e, d)
			return
		}
	case *event.StateData:
		if root && r.now.shared != nil {
			r.stateChanged(e)
		}
		return
	case *event.MetadataData:
		if root {
			r.describe(e, d)
		}
		return
	case *event.UsageData:
		if root {
			spent, _ := r.begun.journal.Spent()
			spent.Add(*d)
			r.usage = &spent
		}
		return
	case *event.DoneData:
		if root {
			r.done = d
		}
		return
	case *event.WarningData:
		if root && d.Code == event.CodeModelFallback {
			r.tookOver = d.Model
		}
	case *event.ProgressData:
		if !root || !r.mayProgress(d) {
			return
		}
	case *event.ErrorData:
		if !root {
			return // the tool call reports how a delegated run ended
		}
		if r.scripted() {
			r.scriptFailed = d
			return
		}
	}
	r.writer.Append(e)
}

// describe keeps the metadata for the end of the answer. A script emits them where it
// wants; its answer is then stored at once.
func (r *recorder) describe(e event.Event, d *event.MetadataData) {
	r.meta = d
	if !r.scripted() {
		return
	}
	text, release, err := r.answerText()
	defer release()
	end := r.ended(nil, text)
	end.done = &event.DoneData{Reason: event.ReasonStop}
	row := end.answerRow(r.rows)
	r.answered = true
	e.Data = end.metadata(row, true)
	// The event is stored with the row: if the store's reply is lost, the event shows
	// whether the row exists.
	if err == nil {
		err = r.writer.Write(store.RunWrite{Status: store.RunRunning, Answer: row, SessionName: d.SessionName}, e)
	}
	if err == nil {
		return
	}
	if !errors.Is(err, record.ErrNotStored) {
		r.writer.Incomplete(err)
	}
	e.Data = end.metadata(row, false)
	r.writer.Append(e)
}

// begins notes that a call has a row without a result. It returns false if that was noted
// before.
func (r *recorder) begins(run, id string) bool {
	key := record.Call{Run: run, ID: id}
	if r.called[key] {
		return false
	}
	if r.called == nil {
		r.called = make(map[record.Call]bool)
	}
	r.called[key] = true
	return true
}

// toolCall stores the rows of a call before the readers see their ids.
func (r *recorder) toolCall(e event.Event, d *event.ToolCallData, root bool) {
	if r.scripted() {
		r.writer.Append(e) // nothing was called
		return
	}
	switch {
	case d.Structured:
		r.writer.SavePair(e, d, r.rows.Call(e, d), r.rows.Result(e, d))
		return
	case d.Status == event.ToolStarted:
		r.writer.Append(e)
		if root {
			r.open++
			r.progress(&event.ProgressData{Step: 2, Label: "Calling " + d.Name})
		}
		return
	case d.Status == event.ToolExecuting:
		// The model did not begin to write it, so it is the chained call.
		chained := r.now.cast.Chained
		r.chaining = r.chaining || root && chained != nil && r.open == 0 && d.Name == chained.Spec().Name
		if r.begins(e.RunID, d.ID) {
			r.writer.Save(e, d, r.rows.Call(e, d))
		} else {
			r.writer.Append(e) // it was called before the run was resumed
		}
		return
	}
	// A call that was cut off before it was complete was never made.
	if key := (record.Call{Run: e.RunID, ID: d.ID}); r.called[key] {
		delete(r.called, key)
		r.writer.Save(e, d, r.rows.Result(e, d))
	} else {
		r.writer.Append(e)
	}
	if root {
		r.predicted(d)
	}
	if root && !r.chaining {
		if r.open--; r.open <= 0 {
			r.open = 0
			r.progress(&event.ProgressData{Step: 3, Label: "Generating response"})
		}
	}
}

// ask stores a question before readers see it: any of them may answer.
func (r *recorder) ask(e event.Event, d *event.ActionRequestData) {
	now := r.s.o.Now().UTC()
	if d.ExpiresAt.IsZero() {
		d.ExpiresAt = now.Add(r.s.o.AnswerWithin).Truncate(time.Second)
	}
	r.asks = append(r.asks, *d)
	asked := store.RunRequest{
		ID: d.RequestID, RunID: r.rows.RunID, SessionID: r.rows.SessionID, Kind: d.Kind, AgentPath: e.Agent,
		ToolName: d.ToolName, ToolCallID: d.ToolCallID, Arguments: d.Arguments, Message: d.Message, Schema: d.Schema,
		Status: store.RequestOpen, CreatedAt: now, ExpiresAt: d.ExpiresAt,
	}
	if r.writer.Write(store.RunWrite{Requests: []store.RunRequest{asked}}, e) != nil {
		r.unasked = append(r.unasked, asked) // without its row nobody could answer
		r.begun.log.Append(e)
	}
}

// own returns an event of the turn itself.
func (r *recorder) own(d event.Data) event.Event {
	return event.Event{Type: d.EventType(), RunID: r.rows.RunID, Agent: r.rows.Agent, Data: d}
}

// codeStorage is the code of errors and warnings that a failure of the store causes.
const codeStorage = "storage_failed"

// warnIncomplete warns the client that the session may lack something.
func (r *recorder) warnIncomplete() {
	r.begun.log.Append(r.own(&event.WarningData{
		Code: codeStorage, Message: "this turn could not be stored completely; the session may not remember it",
	}))
}
