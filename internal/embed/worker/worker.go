// Package worker embeds what the store has queued, in the background.
//
// The store queues a task with every text that is written. The worker is a job
// of the kind "embed": it takes the due tasks, has their texts embedded batch by
// batch, and stores the vectors, until none is left. The kind is unique, so of
// all replicas one does that at a time.
//
//	w, err := worker.New(worker.Options{Store: s.Maintenance(), Model: model})
//	err = w.Register(queue)       // before queue.Start
//	go w.Watch(ctx, queue)        // wakes the job when there is work
//
// A text that cannot be embedded stays queued, with its error to be seen, and is
// tried again after a minute, then after ever longer, up to six hours. Nothing
// is ever stored in a vector's place. Once an hour, and when a process starts,
// rows without a vector of this very model are queued: so a change of model
// embeds everything anew, while what the old one made stays untouched and
// uncompared.
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

// Store is what the worker needs of store.Maintenance.
type Store interface {
	EmbeddingTasks(ctx context.Context, limit int) ([]store.EmbeddingTask, error)
	PutEmbeddings(ctx context.Context, model string, dimensions int, done ...store.Embedding) (int, error)
	FailEmbedding(ctx context.Context, t store.EmbeddingTask, problem string, due time.Time) error
	QueueMissing(ctx context.Context, model string, limit int) (int64, error)
	PrepareModel(ctx context.Context, model string, dimensions int) error
	Queued() <-chan struct{}
}

// Queue is what the worker needs of jobs.Queue.
type Queue interface {
	Register(kind string, w jobs.Worker) error
	Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error)
}

// Options configure a Worker. Store and Model are required.
type Options struct {
	Store Store
	Model embed.Model
	// Batch is the number of texts that are embedded and stored together; 32 when
	// 0.
	Batch int
	// InFlight is the number of batches at once; 4 when 0.
	InFlight int
	// Logger hears of what fails; nil is slog.Default().
	Logger *slog.Logger
}

// Worker embeds. It is safe for concurrent use.
type Worker struct {
	Options

	mu sync.Mutex
	// prepared is the length of the vectors that the store has an index for.
	prepared int
	// swept is when rows without a vector were last looked for.
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
	// timeout ends the job; after shift it makes way for others by itself.
	timeout = 10 * time.Minute
	shift   = 5 * time.Minute
	// attempts and longestBreak are about the job as a whole, when the model or
	// the database cannot be reached.
	attempts     = 5
	longestBreak = 5 * time.Minute
)

// Register says how the job is done. It comes before the queue's Start.
func (w *Worker) Register(q Queue) error {
	return q.Register(Kind, jobs.Worker{
		Run: w.Run, Unique: true, Timeout: timeout, MaxAttempts: attempts,
		Backoff: func(attempt int) time.Duration { return pause(attempt-1, longestBreak) },
	})
}

// The pauses before a text that failed is tried again.
const (
	firstPause = time.Minute
	maxPause   = 6 * time.Hour
)

// pause doubles with every failure before.
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
	// sweepEvery is how often rows without a vector are looked for.
	sweepEvery = time.Hour
	// sweepRows are queued at once.
	sweepRows = 5000
	// idleRounds without any progress end a run: the texts change faster than
	// they are embedded.
	idleRounds = 3
)

// Run embeds until no task is due; it is the job. An error says that the model
// as a whole, or the store, could not be used, or asks for another run.
func (w *Worker) Run(ctx context.Context, _ json.RawMessage) error {
	after, more, err := w.drain(ctx, shift)
	if err == nil && more {
		err = jobs.Again(after)
	}
	return err
}

// Drain is Run for a process that has no queue: it goes on until no task is due,
// however long that takes, or no text is embedded any more. Texts that cannot be
// embedded stay queued.
func (w *Worker) Drain(ctx context.Context) error {
	_, _, err := w.drain(ctx, math.MaxInt64)
	return err
}

// drain embeds for so long; more says that tasks are left, to be looked at after
// a pause.
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

// sweep queues rows without a vector of the model, if it is time, and reports
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

// round embeds the tasks, several batches at once, and counts those that were
// stored or put off.
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

// batch embeds and stores some tasks. Its error ends the run; by then each task
// is stored or put off, unless the store or the context failed.
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

// general reports whether a failure is about the model and not about one text.
func general(err error) bool {
	var e *embed.Error
	return errors.As(err, &e) && !e.OneText
}

// putOff notes a failure and when to try again.
func (w *Worker) putOff(ctx context.Context, t store.EmbeddingTask, problem error) error {
	wait := pause(t.Attempts, maxPause)
	var e *embed.Error
	if errors.As(problem, &e) {
		wait = max(wait, min(e.RetryAfter, maxPause))
	}
	w.Logger.DebugContext(ctx, "a text could not be embedded", "table", t.Table, "id", t.EntityID, "error", problem)
	return w.Store.FailEmbedding(ctx, t, problem.Error(), time.Now().Add(wait))
}

// prepare makes the store's index for the model's vectors, once a process.
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
