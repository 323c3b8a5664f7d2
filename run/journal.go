package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// Journal records the steps and the finished calls of a run, so that they are not repeated. A
// run that is resumed, after a pause or a crash, reads the model's responses and the results
// of its calls from it and continues from there. It is safe for concurrent use.
//
// Every run of a tree has a thread of its own: "" is the root's, "call_1" that of the
// agent that the root's call call_1 asked, "call_1/call_7" that of an agent below.
type Journal interface {
	// Entries returns the entries that a thread recorded before, oldest first; a new run has
	// no entries. A run calls it once, when it begins.
	Entries(thread string) []Entry
	// Record adds an entry. It belongs to the next event of a tool call or of a
	// question that is yielded: the two are stored together, before either is used.
	Record(ctx context.Context, e Entry) error
	// Commit returns when what was recorded and yielded, and the entries given, are
	// stored. A run calls it before it makes calls that act; after an error it makes
	// none of them and ends.
	Commit(ctx context.Context, entries ...Entry) error
	// Answer returns the user's answer to a request; false if the user has not answered.
	Answer(requestID string) (tool.Answer, bool)
	// Result returns what the client returned for a call of its own tool; false if it has
	// not.
	Result(thread, toolCallID string) (tool.Result, bool)
}

// Entry is one thing that a run has done: a step (Message), a call (Result), or an event
// that it does not show again (Shown).
type Entry struct {
	Thread string `json:"thread,omitempty"`
	// Message is a response of the model, with its calls and thoughts, or a message of
	// the user.
	Message *llm.Message `json:"message,omitempty"`
	// ToolCallID and Result are the result of a call of the last step.
	ToolCallID string       `json:"tool_id,omitempty"`
	Result     *tool.Result `json:"result,omitempty"`
	// MessageID is the row of a Result that the model was not shown whole.
	MessageID string `json:"message_id,omitempty"`
	// Shown names an event of the last step, or of the call ToolCallID of it.
	Shown string `json:"shown,omitempty"`
	// Usage is what the step consumed, if Message is set, or the call and the runs below
	// it, if Result is. Spent has its parts.
	Usage *event.UsageData `json:"usage,omitempty"`
	Spent []Spent          `json:"spent,omitempty"`
}

// UnmarshalJSON reads an entry. Earlier versions named the tool call's id call_id.
func (e *Entry) UnmarshalJSON(b []byte) error {
	type entry Entry
	older := struct {
		*entry
		ID string `json:"call_id"`
	}{entry: (*entry)(e)}
	if err := json.Unmarshal(b, &older); err != nil {
		return err
	}
	e.ToolCallID = cmp.Or(e.ToolCallID, older.ID)
	return nil
}

// What Entry.Shown may name, besides the id of a request.
const (
	shownExecuting = "executing" // the event that the call executes
	shownText      = "text"      // a run below the call has said something
	shownAnswer    = "answer"    // the structured answer
	shownByTool    = "tool:"     // the beginning of what a tool named itself
)

// ledger holds the entries of all runs of a tree back until their event reaches the
// root's reader. So an entry is recorded if and only if its event is shown, wherever the
// process dies.
type ledger struct {
	journal Journal

	mu   sync.Mutex
	held map[event.Data][]Entry
	left bool // the root's reader has left: later events are never shown
}

// hold keeps entries for the event with the payload d.
func (l *ledger) hold(d event.Data, entries ...Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = make(map[event.Data][]Entry)
	}
	l.held[d] = append(l.held[d], entries...)
}

// leave records that the root's reader has left.
func (l *ledger) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = true
}

// take removes what was held for d.
func (l *ledger) take(d event.Data) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := l.held[d]
	if entries != nil {
		delete(l.held, d)
	}
	if l.left {
		return nil
	}
	return entries
}

// record records entries. A run that was stopped still records how it ended.
func (l *ledger) record(ctx context.Context, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	for _, e := range entries {
		if err := l.journal.Record(ctx, e); err != nil {
			return fmt.Errorf("run: record in the journal: %w", err)
		}
	}
	return nil
}

// keep adds an entry of this run for its next event of a tool call.
func (r *runner) keep(e Entry) {
	if r.scope.ledger == nil {
		return
	}
	e.Thread = r.scope.Thread
	r.pending = append(r.pending, e)
}

// broken records that the reader broke off. Later events are not shown and not recorded, as
// if the process had died.
func (r *runner) broken() error {
	if r.scope.ledger != nil && r.scope.Depth == 0 {
		r.scope.ledger.leave()
	}
	return errBroken
}

// keepMessage keeps a message of the user.
func (r *runner) keepMessage(m llm.Message) {
	if r.scope.ledger != nil {
		r.keep(Entry{Message: &m})
	}
}

// keepStep keeps the model's response once, before the run acts on it.
func (r *runner) keepStep() {
	if r.scope.ledger == nil || r.step.kept {
		return
	}
	r.step.kept = true
	m, used := r.step.message(), sum(r.step.bill)
	used.Requests = 1 // charged before it was sent
	r.keep(Entry{Message: &m, Usage: &used, Spent: r.step.bill})
}

// keepResult keeps the result of a call.
func (r *runner) keepResult(c *call) {
	if r.scope.ledger == nil || !r.step.kept {
		return // a call of a response that broke off
	}
	res, used := c.Result, c.account.Used()
	res.Usage = event.UsageData{} // the account has it
	r.keep(Entry{ToolCallID: c.id, Result: &res, MessageID: c.row, Usage: &used, Spent: c.account.Parts()})
}

// recordAndEmit emits an event and records the pending entries of the journal with it.
func (r *runner) recordAndEmit(d event.Data) error {
	pending := r.pending
	r.pending = r.pending[:0]
	if r.scope.Depth > 0 && len(pending) > 0 {
		r.scope.ledger.hold(d, pending...)
	} else if err := r.scope.ledger.record(r.ctx, pending); err != nil {
		return err
	}
	return r.emit(event.New(d))
}

// yieldRecorded records the entries of an event and yields it to the reader. A nested run's
// are recorded where the root's reader gets it; by itself where a tool keeps the
// events of the runs that it starts.
func (r *runner) yieldRecorded(e event.Event) error {
	root := r.scope.Depth == 0
	if root {
		if err := r.scope.ledger.record(r.ctx, r.scope.ledger.take(e.Data)); err != nil {
			return err
		}
	}
	if !r.yield(e, nil) {
		r.scope.ledger.take(e.Data)
		return r.broken()
	}
	if root {
		return nil
	}
	return r.scope.ledger.record(r.ctx, r.scope.ledger.take(e.Data))
}
