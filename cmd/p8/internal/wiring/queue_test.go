package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/testkit/database"
)

// TestAJobEnqueuesWhileTheQueueCloses: Enqueue returns the error of a closed queue, and the
// job ends. Close waits for the job.
func TestAJobEnqueuesWhileTheQueueCloses(t *testing.T) {
	path := t.TempDir() + "/p8.db"
	database.Copy(t, path)
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	w := &work{kinds: map[string]jobs.Worker{}, open: func(ctx context.Context) (*jobs.Queue, error) {
		return jobs.Open(ctx, jobs.Options{SQLite: path, Logger: slog.New(slog.DiscardHandler)})
	}}
	w.kinds["later"] = jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }}
	w.kinds["busy"] = jobs.Worker{Run: func(ctx context.Context, _ json.RawMessage) error {
		begin()
		for ctx.Err() == nil {
			if _, err := w.Enqueue(ctx, "later", nil, jobs.EnqueueOptions{UniqueKey: "k"}); errors.Is(err, jobs.ErrClosed) {
				return nil
			}
		}
		return ctx.Err()
	}}
	q, err := w.get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Enqueue(t.Context(), "busy", nil, jobs.EnqueueOptions{}); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := w.close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := w.Enqueue(t.Context(), "later", nil, jobs.EnqueueOptions{}); !errors.Is(err, jobs.ErrClosed) {
		t.Errorf("%v", err)
	}
}
