package ingest

import (
	"context"
	"sync"
)

// parallel calls work for each item, n at a time and in order, until a call fails. It
// returns the first error.
func parallel[T any](ctx context.Context, n int, items []T, work func(context.Context, int, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan int)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for i := range queue {
				if err := work(ctx, i, items[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for i := range items {
		select {
		case queue <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	wg.Wait()
	return context.Cause(ctx)
}
