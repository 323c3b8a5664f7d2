package a2a

import (
	"encoding/json"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/store"
)

// get answers GetTask.
func (x *exchange) get(raw json.RawMessage) error {
	var p taskParams
	if err := params(raw, &p); err != nil {
		return err
	}
	t, r, err := x.find(p.ID)
	if err != nil {
		return err
	}
	l, err := x.state(t, r)
	if err != nil {
		return err
	}
	task := l.snapshot()
	if task.History, err = x.history(r, p.HistoryLength, maxHistory); err != nil {
		return err
	}
	return x.answerTask(task)
}

// over reports whether a run has ended.
func over(r store.Run) bool {
	return r.Status == store.RunCompleted || r.Status == store.RunFailed || r.Status == store.RunCancelled
}

// unended finds the task of a request, and returns ended if its run has ended.
func (x *exchange) unended(raw json.RawMessage, ended error) (*chat.Turn, store.Run, error) {
	var p taskParams
	if err := params(raw, &p); err != nil {
		return nil, store.Run{}, err
	}
	t, r, err := x.find(p.ID)
	if err == nil && over(r) {
		err = ended
	}
	return t, r, err
}

// cancel answers CancelTask.
func (x *exchange) cancel(raw json.RawMessage) error {
	_, r, err := x.unended(raw, fail(codeNotCanceled, "TASK_NOT_CANCELABLE", "the task has ended"))
	if err != nil {
		return err
	}
	if _, err := x.o.Chat.Stop(x.ctx, r.ID); err != nil {
		return err
	}
	return x.get(raw)
}
