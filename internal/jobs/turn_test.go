package jobs_test

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/internal/jobs"
)

// TestTurn: jobs are written while a store writes long transactions without a pause.
func TestTurn(t *testing.T) {
	t.Parallel()
	o := onSQLite(t)
	writer := make(chan struct{}, 1)
	writer <- struct{}{}
	o.Turn = func(ctx context.Context) (func(), error) {
		select {
		case <-writer:
			return func() { writer <- struct{}{} }, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	q := open(t, o)
	ran := make(chan struct{}, 50)
	register(t, q, "tick", jobs.Worker{Run: func(context.Context, json.RawMessage) error {
		ran <- struct{}{}
		return nil
	}})
	start(t, q)

	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- hog(ctx, o) }()
	for range 50 {
		enqueue(t, q, "tick", nil, jobs.EnqueueOptions{})
	}
	for range 50 {
		receive(t, ran)
	}
	stop()
	if err := receive(t, done); err != nil {
		t.Error(err)
	}
	receive(t, writer) // every turn was released
}

// hog holds the database's write lock, 20 ms at a time, until ctx ends.
func hog(ctx context.Context, o jobs.Options) error {
	db, err := sqlite3.Open("file:" + (&url.URL{Path: o.SQLite}).EscapedPath())
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Exec(`PRAGMA busy_timeout = 10000; CREATE TABLE hogged (n)`); err != nil {
		return err
	}
	for ctx.Err() == nil {
		release, err := o.Turn(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		if err := db.Exec(`BEGIN IMMEDIATE; INSERT INTO hogged VALUES (1)`); err != nil {
			return err
		}
		<-time.After(20 * time.Millisecond)
		if err := db.Exec(`COMMIT`); err != nil {
			return err
		}
		release()
	}
	return nil
}
