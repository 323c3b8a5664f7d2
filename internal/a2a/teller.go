package a2a

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// answerID is the artifact that holds the answer.
const answerID = "answer"

// teller builds the task from the events of its run, and the stream's update for each.
type teller struct {
	task task
	now  func() time.Time
	// open are the open questions.
	open func() ([]store.RunRequest, error)

	text   event.Spoken
	said   bool // the client has a piece of the answer
	output *part
	failed *event.ErrorData
	// seq is the number of the last event.
	seq int64
	// ended is true after the last event.
	ended bool
}

func newTeller(t *chat.Turn, now func() time.Time, open func() ([]store.RunRequest, error)) *teller {
	l := &teller{now: now, open: open}
	l.task = task{ID: t.RunID, ContextID: t.SessionID, Metadata: map[string]any{"agent": t.Agent}}
	l.task.Status = l.status(stateWorking, nil)
	return l
}

func (l *teller) status(state string, m *message) status {
	return status{State: state, Message: m, Timestamp: l.now().UTC().Format("2006-01-02T15:04:05.000Z07:00")}
}

// snapshot returns the current task.
func (l *teller) snapshot() *task {
	t := l.task
	switch {
	case l.output != nil:
		t.Artifacts = []artifact{{answerID, answerID, []part{*l.output}}}
	default:
		if text := l.text.String(); text != "" {
			t.Artifacts = []artifact{{answerID, answerID, []part{textPart(text)}}}
		}
	}
	return &t
}

// tell adds an event and returns the stream's updates, perhaps none.
func (l *teller) tell(e event.Event) ([]update, error) {
	l.seq = e.Seq
	child := strings.Contains(e.Agent, "/")
	switch d := e.Data.(type) {
	case nil:
		if e.Type == event.Text {
			return l.say(e, child), nil
		}
	case *event.RestartData:
		return append(l.replace(e), l.update(e)), nil
	case *event.ErrorData:
		if !child {
			l.failed = d
		}
		return nil, nil
	case *event.UsageData:
		if child {
			return nil, nil
		}
	case *event.DoneData:
		if child {
			return nil, nil
		}
		return l.done(e, d)
	}
	return []update{l.update(e)}, nil
}

// say adds a piece to the answer. A delegated agent's text is part of the answer, as
// it is in the session.
func (l *teller) say(e event.Event, child bool) []update {
	if e.Text == "" {
		return nil
	}
	begun := l.said
	l.said = true
	u := &artifactUpdate{
		TaskID: l.task.ID, ContextID: l.task.ContextID, Append: begun,
		Artifact: artifact{answerID, answerID, []part{textPart(e.Text)}},
	}
	if child {
		u.Metadata = map[string]any{"agent": e.Agent, "run_id": e.RunID}
	}
	l.text.Add(&e)
	return []update{{Artifact: u}}
}

// replace replaces the client's answer by the one without the text that the event
// voids.
func (l *teller) replace(e event.Event) []update {
	l.text.Add(&e)
	if !l.said {
		return nil
	}
	text := l.text.String()
	l.said = text != ""
	return []update{{Artifact: &artifactUpdate{
		TaskID: l.task.ID, ContextID: l.task.ContextID, Artifact: artifact{answerID, answerID, []part{textPart(text)}},
	}}}
}

// update returns the status with an event in its metadata.
func (l *teller) update(e event.Event) update {
	return update{Status: &statusUpdate{
		TaskID: l.task.ID, ContextID: l.task.ContextID, Status: l.task.Status, Metadata: map[string]any{"event": e},
	}}
}

// done ends the task, or its part before a question to the user. A structured answer
// replaces its text.
func (l *teller) done(e event.Event, d *event.DoneData) (updates []update, err error) {
	if len(d.Output) > 0 {
		l.output = &part{Data: d.Output, MediaType: "application/json"}
		updates = append(updates, update{Artifact: &artifactUpdate{
			TaskID: l.task.ID, ContextID: l.task.ContextID, LastChunk: true,
			Artifact: artifact{answerID, answerID, []part{*l.output}},
		}})
	}
	switch d.Reason {
	case event.ReasonPaused:
		err = l.ask()
	case event.ReasonError:
		l.fail()
	case event.ReasonCancelled:
		l.end(stateCanceled, nil)
	default:
		l.end(stateCompleted, nil)
		if d.Reason != event.ReasonStop {
			l.task.Metadata["reason"], l.task.Metadata["limit"] = d.Reason, d.Limit
		}
	}
	return append(updates, l.update(e)), err
}

func (l *teller) end(state string, m *message) {
	l.task.Status, l.ended = l.status(state, m), true
}

// fail ends the task with an error.
func (l *teller) fail() {
	words := "the run failed"
	if l.failed != nil {
		words = l.failed.Message
	}
	l.end(stateFailed, l.message(textPart(words)))
}

// ask makes the task wait for the answers to its questions.
func (l *teller) ask() error {
	open, err := l.open()
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
	l.task.Status = l.status(stateInputRequired, l.message(parts...))
	return nil
}

// message is one of the agent's; its id does not change when it is sent again.
func (l *teller) message(parts ...part) *message {
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(l.task.ID+"/"+*parts[0].Text))
	return &message{MessageID: id.String(), ContextID: l.task.ContextID, TaskID: l.task.ID, Role: roleAgent, Parts: parts}
}
