package store

import (
	"context"
	"sync"
)

// indexLock guards an index in memory. Building one may take seconds, so that
// a query that waits for it must be able to leave, or to make way.
type indexLock struct {
	sync.RWMutex
	// building has the token of the one that builds.
	building chan struct{}
}

func newIndexLock() indexLock { return indexLock{building: make(chan struct{}, 1)} }

// build locks the index for whoever changes it.
func (l *indexLock) build(ctx context.Context) (done func(), err error) {
	select {
	case l.building <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.Lock() // searches are short
	return func() {
		l.Unlock()
		<-l.building
	}, nil
}

// search locks the index for reading; RUnlock ends that.
func (l *indexLock) search(ctx context.Context) error {
	if l.TryRLock() {
		return nil
	}
	select {
	case l.building <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.RLock()
	<-l.building
	return nil
}
