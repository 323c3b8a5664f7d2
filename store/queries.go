package store

import (
	"time"

	"github.com/p8-org/p8/store/internal/fair"
)

func newQueries(e Engine) *fair.Queue {
	o := fair.Options{Slots: defaultQueries, Slice: querySlice, Waiting: maxWaiting}
	if x, ok := e.(Sharer); ok {
		o.Slots, o.Members = x.Queries()
	}
	return fair.NewQueue(o)
}

const (
	defaultQueries = 4
	// querySlice is how long a SELECT runs before a waiting one may run.
	querySlice = 10 * time.Millisecond
	// maxWaiting bounds the queries of one tenant that wait.
	maxWaiting = 256
	// maxQueryWait bounds the wait of a query whose context has no deadline. Another query
	// waits for half of the time that its context leaves.
	maxQueryWait = 5 * time.Second
	busyRetry    = time.Second
)
