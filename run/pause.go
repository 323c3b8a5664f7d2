package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// maxQuestions bounds what one call may ask the user.
const maxQuestions = 100

// question is a question to the user without an answer.
type question struct {
	id string
	tool.Question
}

// requestID returns the id of the n-th question of a call. It is the same when the call is
// made again, and differs between calls: an approval counts only for what was shown.
func (r *runner) requestID(c *call, n int, asked ...string) string {
	what := strings.Join(append([]string{
		r.scope.RootRunID, r.scope.Thread, r.Path, c.id, c.name, string(c.raw), fmt.Sprint(n),
	}, asked...), "\x00")
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(what)).String()
}

// approved reports whether a call may be made. A call that needs an approval waits for
// it, or fails if the user declined.
func (r *runner) approved(c *call) (bool, error) {
	guarded, ok := c.tool.(tool.Guarded)
	if !ok {
		return true, nil
	}
	q := guarded.Approval(c.call())
	if q == nil {
		return true, nil
	}
	c.guarded = true
	if r.Journal == nil {
		return false, r.fail(c, "this call needs the user's approval, and nobody can be asked here")
	}
	id := r.requestID(c, 0)
	answer, ok := r.Journal.Answer(id)
	switch {
	case !ok:
		c.waiting = true
		asked := question{id, *q}
		asked.Kind = event.RequestApproval
		return false, r.request(c, &asked)
	case answer.Action == tool.Accepted:
		return true, nil
	}
	c.result = refused(answer)
	return false, r.emitResult(c, false)
}

// refused returns the result of a call that the user did not approve.
func refused(a tool.Answer) result {
	status, why := "cancelled", "the user was asked to approve this call and did not decide"
	switch a.Action {
	case tool.Declined:
		status, why = "declined", "the user declined this call"
	case tool.Expired:
		status, why = "expired", "the user was asked to approve this call and did not answer in time"
	}
	if a.Reason != "" {
		why += ": " + a.Reason
	}
	res := failure(why)
	if content, err := json.Marshal(map[string]string{"status": status, "error": why}); err == nil {
		res.Content = string(content)
	}
	return res
}

// request shows a question to the user once.
func (r *runner) request(c *call, q *question) error {
	if slices.Contains(c.shown, q.id) {
		return nil
	}
	d := &event.ActionRequestData{
		RequestID: q.id, Kind: q.Kind, Message: q.Message, ToolName: c.name, ToolCallID: c.id, Arguments: c.raw,
		Schema: q.Schema, Card: q.Card,
	}
	if q.Expires > 0 {
		d.ExpiresAt = r.Now().Add(q.Expires)
	}
	if len(d.Card) == 0 {
		d.Card = newCard(q.id, &q.Question)
	}
	if q.Action != nil {
		if err := r.emit(event.New(q.Action)); err != nil {
			return err
		}
	}
	r.keep(Entry{ToolCallID: c.id, Shown: q.id})
	return r.recordAndEmit(d)
}

// asker is the tool.Asker of one call. Its questions are shown when the call has returned
// tool.ErrPaused.
type asker struct {
	r *runner
	c *call

	mu    sync.Mutex
	asked int
	open  []question
}

// Ask returns the answer, or tool.ErrPaused if the user has not answered yet.
func (a *asker) Ask(_ context.Context, q tool.Question) (tool.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked++; a.asked > maxQuestions {
		return tool.Answer{}, &tool.Error{Message: fmt.Sprintf("one call may ask the user %d questions, and has done so", maxQuestions)}
	}
	id := a.r.requestID(a.c, a.asked, q.Message, string(q.Schema))
	if answer, ok := a.r.Journal.Answer(id); ok {
		return answer, nil
	}
	if q.Kind == "" {
		q.Kind = event.RequestElicitation
	}
	a.open = append(a.open, question{id, q})
	return tool.Answer{}, tool.ErrPaused
}

func (a *asker) questions() []question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open
}

// wait leaves a call without a result and shows its questions. The questions of a run
// below it were shown already.
func (r *runner) wait(c *call) error {
	questions := c.asker.questions()
	if len(questions) == 0 && !isStreamer(c) {
		return r.fail(c, "the call waits for an answer, and has not asked for one")
	}
	c.waiting = true
	if !slices.ContainsFunc(questions, func(q question) bool { return !slices.Contains(c.shown, q.id) }) {
		r.keep(Entry{ToolCallID: c.id, Shown: attemptOver}) // no new question ends the attempt
	}
	for _, q := range questions {
		if err := r.request(c, &q); err != nil {
			return err
		}
	}
	return nil
}

// fromClient takes the result of a tool that the client runs, or waits for it.
func (r *runner) fromClient(c *call) error {
	if r.Journal != nil {
		if res, ok := r.Journal.Result(r.scope.Thread, c.id); ok {
			c.Result = res
			return r.emitResult(c, false)
		}
	}
	c.waiting, c.atClient = true, true
	return nil
}

// waiting returns the end of a run with a waiting call, nil if no call waits.
func waiting(calls []*call) *event.DoneData {
	var end *event.DoneData
	for _, c := range calls {
		switch {
		case c.waiting && !c.atClient:
			return &event.DoneData{Reason: event.ReasonPaused}
		case c.waiting:
			end = &event.DoneData{Reason: event.ReasonToolCalls}
		}
	}
	return end
}
