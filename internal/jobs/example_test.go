package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/p8-org/p8/internal/jobs"
)

// A job is enqueued, run, and listed.
func Example() {
	dir, err := os.MkdirTemp("", "jobs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	// The store makes this file; jobs.Open adds its tables.
	path := filepath.Join(dir, "p8.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	q, err := jobs.Open(ctx, jobs.Options{SQLite: path})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	err = q.Register("greet", jobs.Worker{Run: func(ctx context.Context, args json.RawMessage) error {
		var who string
		if err := json.Unmarshal(args, &who); err != nil {
			return err
		}
		fmt.Println("hello,", who)
		close(done)
		return nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := q.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := q.Enqueue(ctx, "greet", "Ada", jobs.EnqueueOptions{UniqueKey: "ada"})
	if err != nil {
		fmt.Println(err)
		return
	}
	<-done
	jobsOfKind, err := q.List(ctx, jobs.Filter{Kinds: []string{"greet"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(jobsOfKind), "job,", "the one enqueued:", jobsOfKind[0].ID == receipt.ID)
	if err := q.Close(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// hello, Ada
	// 1 job, the one enqueued: true
}
