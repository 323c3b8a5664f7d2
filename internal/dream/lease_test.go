package dream

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// desk grants leases, with a clock of its own.
type desk struct {
	mu     sync.Mutex
	holder string
	until  time.Time
	err    error
	asked  int
	keeps  bool // Release fails
}

func (d *desk) Take(_ context.Context, _, holder string, ttl time.Duration) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	if d.err != nil {
		return false, d.err
	}
	if d.holder != "" && d.holder != holder && time.Now().Before(d.until) {
		return false, nil
	}
	d.holder, d.until = holder, time.Now().Add(ttl)
	return true, nil
}

func (d *desk) Release(_ context.Context, _, holder string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keeps {
		return errors.New("down")
	}
	if d.holder == holder {
		d.holder = ""
	}
	return nil
}

// becomes changes the desk.
func (d *desk) becomes(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// TestLease: the lease is renewed as long as the dream takes and released at its end. It is
// lost if another process takes it or the store fails for too long.
func TestLease(t *testing.T) {
	work := func(d time.Duration) func(context.Context) error {
		return func(ctx context.Context) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	down := errors.New("down")
	for _, tc := range []struct {
		name string
		desk *desk
		// happens changes the desk after a while.
		happens func(*desk)
		takes   time.Duration
		held    bool
		err     error
		after   time.Duration
	}{
		{"a long dream", &desk{}, nil, 10 * time.Minute, true, nil, 10 * time.Minute},
		{"somebody has it", &desk{holder: "b", until: time.Now().Add(24 * 365 * 100 * time.Hour)}, nil, time.Minute, false, nil, 0},
		{"somebody died with it", &desk{holder: "b"}, nil, time.Minute, true, nil, time.Minute},
		{"somebody takes it", &desk{}, func(d *desk) { d.becomes(func() { d.holder, d.until = "b", time.Now().Add(time.Hour) }) }, 10 * time.Minute, true, errLost, 2 * time.Minute},
		{"the store fails for good", &desk{}, func(d *desk) { d.becomes(func() { d.err = down }) }, 10 * time.Minute, true, errLost, 140 * time.Second},
		{"the store fails a moment", &desk{}, func(d *desk) {
			d.becomes(func() { d.err = down })
			time.AfterFunc(30*time.Second, func() { d.becomes(func() { d.err = nil }) })
		}, 10 * time.Minute, true, nil, 10 * time.Minute},
		{"it cannot be given back", &desk{keeps: true}, nil, time.Minute, true, nil, time.Minute},
		{"the store fails at once", &desk{err: down}, nil, time.Minute, false, down, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, began := tc.desk, time.Now()
				if tc.happens != nil {
					time.AfterFunc(101*time.Second, func() { tc.happens(d) })
				}
				held, err := hold(t.Context(), d, "a", leaseFor, work(tc.takes))
				if held != tc.held || !errors.Is(err, tc.err) {
					t.Errorf("held %v, %v", held, err)
				}
				if took := time.Since(began); took != tc.after {
					t.Errorf("it took %v, want %v", took, tc.after)
				}
				if d.holder == "a" && !d.keeps {
					t.Error("the lease was not given back")
				}
				asked := d.asked
				time.Sleep(time.Hour)
				if d.asked != asked {
					t.Error("it is renewed for ever")
				}
			})
		})
	}
}
