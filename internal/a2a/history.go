package a2a

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
)

// maxHistory bounds the messages of a task's history, and maxRows the rows of its session
// that are read for them.
const (
	maxHistory = 100
	maxRows    = 500
)

// historyLength checks the requested length; usual is the default.
func historyLength(wanted *int, usual int) (int, error) {
	switch {
	case wanted == nil:
		return usual, nil
	case *wanted < 0:
		return 0, wrong("historyLength is 0 or more")
	}
	return min(*wanted, maxHistory), nil
}

// said is a message with its time.
type said struct {
	at time.Time
	message
}

// history returns the newest messages of the task, the oldest first: what the user wrote,
// and the questions that have been answered. The answer itself is an artifact, and an open
// question is in the status.
func (v view) history(r store.Run, wanted *int, usual int) ([]message, error) {
	n, err := historyLength(wanted, usual)
	if err != nil || n == 0 || v.o.Store == nil {
		return nil, err
	}
	list, err := v.written(r)
	if err != nil {
		return nil, err
	}
	asked, _, err := v.o.Chat.Requests(v.ctx, store.RequestFilter{RunID: r.ID, Limit: maxHistory})
	if err != nil {
		return nil, err
	}
	for i := range asked {
		if q := &asked[i]; q.Status == store.RequestAccepted || q.Status == store.RequestDeclined {
			question := said{q.CreatedAt, messageOf(r, roleAgent, q.ID, textPart(q.Message), part{Data: question(*q), MediaType: "application/json"})}
			list = append(list, question, said{q.DecidedAt, messageOf(r, roleUser, q.ID+"-answer", answered(q))})
		}
	}
	arrange.By(list, func(a, b said) int { return a.at.Compare(b.at) })
	messages := make([]message, len(list))
	for i := range list {
		messages[i] = list[i].message
	}
	return messages[max(0, len(messages)-n):], nil
}

func messageOf(r store.Run, role, id string, parts ...part) message {
	return message{MessageID: id, ContextID: r.SessionID, TaskID: r.ID, Role: role, Parts: parts}
}

// written returns the user's messages to a run: the first one, and those that steered it.
func (v view) written(r store.Run) ([]said, error) {
	if r.InReplyTo == "" {
		return nil, nil
	}
	first, err := v.o.Store.Message(v.ctx, r.InReplyTo)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	rows, err := v.o.Store.Messages(v.ctx, r.SessionID, store.MessageFilter{
		AfterSeq: first.Seq - 1, Limit: maxRows, Types: []string{store.MessageUser},
	})
	if err != nil {
		return nil, ignoreMissing(err)
	}
	rows = slices.DeleteFunc(rows, func(m store.Message) bool {
		return m.Content == nil || m.RunID != r.ID && m.ID != r.InReplyTo
	})
	list := make([]said, len(rows))
	for i, m := range rows {
		list[i] = said{m.CreatedAt, messageOf(r, roleUser, m.ID, textPart(*m.Content))}
	}
	return list, nil
}

// answered returns the user's answer to a question.
func answered(q *store.RunRequest) part {
	o := object{"request_id": q.ID, "approved": q.Status == store.RequestAccepted}
	if len(q.Content) > 0 && q.Kind == event.RequestElicitation {
		o["content"] = q.Content
	}
	if strings.TrimSpace(q.Comment) != "" {
		o["comment"] = q.Comment
	}
	b, err := json.Marshal(o)
	if err != nil {
		b = null
	}
	return part{Data: b, MediaType: "application/json"}
}
