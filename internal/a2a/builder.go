package a2a

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// answerID is the artifact that holds the answer.
const answerID = "answer"

// builder builds the task from the events of its run, and the stream's update for each.
type builder struct {
	task task
	now  func() time.Time
	// open are the open questions.
	open func() ([]store.RunRequest, error)

	text event.Spoken
	// voices and paragraphs build the same text piece by piece; pieces are those of one
	// event.
	voices     event.Voices
	paragraphs event.Paragraphs
	pieces     []update
	said       bool // the client has a piece of the answer
	output     *part
	failed     *event.ErrorData
	// seq is the number of the last event, pauses left out.
	seq int64
	// ended is true after the last event.
	ended bool
}

func newBuilder(t *chat.Turn, now func() time.Time, open func() ([]store.RunRequest, error)) *builder {
	b := &builder{now: now, open: open}
	b.task = task{ID: t.RunID, ContextID: t.SessionID, Metadata: map[string]any{"agent": t.Agent}}
	b.task.Status = b.status(stateWorking, nil)
	b.voices.Say = b.addText
	return b
}

func (b *builder) status(state string, m *message) status {
	return status{State: state, Message: m, Timestamp: stamp(b.now())}
}

// stamp returns a time as the protocol writes it.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// dated sets the time since which the run has its status.
func (b *builder) dated(r store.Run) {
	if !r.ChangedAt.IsZero() {
		b.task.Status.Timestamp = stamp(r.ChangedAt)
	}
}

// snapshot returns the current task.
func (b *builder) snapshot() *task {
	t := b.task
	switch {
	case b.output != nil:
		t.Artifacts = []artifact{{answerID, answerID, []part{*b.output}}}
	default:
		if text := b.text.Said(); text != "" {
			t.Artifacts = []artifact{{answerID, answerID, []part{textPart(text)}}}
		}
	}
	return &t
}

// add adds an event and returns the stream's updates, perhaps none.
func (b *builder) add(e event.Event) ([]update, error) {
	b.pieces = nil
	if d, ok := e.Data.(*event.DoneData); !ok || d.Reason != event.ReasonPaused {
		b.seq = e.Seq // the end of a pause has a number that further events do not follow
	}
	if b.waits() && !last(e) {
		b.task.Status = b.status(stateWorking, nil) // it has its answer
	}
	b.text.Add(&e)
	if err := b.voices.Add(&e); err != nil {
		return nil, err
	}
	more, err := b.more(e)
	return append(b.pieces, more...), err
}

// waits reports whether the task waits for its user.
func (b *builder) waits() bool {
	s := b.task.Status.State
	return s == stateInputRequired || s == stateAuthRequired
}

// last reports whether an event is one of those at the end of a run. A task that is
// cancelled while it waits has them, too.
func last(e event.Event) bool {
	return e.Type == event.Metadata || e.Type == event.Usage || e.Type == event.Error || e.Type == event.Done
}

// more returns the updates of an event that are not text of the answer.
func (b *builder) more(e event.Event) ([]update, error) {
	child := strings.Contains(e.Agent, "/")
	switch d := e.Data.(type) {
	case nil:
		if e.Type == event.Text {
			return nil, nil
		}
	case *event.StateData, *event.ModelCallData:
		return nil, nil // A2A's clients share no state, and have no name for requests
	case *event.ToolArgumentsData:
		return nil, nil // the call's next stage has all arguments
	case *event.RestartData:
		return append(b.replace(), b.update(e)), nil
	case *event.ErrorData:
		if !child {
			b.failed = d
		}
		return nil, nil
	case *event.UsageData:
		if child {
			return nil, nil
		}
	case *event.DoneData:
		if child || d.Reason == event.ReasonPaused && b.waits() {
			return nil, nil // the client knows that it waits
		}
		return b.done(e, d)
	}
	return []update{b.update(e)}, nil
}

// addText adds a piece to the answer. A delegated agent's text is part of the answer, as
// it is in the session.
func (b *builder) addText(e event.Event, begins bool) error {
	u := &artifactUpdate{
		TaskID: b.task.ID, ContextID: b.task.ContextID, Append: b.said,
		Artifact: artifact{answerID, answerID, []part{textPart(b.paragraphs.Next(e.Text, begins))}},
	}
	b.said = true
	if strings.Contains(e.Agent, "/") {
		u.Metadata = map[string]any{"agent": e.Agent, "run_id": e.RunID}
	}
	b.pieces = append(b.pieces, update{Artifact: u})
	return nil
}

// replace replaces the client's answer by the one without the text that a restart voids.
func (b *builder) replace() []update {
	if !b.said {
		return nil
	}
	text := b.text.Said()
	b.said, b.paragraphs, b.pieces = text != "", event.Paragraphs{}, nil
	b.paragraphs.Next(text, false)
	return []update{{Artifact: &artifactUpdate{
		TaskID: b.task.ID, ContextID: b.task.ContextID, Artifact: artifact{answerID, answerID, []part{textPart(text)}},
	}}}
}

// update returns the status with an event in its metadata.
func (b *builder) update(e event.Event) update {
	return update{Status: &statusUpdate{
		TaskID: b.task.ID, ContextID: b.task.ContextID, Status: b.task.Status, Metadata: map[string]any{"event": e},
	}}
}

// done ends the task, or its part before a question to the user. A structured answer
// replaces its text.
func (b *builder) done(e event.Event, d *event.DoneData) (updates []update, err error) {
	if len(d.Output) > 0 {
		b.output = &part{Data: d.Output, MediaType: "application/json"}
		updates = append(updates, update{Artifact: &artifactUpdate{
			TaskID: b.task.ID, ContextID: b.task.ContextID, LastChunk: true,
			Artifact: artifact{answerID, answerID, []part{*b.output}},
		}})
	}
	if d.Reason != event.ReasonPaused && b.said && b.output == nil {
		updates = append(updates, update{Artifact: &artifactUpdate{
			TaskID: b.task.ID, ContextID: b.task.ContextID, Append: true, LastChunk: true,
			Artifact: artifact{answerID, answerID, []part{textPart("")}},
		}})
	}
	switch d.Reason {
	case event.ReasonPaused:
		err = b.ask()
	case event.ReasonError:
		b.fail()
	case event.ReasonCancelled:
		b.end(stateCanceled, nil)
	default:
		b.end(stateCompleted, nil)
		if d.Reason != event.ReasonStop {
			b.task.Metadata["reason"], b.task.Metadata["limit"] = d.Reason, d.Limit
		}
	}
	return append(updates, b.update(e)), err
}

func (b *builder) end(state string, m *message) {
	b.task.Status, b.ended = b.status(state, m), true
}

// fail ends the task with an error.
func (b *builder) fail() {
	words := "the run failed"
	if b.failed != nil {
		words = b.failed.Message
	}
	b.end(stateFailed, b.message(textPart(words)))
}

// ask makes the task wait for the answers to its questions.
func (b *builder) ask() error {
	open, err := b.open()
	if err != nil {
		return err
	}
	var words []string
	parts := make([]part, 1, 1+len(open))
	for _, q := range open {
		words = append(words, q.Message)
		parts = append(parts, part{Data: question(q), MediaType: "application/json"})
	}
	parts[0] = textPart(strings.Join(words, "\n"))
	state := stateInputRequired
	if slices.ContainsFunc(open, signsIn) {
		state = stateAuthRequired
	}
	b.task.Status = b.status(state, b.message(parts...))
	return nil
}

// message returns a message of the agent; its id does not change when it is sent again.
func (b *builder) message(parts ...part) *message {
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(b.task.ID+"/"+*parts[0].Text))
	return &message{MessageID: id.String(), ContextID: b.task.ContextID, TaskID: b.task.ID, Role: roleAgent, Parts: parts}
}
