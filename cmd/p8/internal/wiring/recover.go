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
	// lookEvery is how often a server resumes interrupted runs, if there are some or other
	// servers share the database; recoverEvery is how often it does so otherwise.
	lookEvery, recoverEvery = time.Second, 5 * time.Second
	// beatsPerGrace is how many beats a process misses before it counts as dead.
	beatsPerGrace = 5
	// silentRun is how long a run may be silent if its process does not beat (an older
	// version, or `p8 chat`). Then it is interrupted.
	silentRun = 30 * time.Second
	// maintenanceTime bounds one round of maintenance.
	maintenanceTime = 30 * time.Second
)

// keeper maintains the runs of a server: it records that the server is alive, interrupts
// the runs of dead processes, and resumes interrupted runs.
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

// KeepRuns interrupts the runs of earlier processes and maintains runs until Stop. It
// returns nil without a database.
func (p *Parts) KeepRuns(cfg *config.Config) (*keeper, error) {
	if p.Store == nil {
		return nil, nil
	}
	k := &keeper{Parts: p, shared: cfg.Database().Path == "", beat: cfg.RunGrace / beatsPerGrace, done: make(chan struct{})}
	k.pulse = pulse{own: p.Chat.Process(), grace: cfg.RunGrace, most: 2 * k.beat}
	stale := time.Duration(0) // no other process: this one has the lock
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

// Drain stops resuming runs: the server is about to exit.
func (k *keeper) Drain() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.draining = true
}

// Stop ends the maintenance and records that the process has gone, so that others resume
// its unfinished runs.
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
	if err := k.Store.Maintenance().LeaveProcess(ctx, k.Chat.Process()); err != nil {
		k.Log.Warn("the server could not say that it ends; others notice", "error", err)
	}
}

// every calls do at intervals until ctx ends, and logs problem if it fails.
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

// resume resumes interrupted runs until ctx ends. Its intervals are random, so that
// replicas share the runs of a dead one.
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

// alive records a beat of this process and interrupts the runs of dead ones.
func (k *keeper) alive(ctx context.Context) error {
	all, err := k.Store.Maintenance().Beat(ctx, k.Chat.Process())
	if err != nil {
		return err
	}
	for _, b := range k.pulse.dead(all, time.Now()) {
		dead, err := k.Store.Maintenance().EndProcess(ctx, b)
		if err != nil {
			return err
		}
		if dead {
			k.Log.Warn("another server died; its runs go on", "process", b.Process)
		}
	}
	return nil
}

// pulse finds processes whose beats have stopped. It counts only the time between its own
// observations: while this process cannot read the beats, no process becomes dead.
type pulse struct {
	own   string
	grace time.Duration
	// most bounds the time that one pause between two observations counts as silence.
	most time.Duration

	last  time.Time
	known map[string]heard
}

// heard is the last beat of a process and how long it has been silent since.
type heard struct {
	count  int64
	silent time.Duration
}

// dead returns the processes that have been silent for the grace.
func (p *pulse) dead(all []store.Beat, now time.Time) (list []store.Beat) {
	passed := time.Duration(0)
	if !p.last.IsZero() {
		passed = min(now.Sub(p.last), p.most)
	}
	p.last = now
	known := make(map[string]heard, len(all))
	for _, b := range all {
		h, ok := p.known[b.Process]
		switch {
		case b.Process == p.own:
			continue
		case !ok || h.count != b.Count:
			h = heard{count: b.Count}
		default:
			h.silent += passed
		}
		if h.silent >= p.grace {
			list = append(list, b)
		}
		known[b.Process] = h
	}
	p.known = known
	return list
}
