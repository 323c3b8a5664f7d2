package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/p8-org/p8/telemetry"
)

// Bounds of a job's arguments and keys, in bytes.
const (
	maxArgs = 64 << 10
	maxKey  = 512
)

// EnqueueOptions are about one job.
type EnqueueOptions struct {
	// UniqueKey, if not "", admits one waiting or running job of its kind with this key. A
	// Unique kind also compares "".
	UniqueKey string
	// RunAt is the earliest time; now when zero.
	RunAt time.Time
	// MaxAttempts is the kind's if 0.
	MaxAttempts int
}

// Receipt is the result of Enqueue.
type Receipt struct {
	// ID is the job's, or that of the unique job that exists already.
	ID int64
	// Duplicate: such a job waits or runs; nothing was added.
	Duplicate bool
}

// Enqueue adds a job of a registered kind; it is stored when Enqueue returns.
// The arguments become JSON of 64 KiB at most; nil is {}.
func (q *Queue) Enqueue(ctx context.Context, kind string, args any, o EnqueueOptions) (Receipt, error) {
	client, err := q.current(true)
	if err != nil {
		return Receipt{}, err
	}
	p, opts, err := q.prepare(kind, args, o)
	if err != nil {
		return Receipt{}, err
	}
	p.Trace = telemetry.Parent(telemetry.With(ctx, q.opt.Telemetry))
	res, err := client.Insert(ctx, p, opts)
	if err != nil {
		return Receipt{}, failure(ctx, "enqueue "+kind, err)
	}
	return Receipt{ID: res.Job.ID, Duplicate: res.UniqueSkippedAsDuplicate}, nil
}

// unfinished are the states in which a unique job excludes another one.
var unfinished = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
	rivertype.JobStateRunning, rivertype.JobStateScheduled,
}

// lastPriority is River's lowest; its default is 1.
const lastPriority = 4

func (q *Queue) prepare(kind string, args any, o EnqueueOptions) (payload, *river.InsertOpts, error) {
	q.mu.Lock()
	w, ok := q.kinds[kind]
	q.mu.Unlock()
	if !ok {
		return payload{}, nil, fmt.Errorf("jobs: no worker is registered for the kind %.64q", kind)
	}
	if len(o.UniqueKey) > maxKey {
		return payload{}, nil, fmt.Errorf("jobs: the unique key has more than %d bytes", maxKey)
	}
	encoded, err := encode(args)
	if err != nil {
		return payload{}, nil, fmt.Errorf("jobs: enqueue %s: %w", kind, err)
	}
	opts := &river.InsertOpts{MaxAttempts: w.MaxAttempts, ScheduledAt: o.RunAt}
	if o.MaxAttempts > 0 {
		opts.MaxAttempts = o.MaxAttempts
	}
	if w.Last {
		opts.Priority = lastPriority
	}
	if w.Unique || o.UniqueKey != "" {
		opts.UniqueOpts = river.UniqueOpts{ByArgs: true, ByState: unfinished}
	}
	return payload{kind: kind, Key: o.UniqueKey, Args: encoded}, opts, nil
}

// Schedule is when a periodic job is enqueued. One of Cron and Every is
// required.
type Schedule struct {
	// Cron is an expression of five fields (minute, hour, day of month, month, day
	// of week), a macro such as @daily, in UTC unless it begins with
	// "CRON_TZ=Europe/Vienna ".
	Cron string
	// Every is an interval of at least a second, from the start of the leading replica.
	Every time.Duration
	// AtStart enqueues one as well when a replica begins to lead.
	AtStart bool
	// Args are the job's; nil is {}.
	Args any
}

// Periodic enqueues a registered kind by a schedule. The leading replica does it for all.
// It adds no job while the last one waits or runs, and does not make up for times at
// which no process ran. Call it before Start.
func (q *Queue) Periodic(kind string, s Schedule) error {
	var next river.PeriodicSchedule
	switch {
	case (s.Cron == "") == (s.Every == 0):
		return fmt.Errorf("jobs: give %s either a cron expression or an interval", kind)
	case s.Cron != "":
		parsed, err := ParseCron(s.Cron)
		if err != nil {
			return err
		}
		next = parsed
	case s.Every < time.Second:
		return fmt.Errorf("jobs: the interval of %s is %v, less than a second", kind, s.Every)
	default:
		next = river.PeriodicInterval(s.Every)
	}
	p, opts, err := q.prepare(kind, s.Args, EnqueueOptions{UniqueKey: "periodic"})
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running {
		return fmt.Errorf("jobs: schedule %s before the queue starts", kind)
	}
	if q.kinds[kind].Unique {
		p.Key = "" // one of its kind, whoever enqueued it
	}
	q.schedule = append(q.schedule, river.NewPeriodicJob(next,
		func() (river.JobArgs, *river.InsertOpts) { return p, opts },
		&river.PeriodicJobOpts{RunOnStart: s.AtStart}))
	return nil
}
