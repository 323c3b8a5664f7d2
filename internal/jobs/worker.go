package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/p8-org/p8/telemetry"
)

// Worker runs the jobs of one kind.
type Worker struct {
	// Run does the job. It must end when ctx does, and must tolerate being run twice. After
	// an error the job is retried; [Again] is an error that sets the time of the retry. The
	// error's text is stored and shown.
	Run func(ctx context.Context, args json.RawMessage) error
	// Timeout ends ctx; 5 minutes if 0. On PostgreSQL a job whose process died runs again
	// after this time.
	Timeout time.Duration
	// MaxAttempts is the number of attempts before the job counts as failed; 4 if 0.
	MaxAttempts int
	// Backoff is the pause after the attempt with this number, from 1; nil is
	// [Backoff].
	Backoff func(attempt int) time.Duration
	// Unique jobs exist once: while one waits or runs, another is not enqueued.
	Unique bool
	// Last jobs begin when no job of another kind is due.
	Last bool
}

// The pauses of [Backoff] (p8: 30 s, 2 min, 8 min).
const (
	firstPause = 30 * time.Second
	maxPause   = 6 * time.Hour
)

// Backoff is 30 seconds after the first attempt and four times as long after each further
// one, at most 6 hours, with a jitter of a tenth.
func Backoff(attempt int) time.Duration {
	pause := firstPause
	for i := 1; i < attempt && pause < maxPause; i++ {
		pause *= 4
	}
	pause = min(pause, maxPause)
	return pause*9/10 + rand.N(pause/5)
}

// Again returns the error with which a job asks to run again after a pause, because there
// is more to do or it is too early. It does not count as a failed attempt.
func Again(after time.Duration) error {
	// River's error panics when it is negative.
	return river.JobSnooze(max(0, after))
}

// AgainAfter returns the pause of an error that [Again] made, for callers that run a
// worker without a queue.
func AgainAfter(err error) (after time.Duration, ok bool) {
	var snooze *rivertype.JobSnoozeError
	if !errors.As(err, &snooze) {
		return 0, false
	}
	return snooze.Duration, true
}

// kindForm is the form of a kind; River's own rule is wider.
var kindForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{1,63}$`)

// Register sets the worker of a kind. Call it before Start.
func (q *Queue) Register(kind string, w Worker) error {
	if !kindForm.MatchString(kind) {
		return fmt.Errorf("jobs: the kind %.64q is not 2-64 letters a-z, digits, - and _", kind)
	}
	if w.Run == nil {
		return fmt.Errorf("jobs: the kind %s has nothing to run", kind)
	}
	if w.Timeout <= 0 {
		w.Timeout = 5 * time.Minute
	}
	if w.MaxAttempts <= 0 {
		w.MaxAttempts = 4
	}
	if w.Backoff == nil {
		w.Backoff = Backoff
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running {
		return fmt.Errorf("jobs: register %s before the queue starts", kind)
	}
	if _, ok := q.kinds[kind]; ok {
		return fmt.Errorf("jobs: the kind %s is registered already", kind)
	}
	q.kinds[kind] = w
	return nil
}

// payload has the arguments in the form that River stores.
type payload struct {
	kind string
	// Key identifies unique jobs.
	Key  string          `json:"key,omitempty" river:"unique"`
	Args json.RawMessage `json:"args"`
	// Trace is the span of whoever enqueued the job, as a traceparent header.
	Trace string `json:"trace,omitempty"`
}

// Kind implements river.JobArgs.
func (p payload) Kind() string { return p.kind }

// workers returns the workers of all kinds for River.
func (q *Queue) workers() *river.Workers {
	all := river.NewWorkers()
	for kind, w := range q.kinds {
		river.AddWorkerArgs(all, payload{kind: kind}, &runner{
			Worker: w, log: q.opt.Logger, telemetry: q.opt.Telemetry, stopping: q.stopping, active: &q.active,
		})
	}
	return all
}

// runner adapts a Worker to River.
type runner struct {
	Worker
	log       *slog.Logger
	telemetry *telemetry.Telemetry
	stopping  <-chan struct{}
	active    *active
}

// active are the jobs that run in this process. River cancels by NOTIFY alone,
// which SQLite does not have.
type active struct {
	mu     sync.Mutex
	cancel map[int64]context.CancelFunc
}

func (a *active) add(id int64, cancel context.CancelFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancel == nil {
		a.cancel = map[int64]context.CancelFunc{}
	}
	a.cancel[id] = cancel
}

func (a *active) remove(id int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.cancel, id)
}

// stop cancels the context of a job, if it runs here.
func (a *active) stop(id int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if cancel := a.cancel[id]; cancel != nil {
		cancel()
	}
}

// Middleware implements river.Worker.
func (r *runner) Middleware(*rivertype.JobRow) []rivertype.WorkerMiddleware { return nil }

// NextRetry implements river.Worker.
func (r *runner) NextRetry(job *river.Job[payload]) time.Time {
	return time.Now().Add(max(0, r.Backoff(max(1, job.Attempt)))).Add(time.Millisecond)
}

// Timeout is when River considers the job stuck: some time after its context has ended, so
// that no job is started twice while it still ends.
func (r *runner) Timeout(*river.Job[payload]) time.Duration { return r.Worker.Timeout + 30*time.Second }

// Work implements river.Worker.
func (r *runner) Work(ctx context.Context, job *river.Job[payload]) error {
	ctx, cancel := context.WithTimeout(ctx, r.Worker.Timeout)
	defer cancel()
	r.active.add(job.ID, cancel)
	defer r.active.remove(job.ID)
	ctx, op := telemetry.Start(telemetry.ContinueParent(telemetry.With(ctx, r.telemetry), job.Args.Trace), telemetry.Job, job.Kind)
	op.String(telemetry.JobKind, job.Kind)
	op.Int(telemetry.JobID, int(job.ID))
	op.Int(telemetry.JobAttempt, job.Attempt)
	err := r.run(ctx, job)
	if _, snoozed := AgainAfter(err); snoozed {
		op.End(nil)
	} else {
		op.End(err)
	}
	if err == nil {
		return nil
	}
	if _, snoozed := AgainAfter(err); snoozed {
		return err
	}
	if errors.Is(err, context.Canceled) {
		select {
		case <-r.stopping:
			return Again(0)
		default:
		}
	}
	r.log.WarnContext(ctx, "job failed", "kind", job.Kind, "id", job.ID,
		"attempt", job.Attempt, "of", job.MaxAttempts, "error", err)
	return errors.New(clean(err.Error()))
}

func (r *runner) run(ctx context.Context, job *river.Job[payload]) (err error) {
	defer func() {
		if v := recover(); v != nil {
			r.log.ErrorContext(ctx, "job panicked", "kind", job.Kind, "id", job.ID, "panic", v, "stack", string(debug.Stack()))
			err = errors.New("the job panicked; the log has the details")
		}
	}()
	return r.Run(ctx, slices.Clone(job.Args.Args))
}
