// Package worker embeds queued texts in the background.
//
// The store queues a task with each written text. A job of the kind "embed" takes the due
// tasks, embeds their texts in batches and stores the vectors until no task is due. The kind
// is unique, so one replica runs the job at a time.
//
//	w, err := worker.New(worker.Options{Store: s.Maintenance(), Model: model})
//	err = w.Register(queue)       // before queue.Start
//	go w.Watch(ctx, queue)        // enqueues the job when there are tasks
//
// A text that cannot be embedded stays queued with its error. It is retried after a minute,
// then with pauses of up to six hours. Once an hour, and when a process starts, the worker
// queues rows without a vector of its model. So after a change of the model all rows are
// embedded again; the old vectors stay and are not compared.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// Kind is the kind of the job.
const Kind = "embed"

// Store is the part of store.Maintenance that the worker uses.
type Store interface {
	EmbeddingTasks(ctx context.Context, limit int) ([]store.EmbeddingTask, error)
	PutEmbeddings(ctx context.Context, model string, dimensions int, done ...store.Embedding) (int, error)
	FailEmbedding(ctx context.Context, t store.EmbeddingTask, problem string, due time.Time) error
	QueueMissing(ctx context.Context, model string, limit int) (int64, error)
	PrepareModel(ctx context.Context, model string, dimensions int) error
	Queued() <-chan struct{}
}

// Queue is the part of jobs.Queue that the worker uses.
type Queue interface {
	Register(kind string, w jobs.Worker) error
	Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error)
}

// Options configure a Worker. Store and Model are required.
type Options struct {
	Store Store
	Model embed.Model
	// Batch is the number of texts that are embedded and stored together; 0 is 32.
	Batch int
	// InFlight is the number of concurrent batches; 0 is 4.
	InFlight int
	// Logger logs failures; nil is slog.Default().
	Logger *slog.Logger
}

// Worker embeds queued texts. It is safe for concurrent use.
type Worker struct {
	Options

	mu sync.Mutex
	// prepared is the length of the vectors for which the store has an index.
	prepared int
	// swept is the time of the last sweep.
	swept time.Time
}

// New makes a worker.
func New(o Options) (*Worker, error) {
	if o.Store == nil || o.Model == nil {
		return nil, errors.New("embed/worker: Store and Model are required")
	}
	if o.Batch <= 0 {
		o.Batch = 32
	}
	if o.InFlight <= 0 {
		o.InFlight = 4
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Worker{Options: o}, nil
}

const (
	// timeout ends the job; after shift it yields to other jobs.
	timeout = 10 * time.Minute
	shift   = 5 * time.Minute
	// attempts and longestBreak are those of the job, if the model or the database cannot
	// be reached.
	attempts     = 5
	longestBreak = 5 * time.Minute
)

// Register registers the job. Call it before the queue's Start.
func (w *Worker) Register(q Queue) error {
	return q.Register(Kind, jobs.Worker{
		Run: w.Run, Unique: true, Timeout: timeout, MaxAttempts: attempts,
		Backoff: func(attempt int) time.Duration { return pause(attempt-1, longestBreak) },
	})
}

// The bounds of the pause before a failed text is retried.
const (
	firstPause = time.Minute
	maxPause   = 6 * time.Hour
)

// pause doubles with each failure.
func pause(failures int, most time.Duration) time.Duration {
	d := firstPause
	for range failures {
		if d *= 2; d >= most {
			return most
		}
	}
	return min(d, most)
}

const (
	// sweepEvery is the interval between sweeps for rows without a vector.
	sweepEvery = time.Hour
	// sweepRows bounds the rows that a sweep queues at once.
	sweepRows = 5000
	// idleRounds is the number of rounds without progress that end a run: the texts change
	// faster than they are embedded.
	idleRounds = 3
)

// Run runs the job: it embeds until no task is due. It returns an error if the model or the
// store does not work, or to ask for another run.
func (w *Worker) Run(ctx context.Context, _ json.RawMessage) error {
	after, more, err := w.drain(ctx, shift)
	if err == nil && more {
		err = jobs.Again(after)
	}
	return err
}

// Drain is Run for a process without a queue. It runs until no task is due, without a time
// limit, or until no more texts can be embedded. Those stay queued.
func (w *Worker) Drain(ctx context.Context) error {
	_, _, err := w.drain(ctx, math.MaxInt64)
	return err
}

// drain embeds for a limited time; more: tasks are left, to be continued after a pause.
func (w *Worker) drain(ctx context.Context, most time.Duration) (after time.Duration, more bool, err error) {
	began, idle := time.Now(), 0
	for {
		tasks, err := w.Store.EmbeddingTasks(ctx, w.Batch*w.InFlight)
		if err != nil {
			return 0, false, err
		}
		if len(tasks) == 0 {
			if queued, err := w.sweep(ctx); err != nil || !queued {
				return 0, false, err
			}
			continue
		}
		done, err := w.round(ctx, tasks)
		if err != nil {
			return 0, false, err
		}
		if idle++; done > 0 {
			idle = 0
		}
		if idle >= idleRounds {
			return firstPause, true, nil
		}
		if time.Since(began) > most {
			return 0, true, nil
		}
	}
}

// sweep queues rows without a vector of the model, if sweepEvery has passed, and reports
// whether there were any.
func (w *Worker) sweep(ctx context.Context) (more bool, err error) {
	w.mu.Lock()
	due := w.swept.IsZero() || time.Since(w.swept) >= sweepEvery
	w.mu.Unlock()
	if !due {
		return false, nil
	}
	n, err := w.Store.QueueMissing(ctx, w.Model.Name(), sweepRows)
	if err != nil {
		return false, err
	}
	if n > 0 {
		w.Logger.InfoContext(ctx, "rows without a vector are queued", "model", w.Model.Name(), "rows", n)
		return true, nil
	}
	w.mu.Lock()
	w.swept = time.Now()
	w.mu.Unlock()
	return false, nil
}

// round embeds the tasks, several batches at once, and counts those that it stored or put
// off.
func (w *Worker) round(ctx context.Context, tasks []store.EmbeddingTask) (done int, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for len(tasks) > 0 {
		n := min(w.Batch, len(tasks))
		batch := tasks[:n]
		tasks = tasks[n:]
		wg.Go(func() {
			n, e := w.batch(ctx, batch)
			mu.Lock()
			defer mu.Unlock()
			done += n
			if err == nil {
				err = e
			}
		})
	}
	wg.Wait()
	return done, err
}

// batch embeds and stores some tasks. It stores or puts off each task unless the store or the
// context fails. An error ends the run.
func (w *Worker) batch(ctx context.Context, tasks []store.EmbeddingTask) (done int, err error) {
	texts := make([]string, len(tasks))
	for i, t := range tasks {
		texts[i] = t.Text
	}
	results := w.Model.Embed(ctx, texts)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var vectors []store.Embedding
	for i, r := range results {
		if r.Err == nil {
			vectors = append(vectors, store.Embedding{Task: tasks[i], Vector: r.Vector})
			continue
		}
		if e := w.putOff(ctx, tasks[i], r.Err); e != nil {
			return done, e
		}
		done++
		if err == nil && general(r.Err) {
			err = r.Err
		}
	}
	if len(vectors) == 0 {
		return done, err
	}
	dimensions := len(vectors[0].Vector)
	if e := w.prepare(ctx, dimensions); e != nil {
		return done, e
	}
	n, e := w.Store.PutEmbeddings(ctx, w.Model.Name(), dimensions, vectors...)
	if e != nil {
		return done, e
	}
	return done + n, err
}

// general reports whether a failure is about the model rather than one text.
func general(err error) bool {
	var e *embed.Error
	return errors.As(err, &e) && !e.OneText
}

// putOff stores a failure and the time of the next try.
func (w *Worker) putOff(ctx context.Context, t store.EmbeddingTask, problem error) error {
	wait := pause(t.Attempts, maxPause)
	var e *embed.Error
	if errors.As(problem, &e) {
		wait = max(wait, min(e.RetryAfter, maxPause))
	}
	w.Logger.DebugContext(ctx, "a text could not be embedded", "table", t.Table, "id", t.EntityID, "error", problem)
	return w.Store.FailEmbedding(ctx, t, problem.Error(), time.Now().Add(wait))
}

// prepare creates the store's index for the model's vectors, once per process.
func (w *Worker) prepare(ctx context.Context, dimensions int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.prepared == dimensions {
		return nil
	}
	if err := w.Store.PrepareModel(ctx, w.Model.Name(), dimensions); err != nil {
		return err
	}
	w.prepared = dimensions
	return nil
}
