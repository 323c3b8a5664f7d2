package a2a

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/p8-org/p8/store"
)

// The sizes of a page of tasks. Tasks with their artifacts are large.
const (
	usualPage        = 50
	maxPage          = 100
	maxArtifactsPage = 20
)

// listParams are the parameters of ListTasks.
type listParams struct {
	ContextID        string  `json:"contextId"`
	Status           string  `json:"status"`
	PageSize         *int    `json:"pageSize"`
	PageToken        string  `json:"pageToken"`
	HistoryLength    *int    `json:"historyLength"`
	ChangedAfter     *string `json:"statusTimestampAfter"`
	UpdatedAfter     *string `json:"lastUpdatedAfter"` // the name in drafts of version 1.0
	IncludeArtifacts bool    `json:"includeArtifacts"`
}

// listResult is the answer of ListTasks; every field is always there.
type listResult struct {
	Tasks         any    `json:"tasks"`
	NextPageToken string `json:"nextPageToken"`
	PageSize      int    `json:"pageSize"`
	TotalSize     int64  `json:"totalSize"`
}

// filter reads the parameters.
func (p *listParams) filter(resumes bool) (f store.RunFilter, err error) {
	f = store.RunFilter{SessionID: p.ContextID, Cursor: p.PageToken, ByChange: true, Limit: usualPage}
	if p.PageSize != nil {
		if f.Limit = *p.PageSize; f.Limit < 1 || f.Limit > maxPage {
			return f, wrong("pageSize is a number from 1 to 100")
		}
	}
	if p.IncludeArtifacts {
		f.Limit = min(f.Limit, maxArtifactsPage)
	}
	for _, after := range []*string{p.ChangedAfter, p.UpdatedAfter} {
		if after != nil {
			if f.ChangedSince, err = time.Parse(time.RFC3339, *after); err != nil {
				return f, wrong("statusTimestampAfter is a time such as 2026-01-31T09:00:00Z")
			}
		}
	}
	f.Statuses, err = statuses(p.Status, resumes)
	return f, err
}

// statuses returns the statuses of runs whose tasks are in a state; nil for "", which
// means any state.
func statuses(state string, resumes bool) ([]string, error) {
	state = strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
	switch "TASK_STATE_" + strings.TrimPrefix(state, "TASK_STATE_") {
	case "TASK_STATE_", "TASK_STATE_UNSPECIFIED":
		return nil, nil
	case stateWorking:
		if resumes {
			return []string{store.RunRunning, store.RunInterrupted}, nil
		}
		return []string{store.RunRunning}, nil
	case stateInputRequired, stateAuthRequired:
		return []string{store.RunWaiting}, nil
	case stateCompleted:
		return []string{store.RunCompleted}, nil
	case stateCanceled:
		return []string{store.RunCancelled}, nil
	case stateFailed:
		if resumes {
			return []string{store.RunFailed}, nil
		}
		return []string{store.RunFailed, store.RunInterrupted}, nil
	case "TASK_STATE_SUBMITTED", "TASK_STATE_REJECTED":
		return []string{"none"}, nil // no task here is in such a state
	}
	return nil, wrong("status is a state of a task, such as TASK_STATE_WORKING")
}

// list answers ListTasks: the caller's tasks of the agent, those that changed last first.
func (x *exchange) list(raw json.RawMessage) error {
	var p listParams
	if len(raw) > 0 {
		if err := params(raw, &p); err != nil {
			return err
		}
	}
	if x.o.Store == nil {
		return unsupported("tasks are not stored here, so there is no list of them")
	}
	f, err := p.filter(x.o.Resumes)
	if err != nil {
		return err
	}
	f.AgentName = x.agent.name
	total, err := x.o.Store.CountRuns(x.ctx, f)
	if err != nil {
		return err
	}
	runs, next, err := x.o.Store.Runs(x.ctx, f)
	if errors.Is(err, store.ErrInvalid) {
		return wrong("pageToken is not one that a list of tasks returned")
	}
	if err != nil {
		return err
	}
	tasks := make([]any, 0, len(runs))
	for i := range runs {
		t, err := x.listed(runs[i], &p)
		if errors.Is(err, store.ErrNotFound) {
			continue // it was deleted a moment ago
		}
		if err != nil {
			return err
		}
		if x.old {
			tasks = append(tasks, oldTask(t))
		} else {
			tasks = append(tasks, t)
		}
	}
	return x.answer(listResult{Tasks: tasks, NextPageToken: next, PageSize: len(tasks), TotalSize: total})
}

// listed returns a task of a list.
func (x *exchange) listed(r store.Run, p *listParams) (t *task, err error) {
	var l *builder
	if p.IncludeArtifacts {
		turn, now, err := x.find(r.ID)
		if err != nil {
			return nil, err
		}
		l, err = x.state(turn, now)
		if err != nil {
			return nil, err
		}
	} else if l, err = x.brief(r); err != nil {
		return nil, err
	}
	t = l.snapshot()
	t.History, err = x.history(r, p.HistoryLength, 0)
	return t, err
}
