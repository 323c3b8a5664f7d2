package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// State is the progress of a job.
type State string

// The states of a job.
const (
	// Pending: due, waiting for a free worker.
	Pending State = "pending"
	// Scheduled: waiting for its time.
	Scheduled State = "scheduled"
	// Retrying: failed, waiting for its next attempt.
	Retrying  State = "retrying"
	Running   State = "running"
	Completed State = "completed"
	// Failed: its attempts are used up.
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// States are all of them, in the order of a job's life.
func States() []State {
	return []State{Pending, Scheduled, Retrying, Running, Completed, Failed, Cancelled}
}

// ours and theirs translate between River's names of states and this package's.
func ours(s rivertype.JobState) State {
	switch s {
	case rivertype.JobStateAvailable, rivertype.JobStatePending:
		return Pending
	case rivertype.JobStateRetryable:
		return Retrying
	case rivertype.JobStateDiscarded:
		return Failed
	}
	return State(s)
}

func theirs(s State) ([]rivertype.JobState, error) {
	var found []rivertype.JobState
	for _, r := range rivertype.JobStates() {
		if ours(r) == s {
			found = append(found, r)
		}
	}
	if found == nil {
		known := make([]string, 0, len(States()))
		for _, k := range States() {
			known = append(known, string(k))
		}
		return nil, fmt.Errorf("jobs: there is no state %.32q; the states are %s", s, strings.Join(known, ", "))
	}
	return found, nil
}

// Job is a listed job.
type Job struct {
	ID    int64           `json:"id"`
	Kind  string          `json:"kind"`
	State State           `json:"state"`
	Args  json.RawMessage `json:"args"`
	// Key is the job's unique key, if it has one.
	Key string `json:"key,omitempty"`
	// Attempt is the number of the last attempt, 0 before the first.
	Attempt     int `json:"attempt"`
	MaxAttempts int `json:"max_attempts"`
	// Error is the last one, fit to be shown; ErrorAt is when.
	Error   string    `json:"error,omitempty"`
	ErrorAt time.Time `json:"error_at,omitzero"`
	// RunAt is when the job is, or was, due.
	CreatedAt  time.Time `json:"created_at"`
	RunAt      time.Time `json:"run_at"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// Filter chooses jobs; the zero value is the newest 50.
type Filter struct {
	States []State
	Kinds  []string
	// Before is the id of the last job of the page before; 0 begins with the
	// newest.
	Before int64
	// Limit is 50 when 0, and 1000 at most.
	Limit int
}

// List returns jobs, the newest first. It is empty for a database without River's tables.
func (q *Queue) List(ctx context.Context, f Filter) ([]Job, error) {
	client, err := q.current(false)
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	params := river.NewJobListParams().First(min(f.Limit, 1000)).
		OrderBy(river.JobListOrderByID, river.SortOrderDesc)
	if len(f.Kinds) > 0 {
		params = params.Kinds(f.Kinds...)
	}
	if len(f.States) > 0 {
		var states []rivertype.JobState
		for _, s := range f.States {
			r, err := theirs(s)
			if err != nil {
				return nil, err
			}
			states = append(states, r...)
		}
		params = params.States(states...)
	}
	if f.Before > 0 {
		params = params.After(river.JobListCursorFromJob(&rivertype.JobRow{ID: f.Before}))
	}
	res, err := client.JobList(ctx, params)
	if err != nil {
		if q.db.missing(err) {
			return nil, nil
		}
		return nil, failure(ctx, "list jobs", err)
	}
	jobs := make([]Job, len(res.Jobs))
	for i, row := range res.Jobs {
		jobs[i] = listed(row)
	}
	return jobs, nil
}

func listed(row *rivertype.JobRow) Job {
	j := Job{
		ID: row.ID, Kind: row.Kind, State: ours(row.State),
		Attempt: row.Attempt, MaxAttempts: row.MaxAttempts,
		CreatedAt: row.CreatedAt.UTC(), RunAt: row.ScheduledAt.UTC(),
	}
	var p payload
	if json.Unmarshal(row.EncodedArgs, &p) == nil {
		j.Args, j.Key = p.Args, p.Key
	}
	if row.AttemptedAt != nil {
		j.StartedAt = row.AttemptedAt.UTC()
	}
	if row.FinalizedAt != nil {
		j.FinishedAt = row.FinalizedAt.UTC()
		if j.FinishedAt.Before(j.StartedAt) { // SQLite has whole seconds here
			j.FinishedAt = j.StartedAt
		}
	}
	if n := len(row.Errors); n > 0 {
		j.Error, j.ErrorAt = clean(row.Errors[n-1].Error), row.Errors[n-1].At.UTC()
	}
	return j
}

// Retry runs a job again now, whether it waits, failed, was cancelled or is done. A job
// without attempts left gets one more.
func (q *Queue) Retry(ctx context.Context, id int64) (Job, error) {
	client, err := q.current(true)
	if err != nil {
		return Job{}, err
	}
	row, err := client.JobRetry(ctx, id)
	if err != nil {
		return Job{}, q.refused(ctx, "retry job", id, err)
	}
	if row.State == rivertype.JobStateRunning {
		return Job{}, fmt.Errorf("job %d: %w", id, ErrRunning)
	}
	return listed(row), nil
}

// Cancel ends a job for good and cancels the context of a running one. On SQLite only the
// process that runs the job can cancel its context; another process only prevents the
// next attempt. Cancel does not change a finished job.
func (q *Queue) Cancel(ctx context.Context, id int64) (Job, error) {
	client, err := q.current(true)
	if err != nil {
		return Job{}, err
	}
	row, err := client.JobCancel(ctx, id)
	if err != nil {
		return Job{}, q.refused(ctx, "cancel job", id, err)
	}
	q.active.stop(id)
	return listed(row), nil
}

func (q *Queue) refused(ctx context.Context, op string, id int64, err error) error {
	if errors.Is(err, rivertype.ErrNotFound) || q.db.missing(err) {
		return fmt.Errorf("%s %d: %w", op, id, ErrNotFound)
	}
	if q.db.conflict(err) {
		return fmt.Errorf("%s %d: another one like it waits or runs", op, id)
	}
	return failure(ctx, op, err)
}

// Active reports whether the job will still change by itself.
func (s State) Active() bool {
	return slices.Contains([]State{Pending, Scheduled, Retrying, Running}, s)
}
