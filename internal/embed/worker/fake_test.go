package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/worker"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a store of tasks.
type memory struct {
	mu       sync.Mutex
	tasks    []store.EmbeddingTask
	vectors  map[string]string // entity → model of its vector
	missing  []string          // entities that QueueMissing finds, by their texts
	prepared []string
	swept    int
	reads    int
	queued   chan struct{}
	err      error // of PutEmbeddings
}

func newMemory(texts ...string) *memory {
	m := &memory{vectors: map[string]string{}, queued: make(chan struct{}, 1)}
	m.add(texts...)
	return m
}

// add queues tasks; each entity has its text as its id.
func (m *memory) add(texts ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, text := range texts {
		m.tasks = append(m.tasks, store.EmbeddingTask{EntityID: text, Text: text, Table: "resources"})
	}
	if len(texts) > 0 {
		select {
		case m.queued <- struct{}{}:
		default:
		}
	}
}

func (m *memory) EmbeddingTasks(_ context.Context, limit int) ([]store.EmbeddingTask, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	var due []store.EmbeddingTask
	for _, t := range m.tasks {
		if len(due) < limit && !t.DueAt.After(time.Now()) {
			due = append(due, t)
		}
	}
	return due, nil
}

func (m *memory) remove(id string) {
	m.tasks = slices.DeleteFunc(m.tasks, func(t store.EmbeddingTask) bool { return t.EntityID == id })
}

func (m *memory) PutEmbeddings(_ context.Context, model string, dimensions int, done ...store.Embedding) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return 0, m.err
	}
	stored := 0
	for _, e := range done {
		if len(e.Vector) != dimensions {
			return 0, fmt.Errorf("%d numbers, want %d", len(e.Vector), dimensions)
		}
		if strings.HasPrefix(e.Task.Text, "changing") {
			continue // its text has changed
		}
		m.vectors[e.Task.EntityID] = model
		m.remove(e.Task.EntityID)
		stored++
	}
	return stored, nil
}

func (m *memory) FailEmbedding(_ context.Context, t store.EmbeddingTask, problem string, due time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.tasks {
		if m.tasks[i].EntityID == t.EntityID {
			m.tasks[i].Attempts++
			m.tasks[i].Error, m.tasks[i].DueAt = problem, due
		}
	}
	return nil
}

func (m *memory) QueueMissing(_ context.Context, model string, limit int) (int64, error) {
	m.mu.Lock()
	found := m.missing[:min(limit, len(m.missing))]
	m.missing = m.missing[len(found):]
	m.swept++
	m.mu.Unlock()
	m.add(found...)
	return int64(len(found)), nil
}

func (m *memory) PrepareModel(_ context.Context, model string, dimensions int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prepared = append(m.prepared, fmt.Sprint(model, " ", dimensions))
	return nil
}

func (m *memory) Queued() <-chan struct{} { return m.queued }

// task is the waiting task of an entity.
func (m *memory) task(id string) (store.EmbeddingTask, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.tasks, func(t store.EmbeddingTask) bool { return t.EntityID == id })
	if i < 0 {
		return store.EmbeddingTask{}, false
	}
	return m.tasks[i], true
}

// looks returns the number of calls of EmbeddingTasks.
func (m *memory) looks() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads
}

func (m *memory) stored() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.vectors)
}

// model embeds every text but those that begin with "bad"; down fails every call.
type model struct {
	mu        sync.Mutex
	down      error
	slow      time.Duration
	now, most int // calls at once
	largest   int // texts of a call
}

func (*model) Name() string           { return "test:model" }
func (*model) Dimensions() int        { return 0 }
func (*model) MinSimilarity() float64 { return 0.3 }

func (m *model) Embed(ctx context.Context, texts []string) []embed.Result {
	m.mu.Lock()
	m.now++
	m.most, m.largest = max(m.most, m.now), max(m.largest, len(texts))
	down := m.down
	m.mu.Unlock()
	if m.slow > 0 {
		select {
		case <-time.After(m.slow):
		case <-ctx.Done():
			down = ctx.Err()
		}
	}
	results := make([]embed.Result, len(texts))
	for i, text := range texts {
		switch {
		case down != nil:
			results[i].Err = down
		case strings.HasPrefix(text, "bad"):
			results[i].Err = &embed.Error{Kind: outbound.BadRequest, Model: "test:model", OneText: true}
		default:
			results[i].Vector = []float32{1, 0, 0}
		}
	}
	m.mu.Lock()
	m.now--
	m.mu.Unlock()
	return results
}

func (m *model) EmbedQuery(context.Context, string) ([]float32, error) {
	return nil, errors.New("nobody asks")
}

// queue is a queue of one unique job, without running it.
type queue struct {
	mu       sync.Mutex
	worker   jobs.Worker
	occupied bool
	err      error
	enqueued []time.Duration // since the queue was made
	calls    int
	began    time.Time
}

func (q *queue) Register(kind string, w jobs.Worker) error {
	if kind != worker.Kind {
		return errors.New(kind)
	}
	q.worker = w
	return nil
}

func (q *queue) Enqueue(context.Context, string, any, jobs.EnqueueOptions) (jobs.Receipt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls++
	if q.err != nil || q.occupied {
		return jobs.Receipt{Duplicate: q.occupied}, q.err
	}
	q.enqueued = append(q.enqueued, time.Since(q.began))
	return jobs.Receipt{}, nil
}

func (q *queue) set(occupied bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.occupied, q.err = occupied, err
}

// called counts the calls of Enqueue.
func (q *queue) called() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.calls
}

func (q *queue) times() []time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.enqueued)
}

func newWorker(t *testing.T, s worker.Store, m embed.Model) *worker.Worker {
	t.Helper()
	w, err := worker.New(worker.Options{Store: s, Model: m, Logger: silent()})
	if err != nil {
		t.Fatal(err)
	}
	return w
}
