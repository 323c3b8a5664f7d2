package live_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// counting is a store that counts its writes.
type counting struct {
	sink
	writes *atomic.Int64
}

func (c counting) WriteRun(context.Context, store.RunWrite) (bool, error) {
	c.writes.Add(1)
	return false, nil
}

// A log without a slot stores nothing in the background; Write and Close need no slot.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var writes atomic.Int64
		slots := make(chan struct{}, 1)
		l := live.Open(context.Background(), live.Options{RunID: runID, Process: "me", Store: counting{writes: &writes}, Slots: slots})
		l.Append(words)
		time.Sleep(time.Second)
		if writes.Load() != 1 || len(slots) != 0 {
			t.Errorf("%d writes, %d slots taken; want one write, and its slot given back", writes.Load(), len(slots))
		}
		slots <- struct{}{} // another log's
		l.Append(words)
		time.Sleep(time.Second)
		if writes.Load() != 1 {
			t.Errorf("%d writes without a slot", writes.Load())
		}
		if err := l.Write(store.RunWrite{}, words); err != nil || writes.Load() != 2 {
			t.Errorf("%d writes, %v", writes.Load(), err)
		}
		l.Append(words)
		l.Close()
		if writes.Load() != 3 {
			t.Errorf("%d writes at the end", writes.Load())
		}
		<-slots
	})
}
