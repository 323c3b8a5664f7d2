package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/p8-org/p8/chat/internal/delegate"
	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/recovery"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/telemetry"
	"github.com/p8-org/p8/tool"
)

// execute executes a run until it is over or pauses.
func (s *executor) execute(ctx context.Context, b *begun) {
	defer s.sessions.Done()
	defer b.cancel(nil)
	defer b.account.Close()
	defer b.endQuota()
	r := s.newRecorder(b)
	if telemetry.From(ctx) != nil {
		r.rows.Spans = new(record.Spans)
		r.rows.TraceID, r.rows.SpanID = telemetry.IDs(ctx)
	}
	p := &b.prepared
	start := event.ProgressData{Step: 1, Label: "Processing request", SessionID: p.session.stored.ID, InReplyTo: p.message.id}
	switch {
	case b.resumed != nil:
		if err := r.replay(); err != nil {
			// Nothing was done: it may be resumed once more.
			r.finish(fmt.Errorf("%w: %w", errInterrupted, err))
			return
		}
		start.Label = "Continuing"
		r.progress(&start)
	case p.cast.Script == nil:
		r.progress(&start)
	}
	r.shareState()
	r.finish(r.follow(ctx))
	s.reportEnded(r)
	if b.running.result.Reason == event.ReasonPaused && len(r.asks) > 0 {
		// An answer that was stored just before the pause did not resume the run, because
		// the run was still under way: it resumes itself.
		if err := s.resume(b.stored, p.request.runID); err != nil && !errors.Is(err, ErrClosed) {
			s.o.Logger.Warn("a run could not be resumed", "run", p.request.runID, "error", err)
		}
	}
}

// follow records events until the run is over, has to wait, or is cancelled. A panic in a
// model or a tool ends this run alone.
func (r *recorder) follow(ctx context.Context) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = r.s.panicked(r.rows.RunID, x)
		}
	}()
	wrong, err := r.now.wrongAnswer(ctx)
	if err != nil {
		return err
	}
	if r.unanswered = wrong != ""; r.unanswered {
		return r.listen(ctx, r.sentence(wrong))
	}
	for {
		if err := r.listen(ctx, r.events(identity.With(ctx, r.now.caller))); err != nil {
			return err
		}
		again, err := r.another()
		if err != nil || !again {
			return err
		}
	}
}

// events returns the events of the agent, or of the script in its place.
func (r *recorder) events(ctx context.Context) iter.Seq2[event.Event, error] {
	if script := r.now.cast.Script; script != nil {
		return script(ctx, r.now.message.text, r.now.request.asked.Options)
	}
	if r.now.request.dialogue() {
		ctx = tool.WithDialogue(ctx)
	}
	return run.Stream(delegate.In(ctx, r.now.cast.Agent, r.tree), r.options())
}

// listen records the events of one run.
func (r *recorder) listen(ctx context.Context, events iter.Seq2[event.Event, error]) error {
	for e, err := range events {
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		full := r.begun.log.Full() || r.text.Size() >= record.MaxText
		if full {
			r.begun.cancel(errTooLong)
		}
		if full && (e.Data == nil || e.Type == event.ToolArguments) {
			continue // text is dropped; the ends of open calls and the cost are still shown
		}
		if r.scripted() {
			e.RunID = r.rows.RunID
			e.Agent = cmp.Or(e.Agent, r.rows.Agent)
		}
		r.record(e)
	}
	return nil
}

func (r *recorder) options() run.Options {
	o, c := r.s.o.runOptions(), &r.now.cast
	o.Agent, o.Model, o.Tools = c.Agent, c.Model, c.Tools
	o.Warnings = append(c.Warnings[:len(c.Warnings):len(c.Warnings)], r.now.request.asked.Warnings...)
	o.Chained, o.ChainedMissing = c.Chained, c.ChainedMissing
	o.Messages, o.Settings, o.ToolChoice = r.now.payload.Messages, r.s.stages.settings(r.now), r.now.request.asked.ToolChoice
	o.RunID, o.Path, o.Steer, o.Memory = r.rows.RunID, c.Name, r.begun.running.inbox.Take, runMemory{r}
	if r.begun.quota.Meter != nil {
		o.Allowed = r.begun.quota.Meter()
	}
	o.Timeout, o.MaxDepth, o.ResultChars = r.s.o.RunTimeout, r.s.o.MaxDepth, r.s.o.ResultChars
	if r.rows.Spans != nil {
		o.Traced = r.rows.Spans.Add
	}
	o.Spent = func(parts []run.Spent) {
		if _, before := r.begun.journal.Spent(); len(before) > 0 {
			parts = run.AddSpent(before, parts...)
		}
		r.parts = parts
	}
	if r.s.o.Store != nil {
		o.Journal, o.Thread, o.NewID = r.begun.journal, r.begun.journal.Thread(), r.s.o.NewID
	}
	return o
}

// another reports whether the turn goes on with one more run: that of the agent that the
// session was handed to, or the same one, if its questions were answered meanwhile.
func (r *recorder) another() (bool, error) {
	switch {
	case r.done == nil:
		return false, nil
	}
	asked := &r.now.request.asked
	asked.ToolChoice, asked.Warnings = asked.ToolChoice.Later(), nil
	switch {
	case r.done.TransferTo != "":
		return true, r.handOver(r.done.TransferTo)
	case r.done.Reason != event.ReasonPaused || len(r.unasked) > 0:
		return false, nil
	}
	open, err := r.s.stages.readAnswers(r.begun.stored, r.rows.RunID, r.begun.journal)
	if err != nil || open || len(r.asks) == 0 {
		return false, err
	}
	r.asks = nil
	return true, r.recallPause()
}

// maxHandOvers bounds the agents that hand one turn over to each other.
const maxHandOvers = 10

// handOver makes another agent go on with the turn: with its own prompt and tools, the
// session's history and the user's message.
func (r *recorder) handOver(name string) error {
	if n, _ := r.begun.journal.HandOvers(); n >= maxHandOvers {
		return errHandedOn
	}
	p := r.now
	p.request.asked.Document, p.request.asked.Agent = nil, name
	p, err := r.s.stages.withCast(r.begun.stored, p, name, named{})
	if err != nil {
		return err
	}
	r.routing.HandOver(r.rows.Agent, p.cast.Agent)
	spent := event.UsageData{}
	if r.usage != nil {
		spent = *r.usage
	}
	r.begun.journal.HandOver(p.cast.Name, spent, r.parts, r.routing.State())
	if r.s.o.Store == nil {
		if p, err = r.s.stages.withState(r.begun.stored, p); err == nil {
			p, _, err = r.s.stages.withSent(p)
		}
	} else {
		p, err = r.s.stages.rebuild(r.begun.stored, p, r.begun.journal, r.begun.running.inbox)
	}
	r.now, r.rows.Agent, r.speaker = p, p.cast.Name, p.cast.Name
	r.done, r.tookOver, r.open = nil, "", 0
	return err
}

// replay recalls what the run said before it was resumed.
func (r *recorder) replay() (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = r.s.panicked(r.rows.RunID, x)
		}
	}()
	from := r.begun.resumed
	if from.run.LastSeq == 0 {
		return nil
	}
	for e, err := range recovery.Said(r.begun.stored, r.s.o.Store, &from.run, 0) {
		if err != nil {
			return err
		}
		r.text.Add(&e)
		if e.Void == 0 {
			r.recall(e)
		}
		r.heard = e.Seq
	}
	return nil
}

// recall takes in an event from before the run was resumed.
func (r *recorder) recall(e event.Event) {
	switch d := e.Data.(type) {
	case nil:
		r.shown = true
		if e.Type == event.Text {
			r.speaker = e.Agent
		}
	case *event.ToolCallData:
		r.recallCall(e.RunID, d)
	case *event.ActionData:
		if e.Agent == r.rows.Agent {
			r.routing.Action(r.begun.stored, r.rows.Agent, d)
		}
	}
	r.asides.Add(e)
	r.rows.Heard(e)
	r.tree.Recall(e)
}

// recallCall notes the calls that have a row without a result.
func (r *recorder) recallCall(run string, d *event.ToolCallData) {
	switch {
	case d.Structured || d.Status == event.ToolStarted:
	case d.MessageID == "": // it was shown before it was stored, and may not be
	case d.Status == event.ToolExecuting:
		r.begins(run, d.ID)
	default:
		delete(r.called, record.Call{Run: run, ID: d.ID})
	}
}

// recallPause gives the delegated agents the events from before a pause, if the run
// continues within this process.
func (r *recorder) recallPause() error {
	last := r.begun.log.Last()
	if last <= r.heard {
		return nil
	}
	for e, err := range r.begun.log.Read(r.begun.stored, r.heard) {
		if err != nil {
			return err
		}
		r.tree.Recall(e)
		if e.Seq >= last {
			break
		}
	}
	r.heard = last
	return nil
}

// runMemory is the run's account, and what it can read back of its own text.
type runMemory struct{ r *recorder }

// Hold counts bytes.
func (m runMemory) Hold(n int) { m.r.begun.account.Hold(n) }

// Keep returns how many bytes of shown text the run may keep.
func (m runMemory) Keep() int { return record.KeepText(&m.r.begun.account) }

// Shown returns the end of what the run itself has said.
func (m runMemory) Shown(n int) (string, error) {
	m.r.writer.Flush()
	return record.ReadText(m.r.begun.stored, m.r.begun.log, n, m.r.rows.RunID)
}
