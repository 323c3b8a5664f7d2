package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// checkpointer copies the write-ahead log into the database on a connection of its own,
// so that no commit waits for it. SQLite restarts the log after all of it is copied and
// no reader needs it, and never shortens the file: the checkpointer truncates it if it is
// too long, and when there are no writes.
type checkpointer struct {
	logBounds
	engine *engine
	conn   *conn
	log    *slog.Logger
	wake   chan struct{}
	done   chan struct{}
	// commits counts those of the writer.
	commits atomic.Int64
	// asleep is true if only the writer's hook causes the next look.
	asleep atomic.Bool

	// copying is held during a checkpoint beside the writer: SQLite does not wait for
	// another connection's checkpoint, it refuses at once.
	copying sync.Mutex

	mu      sync.Mutex
	readers []*conn
	// selects are the callers' SELECTs that run; one begins under gate.
	selects map[*pin]struct{}
	gate    sync.RWMutex

	// seen is the number of commits at the last look, warned whether the length of
	// the log was reported.
	seen   int64
	warned bool
}

// logBounds are the bounds of the log.
type logBounds struct {
	// pages are how many new pages in the log cause a checkpoint.
	pages int
	// keep bounds the file when there are no writes, most when there are.
	keep, most int64
	// pinned is how long a read may keep a log that is longer than most.
	pinned time.Duration
	// pause is the time between two looks at a log that is longer than keep.
	pause time.Duration
}

func defaultLogBounds() logBounds {
	return logBounds{pages: 1000, keep: 4 << 20, most: 64 << 20, pinned: 10 * time.Second, pause: time.Second}
}

// framePage is how many bytes a page takes in the log, with its header.
const framePage = 4096 + 24

// truncateWait bounds how long writers wait for readers to leave the log.
const truncateWait = 100 * time.Millisecond

// start begins the work for a writing connection.
func (k *checkpointer) start(ctx context.Context, e *engine, writer *conn, o Options) (err error) {
	k.engine, k.log, k.logBounds = e, o.Logger, o.log
	if k.logBounds == (logBounds{}) {
		k.logBounds = defaultLogBounds()
	}
	if k.conn, err = connect(ctx, e.path, false); err != nil {
		return fmt.Errorf("sqlite: open %s: %w", e.path, err)
	}
	if err := k.conn.db.WALAutoCheckpoint(0); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	if err := k.conn.db.BusyTimeout(truncateWait); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	k.wake, k.done = make(chan struct{}, 1), make(chan struct{})
	last, next := 0, k.pages
	writer.db.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
		k.commits.Add(1)
		if pages < last { // the log began anew
			next = k.pages
		}
		if last = pages; pages >= next || k.asleep.Load() && int64(pages)*framePage > k.keep {
			next = pages + k.pages
			k.look()
		}
		return nil
	})
	go k.run()
	return nil
}

// look wakes the checkpointer.
func (k *checkpointer) look() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// watch registers the pin of a reader, so that its reads can be cut.
func (k *checkpointer) watch(c *conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.readers = append(k.readers, c)
}

// stop ends the work, when the engine closes.
func (k *checkpointer) stop() error {
	if k.done == nil {
		return k.conn.close()
	}
	<-k.done
	return k.conn.close()
}

func (k *checkpointer) run() {
	defer close(k.done)
	again := time.NewTimer(k.pause) // the process before may have left a log
	defer again.Stop()
	for {
		select {
		case <-k.engine.closed:
			return
		case <-k.wake:
		case <-again.C:
		}
		k.asleep.Store(false)
		if k.step() {
			again.Reset(k.pause)
			continue
		}
		// A commit during the step did not wake the checkpointer.
		if k.asleep.Store(true); k.commits.Load() != k.seen {
			again.Reset(k.pause)
		}
	}
}

// step moves what it can, and reports whether the log is still too long.
func (k *checkpointer) step() (again bool) {
	commits := k.commits.Load()
	idle := commits == k.seen
	k.seen = commits
	if err := k.move(); err != nil {
		k.log.Warn("the write-ahead log could not be moved to the database", "error", err)
	}
	size := k.size()
	switch {
	case size <= k.keep:
		k.warned = false
		return false
	case size <= k.most && !idle:
		return true
	}
	if k.truncate(size > k.most) {
		k.warned = false
		return false
	}
	if size > k.most {
		k.cut(size)
	}
	return true
}

// move copies the part of the log that no reader needs, beside the writer, and then, while
// the writer waits, the rest: SQLite restarts the log only after all of it is copied.
func (k *checkpointer) move() error {
	before := k.commits.Load()
	k.copying.Lock()
	all, moved, err := k.conn.db.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
	k.copying.Unlock()
	if errors.Is(err, sqlite3.BUSY) {
		return nil // another connection's checkpoint does the same
	}
	if err != nil || moved < all || k.commits.Load() == before {
		return err
	}
	release, err := k.engine.Turn(context.Background())
	if err != nil {
		return nil // the engine closes
	}
	defer release()
	if err := k.checkpoint(sqlite3.CHECKPOINT_PASSIVE); !errors.Is(err, sqlite3.BUSY) {
		return err
	}
	return nil
}

func (k *checkpointer) checkpoint(mode sqlite3.CheckpointMode) error {
	_, _, err := k.conn.db.WALCheckpoint("main", mode)
	return err
}

// truncate empties the file while the writer waits. New readers do not need the log then;
// the others have a moment to end. With force, it restarts the callers' SELECTs, which
// together might need the log for ever.
func (k *checkpointer) truncate(force bool) bool {
	release, err := k.engine.Turn(context.Background())
	if err != nil {
		return false
	}
	defer release()
	if k.checkpoint(sqlite3.CHECKPOINT_TRUNCATE) == nil {
		return true
	}
	if !force {
		return false
	}
	k.gate.Lock()
	defer k.gate.Unlock()
	k.mu.Lock()
	for p := range k.selects {
		p.cut(0)
	}
	k.mu.Unlock()
	return k.checkpoint(sqlite3.CHECKPOINT_TRUNCATE) == nil
}

// begin registers a running SELECT; end removes it.
func (k *checkpointer) begin(p *pin, ctx context.Context) context.Context {
	k.gate.RLock()
	defer k.gate.RUnlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.selects == nil {
		k.selects = make(map[*pin]struct{})
	}
	k.selects[p] = struct{}{}
	return p.begin(ctx)
}

func (k *checkpointer) end(p *pin) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.selects, p)
	p.end()
}

// cut ends the reads that keep the log for too long.
func (k *checkpointer) cut(size int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for _, c := range k.readers {
		if c.pin.cut(k.pinned) {
			n++
		}
	}
	if n > 0 || !k.warned {
		k.log.Warn("the write-ahead log is long, as readers keep it from being emptied", "bytes", size, "reads stopped", n)
		k.warned = true
	}
}

func (k *checkpointer) size() int64 {
	info, err := os.Stat(k.engine.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}
