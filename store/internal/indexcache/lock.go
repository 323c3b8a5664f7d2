package indexcache

import (
	"context"
	"sync"
)

// lock guards an index. A build may take seconds, so a search that waits for it can be
// cancelled.
type lock struct {
	sync.RWMutex
	// building holds a value while a goroutine builds the index.
	building chan struct{}
}

func newLock() lock { return lock{building: make(chan struct{}, 1)} }

// build locks the index for writing until done.
func (l *lock) build(ctx context.Context) (done func(), err error) {
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

// search locks the index for reading until RUnlock.
func (l *lock) search(ctx context.Context) error {
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
