package fair

import (
	"context"
	"slices"
	"sync"
)

// Turns is a semaphore. Waiting callers are served round robin: tenant by tenant, within a
// tenant user by user, within a user in order. No caller waits while there is a free slot,
// and taking a free one allocates nothing.
type Turns struct {
	mu      sync.Mutex
	most    int
	free    int
	waiting int
	line    line
	closed  bool
}

// NewTurns makes a semaphore of n slots.
func NewTurns(n int) *Turns { return &Turns{most: n, free: n} }

// Load returns the number of slots, of those that are taken, and of callers that wait.
func (t *Turns) Load() (most, taken, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.most, t.most - t.free, t.waiting
}

// turn is a caller that waits; granted is closed when its turn comes.
type turn struct {
	granted chan struct{}
	err     error
}

// Take takes a slot, and waits for one until the context ends.
func (t *Turns) Take(ctx context.Context, k Key) error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return ErrClosed
	}
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	w := &turn{granted: make(chan struct{})}
	t.line.push(w, k.Tenant, k.User)
	t.waiting++
	t.mu.Unlock()
	select {
	case <-w.granted:
		return w.err
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.line.remove(w, k.Tenant, k.User):
		t.waiting--
	case w.err == nil:
		t.give() // granted meanwhile
	}
	return ctx.Err()
}

// Give releases a slot.
func (t *Turns) Give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.give()
}

func (t *Turns) give() {
	if w := t.line.pop(); w != nil {
		t.waiting--
		close(w.granted)
		return
	}
	t.free++
}

// Close refuses the callers that wait and those that come later.
func (t *Turns) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed, t.waiting = true, 0
	for w := t.line.pop(); w != nil; w = t.line.pop() {
		w.err = ErrClosed
		close(w.granted)
	}
}

// line is a round robin of round robins: a node has either children or, at the
// end of a path, waiters. The zero line is empty.
type line struct {
	// order lists the children that have waiters, the next one first.
	order    []string
	children map[string]*line
	waiters  []*turn
}

func (l *line) push(w *turn, path ...string) {
	if len(path) == 0 {
		l.waiters = append(l.waiters, w)
		return
	}
	child := l.children[path[0]]
	if child == nil {
		if l.children == nil {
			l.children = make(map[string]*line)
		}
		child = &line{}
		l.children[path[0]] = child
		l.order = append(l.order, path[0])
	}
	child.push(w, path[1:]...)
}

// pop removes the waiter whose turn it is, nil for none.
func (l *line) pop() *turn {
	if len(l.waiters) > 0 {
		w := l.waiters[0]
		l.waiters = l.waiters[1:]
		return w
	}
	if len(l.order) == 0 {
		return nil
	}
	name := l.order[0]
	child := l.children[name]
	w := child.pop()
	l.order = append(l.order[1:], name)
	l.prune(name)
	return w
}

// remove takes a waiter out, and reports whether it was there.
func (l *line) remove(w *turn, path ...string) bool {
	if len(path) == 0 {
		i := slices.Index(l.waiters, w)
		if i >= 0 {
			l.waiters = slices.Delete(l.waiters, i, i+1)
		}
		return i >= 0
	}
	child := l.children[path[0]]
	if child == nil || !child.remove(w, path[1:]...) {
		return false
	}
	l.prune(path[0])
	return true
}

// prune drops a child without waiters.
func (l *line) prune(name string) {
	if child := l.children[name]; len(child.waiters) == 0 && len(child.order) == 0 {
		delete(l.children, name)
		l.order = slices.DeleteFunc(l.order, func(s string) bool { return s == name })
	}
}
