package jobs

import (
	"cmp"
	"context"
	"time"

	"github.com/riverqueue/river/rivertype"

	"github.com/p8-org/p8/internal/arrange"
)

// KindStats are statistics of the jobs of a kind, over all processes.
type KindStats struct {
	Kind string `json:"kind"`
	// States counts the jobs that are kept by their state; completed and cancelled ones
	// are kept a day, failed ones a week.
	States map[State]int `json:"states"`
	// Attempts counts the attempts, Errors the failed ones.
	Attempts int `json:"attempts"`
	Errors   int `json:"errors"`
	// Average and Longest are the durations of completed jobs, on SQLite to a second; Oldest
	// is how long the job that is due the longest has waited.
	Average time.Duration `json:"average_ns"`
	Longest time.Duration `json:"longest_ns"`
	Oldest  time.Duration `json:"oldest_waiting_ns"`
}

// Stats are the kinds of jobs that are kept, by name: all jobs, or those whose arguments have the
// tenant. The database counts: no job is read.
func (q *Queue) Stats(ctx context.Context, tenant string) ([]KindStats, error) {
	if _, err := q.current(false); err != nil {
		return nil, err
	}
	counts, err := q.db.count(ctx, tenant)
	if err != nil {
		if q.db.missing(err) {
			return nil, nil
		}
		return nil, failure(ctx, "count the jobs", err)
	}
	return summed(counts), nil
}

// tally is the jobs of one kind in one state.
type tally struct {
	kind             string
	state            rivertype.JobState
	jobs             int
	attempts, errors int
	// Seconds, by the database's clock: the sum and the longest of the completed jobs, and
	// how long the oldest due job has waited.
	took, longest, oldest float64
}

// summed is the tallies by kind, in order.
func summed(counts []tally) []KindStats {
	arrange.By(counts, func(a, b tally) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.state, b.state))
	})
	var all []KindStats
	for _, c := range counts {
		if n := len(all); n == 0 || all[n-1].Kind != c.kind {
			all = append(all, KindStats{Kind: c.kind, States: map[State]int{}})
		}
		k := &all[len(all)-1]
		k.States[ours(c.state)] += c.jobs
		k.Attempts += c.attempts
		k.Errors += c.errors
		k.Oldest = max(k.Oldest, seconds(c.oldest))
		if c.state == rivertype.JobStateCompleted {
			k.Longest = seconds(c.longest)
			k.Average = seconds(c.took / float64(max(1, c.jobs)))
		}
	}
	return all
}

// seconds is a time that is never negative: SQLite has whole seconds where a job ends.
func seconds(s float64) time.Duration { return max(0, time.Duration(s*float64(time.Second))) }
