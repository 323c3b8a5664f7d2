// Package jobs runs durable background work, once for all replicas.
//
//	q, err := jobs.Open(ctx, jobs.Options{SQLite: "data/p8.db"})
//	err = q.Register("embed", jobs.Worker{Run: drain, Timeout: 5 * time.Minute, Unique: true})
//	err = q.Periodic("report", jobs.Schedule{Cron: "0 6 * * *"})
//	err = q.Start(ctx)
//	_, err = q.Enqueue(ctx, "embed", nil, jobs.EnqueueOptions{})
//
// A job is a row of the store's database, written before Enqueue returns. A failed job is
// retried after a growing pause, a bounded number of times. A job that stays failed is
// listed with its error until it is cancelled, retried, or a week old. A job whose
// process died runs again: on SQLite when the next process starts, on PostgreSQL when the
// timeout of its kind has passed. So a job may run twice, and must tolerate that.
//
// The queue is River, on its own tables (river_*), which Open migrates. No other package
// knows River, so the queue can be replaced.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/telemetry"
)

// Options name the database of the jobs. One of Postgres, PostgresURL and SQLite is
// required.
type Options struct {
	// Postgres is a pool that stays the caller's; one connection of it listens as
	// long as the queue runs.
	Postgres *pgxpool.Pool
	// PostgresURL is a database to make a small pool for.
	PostgresURL string `json:"-"`
	// SQLite is the path of the store's database, which must exist. Only the process that
	// holds the store's lock may call Start: Start takes the running jobs of other
	// processes for dead.
	SQLite string
	// Turn, with SQLite, waits until the store of this process does not write and
	// keeps it from writing until release is called. Without it jobs wait longer
	// while the store writes without a pause.
	Turn func(ctx context.Context) (release func(), err error)
	// ReadOnly opens the queue for List and Stats: nothing is created, migrated or written.
	ReadOnly bool
	// Telemetry records jobs; nil records none.
	Telemetry *telemetry.Telemetry
	// Workers is the number of jobs that run at once in this process; 4 if 0.
	Workers int
	// PollInterval is how often a running queue looks for jobs without a notification, such
	// as those of another process on SQLite; 2 s if 0.
	PollInterval time.Duration
	// Logger receives failures; nil is slog.Default().
	Logger *slog.Logger
}

var (
	// ErrNotFound: no job has the id.
	ErrNotFound = fmt.Errorf("job %w", store.ErrNotFound)
	// ErrReadOnly: the queue was opened for listing.
	ErrReadOnly = errors.New("the job queue is open for reading only")
	// ErrRunning: the job is running.
	ErrRunning = errors.New("the job is running: wait for it, or cancel it first")
	// ErrClosed: the queue was closed.
	ErrClosed = errors.New("the job queue is closed")
)

// Queue enqueues, runs and lists jobs. It is safe for concurrent use.
type Queue struct {
	opt Options
	db  database

	mu       sync.Mutex
	client   client // without workers until Start
	kinds    map[string]Worker
	schedule []*river.PeriodicJob
	running  bool
	closed   bool
	// stopping is closed when Close begins to cancel running jobs.
	stopping chan struct{}
	active   active
}

// client is the part of River's client that is the same on every database.
type client interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
	Insert(ctx context.Context, args river.JobArgs, opts *river.InsertOpts) (*rivertype.JobInsertResult, error)
	JobList(ctx context.Context, params *river.JobListParams) (*river.JobListResult, error)
	JobRetry(ctx context.Context, id int64) (*rivertype.JobRow, error)
	JobCancel(ctx context.Context, id int64) (*rivertype.JobRow, error)
	JobDelete(ctx context.Context, id int64) (*rivertype.JobRow, error)
}

// database is the engine that holds the rows of the jobs.
type database interface {
	migrate(ctx context.Context, log *slog.Logger) error
	// connect makes a client; it runs jobs if the configuration has workers.
	connect(c *river.Config) (client, error)
	// adopt releases the jobs of dead processes, if the database knows them.
	adopt(ctx context.Context) error
	// conflict reports whether an error is the conflict with a unique job.
	conflict(err error) bool
	// count counts the jobs by kind and state.
	count(ctx context.Context, tenant string) ([]tally, error)
	// missing reports whether an error means that the tables do not exist yet.
	missing(err error) bool
	close() error
}

// Open opens the queue and brings its tables up to date; several replicas may
// do so at once. The context bounds the opening only.
func Open(ctx context.Context, o Options) (*Queue, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Workers <= 0 {
		o.Workers = 4
	}
	if o.PollInterval <= 0 {
		o.PollInterval = 2 * time.Second
	}
	db, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	q := &Queue{opt: o, db: db, kinds: map[string]Worker{}, stopping: make(chan struct{})}
	if !o.ReadOnly {
		err = db.migrate(ctx, quiet(o.Logger))
	}
	if err == nil {
		q.client, err = db.connect(q.config())
	}
	if err != nil {
		return nil, errors.Join(failure(ctx, "open the job queue", err), db.close())
	}
	return q, nil
}

func connect(ctx context.Context, o Options) (database, error) {
	given := 0
	for _, is := range []bool{o.Postgres != nil, o.PostgresURL != "", o.SQLite != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, errors.New("jobs: give one of Postgres, PostgresURL and SQLite")
	case o.SQLite != "":
		return openSQLite(o)
	case o.Postgres != nil:
		return &postgres{pool: o.Postgres}, nil
	}
	return openPostgres(ctx, o.PostgresURL)
}

// River's timing. Its election of a leader and its search for due jobs have periods of 5 s
// of their own.
const (
	// fetchCooldown is the least time between two looks for work.
	fetchCooldown = 50 * time.Millisecond
	// rescueAfter is when River begins to ask whether a running job is stuck; the
	// kind's timeout answers.
	rescueAfter = time.Minute
	keepDone    = 24 * time.Hour
	keepFailed  = 7 * 24 * time.Hour
)

func (q *Queue) config() *river.Config {
	return &river.Config{
		CompletedJobRetentionPeriod: keepDone,
		CancelledJobRetentionPeriod: keepDone,
		DiscardedJobRetentionPeriod: keepFailed,
		FetchCooldown:               min(fetchCooldown, q.opt.PollInterval),
		FetchPollInterval:           q.opt.PollInterval,
		JobTimeout:                  rescueAfter,
		RescueStuckJobsAfter:        rescueAfter,
		Logger:                      quiet(q.opt.Logger),
	}
}

// Start runs jobs until Close. Kinds and schedules are registered before. Jobs
// get the values of ctx; its end does not stop them.
func (q *Queue) Start(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case q.opt.ReadOnly:
		return ErrReadOnly
	case q.running:
		return errors.New("jobs: the queue runs already")
	case len(q.kinds) == 0:
		return errors.New("jobs: no kind of job is registered")
	}
	c := q.config()
	c.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: q.opt.Workers}}
	c.Workers = q.workers()
	c.PeriodicJobs = q.schedule
	if err := q.db.adopt(ctx); err != nil {
		return failure(ctx, "start the job queue", err)
	}
	client, err := q.db.connect(c)
	if err != nil {
		return failure(ctx, "start the job queue", err)
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return failure(ctx, "start the job queue", err)
	}
	q.client, q.running = client, true
	return nil
}

// lastWait is how long Close waits for jobs that it has cancelled.
const lastWait = 5 * time.Second

// Close starts no more jobs and waits for the running ones. When ctx ends, it cancels
// them: the next process runs them again, and the attempt does not count. If a job
// ignores its context for 5 s more, Close returns an error and leaves the job running.
func (q *Queue) Close(ctx context.Context) error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return nil
	}
	q.closed = true
	client, running := q.client, q.running
	q.mu.Unlock()
	var err error
	if running && client.Stop(ctx) != nil {
		close(q.stopping)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWait)
		defer cancel()
		if client.StopAndCancel(last) != nil {
			err = errors.New("jobs: a job did not stop in time; it is run again later")
		}
	}
	return errors.Join(err, q.db.close())
}

// current is the client to use.
func (q *Queue) current(writing bool) (client, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return nil, ErrClosed
	case writing && q.opt.ReadOnly:
		return nil, ErrReadOnly
	}
	return q.client, nil
}

// failure hides the database's words, as the store does.
func failure(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%s: %w", op, cause)
	}
	return &store.Failure{Op: op, Err: err}
}

// encode is the arguments as JSON, {} for none.
func encode(args any) (json.RawMessage, error) {
	if args == nil {
		return json.RawMessage("{}"), nil
	}
	b, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	if len(b) > maxArgs {
		return nil, fmt.Errorf("the arguments have %d bytes, more than %d: store them and enqueue their id", len(b), maxArgs)
	}
	return b, nil
}
