package wiring

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/store"
)

const (
	// lookEvery is how often a server looks after interrupted runs while there are any,
	// or while others share its database; recoverEvery how often it looks after the rest.
	lookEvery, recoverEvery = time.Second, 5 * time.Second
	// beatsPerGrace is how many beats a process has to miss until it is taken for dead.
	beatsPerGrace = 5
	// silentRun is how long a run says nothing until it is interrupted whose process does
	// not beat: one of an older version, or of `p8 chat`.
	silentRun = 30 * time.Second
	// maintenanceTime bounds one look.
	maintenanceTime = 30 * time.Second
)

// keeper looks after the runs of a server: it says that the server lives, interrupts
// the runs of processes that died, and goes on with what was interrupted.
type keeper struct {
	*Parts
	shared bool // other processes use the database
	beat   time.Duration
	pulse  pulse

	mu       sync.Mutex
	draining bool
	cancel   context.CancelFunc
	done     chan struct{}
}

// KeepRuns marks the runs that an earlier process left behind, and from then on looks
// after runs until stop is called.
func (p *Parts) KeepRuns(cfg *config.Config) (*keeper, error) {
	if p.Store == nil {
		return nil, nil
	}
	k := &keeper{Parts: p, shared: cfg.Database().Path == "", beat: cfg.RunGrace / beatsPerGrace, done: make(chan struct{})}
	k.pulse = pulse{own: p.Chat.Owner(), grace: cfg.RunGrace, most: 2 * k.beat}
	stale := time.Duration(0) // the lock says that nobody else is there
	if k.shared {
		stale = silentRun
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	if k.shared {
		if err := k.alive(ctx); err != nil {
			cancel()
			return nil, err
		}
	}
	if err := p.Chat.Recover(ctx, p.Store.Maintenance(), time.Now().Add(-stale)); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(k.done)
		var all sync.WaitGroup
		if k.shared {
			all.Go(func() { k.every(ctx, k.beat, "the server could not say that it lives", k.alive) })
		}
		all.Go(func() { k.resume(ctx) })
		all.Go(func() {
			k.every(ctx, recoverEvery, "runs could not be looked after", func(ctx context.Context) error {
				return p.Chat.Recover(ctx, p.Store.Maintenance(), time.Now().Add(-silentRun))
			})
		})
		all.Wait()
	}()
	return k, nil
}

// Drain goes on with no more runs: the server is about to end.
func (k *keeper) Drain() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.draining = true
}

// Stop ends the looking, and says that the process is gone: what it has not finished
// is for others.
func (k *keeper) Stop() {
	if k == nil {
		return
	}
	k.cancel()
	<-k.done
	if !k.shared {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), maintenanceTime)
	defer cancel()
	if err := k.Store.Maintenance().LeaveProcess(ctx, k.Chat.Owner()); err != nil {
		k.Log.Warn("the server could not say that it ends; others notice", "error", err)
	}
}

// every does something until ctx ends.
func (k *keeper) every(ctx context.Context, pause time.Duration, problem string, do func(context.Context) error) {
	look := time.NewTicker(pause)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		once, cancel := context.WithTimeout(ctx, maintenanceTime)
		err := do(once)
		cancel()
		if err != nil && ctx.Err() == nil {
			k.Log.Warn(problem, "error", err)
		}
	}
}

// resume goes on with interrupted runs until ctx ends. Replicas look at different
// moments, so that they share what a dead one left.
func (k *keeper) resume(ctx context.Context) {
	for {
		k.mu.Lock()
		draining := k.draining
		k.mu.Unlock()
		if draining {
			return
		}
		more, err := k.Chat.ResumeInterrupted(ctx, k.Store.Maintenance())
		if err != nil && ctx.Err() == nil {
			k.Log.Warn("interrupted runs could not be read", "error", err)
		}
		pause := recoverEvery
		if more || k.shared {
			pause = lookEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

// alive says that this process lives, and interrupts the runs of those that do not.
func (k *keeper) alive(ctx context.Context) error {
	all, err := k.Store.Maintenance().Beat(ctx, k.Chat.Owner())
	if err != nil {
		return err
	}
	for _, b := range k.pulse.dead(all, time.Now()) {
		dead, err := k.Store.Maintenance().EndProcess(ctx, b)
		if err != nil {
			return err
		}
		if dead {
			k.Log.Warn("another server died; its runs go on", "owner", b.Owner)
		}
	}
	return nil
}

// pulse finds processes whose beats stand still. It counts only the time in which it
// looked itself: when the database was away for everybody, nobody is dead for that.
type pulse struct {
	own   string
	grace time.Duration
	// most is the most time that counts between two looks.
	most time.Duration

	last  time.Time
	known map[string]heard
}

// heard is the last beat of a process, and how long it has been silent since.
type heard struct {
	count  int64
	silent time.Duration
}

// dead are the processes that have been silent for the grace.
func (p *pulse) dead(all []store.Beat, now time.Time) (list []store.Beat) {
	passed := time.Duration(0)
	if !p.last.IsZero() {
		passed = min(now.Sub(p.last), p.most)
	}
	p.last = now
	known := make(map[string]heard, len(all))
	for _, b := range all {
		h, ok := p.known[b.Owner]
		switch {
		case b.Owner == p.own:
			continue
		case !ok || h.count != b.Count:
			h = heard{count: b.Count}
		default:
			h.silent += passed
		}
		if h.silent >= p.grace {
			list = append(list, b)
		}
		known[b.Owner] = h
	}
	p.known = known
	return list
}
