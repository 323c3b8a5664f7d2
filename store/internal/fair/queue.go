package fair

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the bounds of a [Queue].
type Options struct {
	// Slots is how many queries run at once.
	Slots int
	// Members is how many queries are under way: running, or paused by [Slot.Yield]. Yield
	// needs more Members than Slots; 0 is Slots. A tenant cannot take them all: room is
	// left for another tenant and, within the tenant, for another user.
	Members int
	// Slice is how long a query runs before Yield lets another one go first.
	Slice time.Duration
	// Waiting is how many queries of one tenant may wait; 0 is any number.
	Waiting int
}

// Queue grants slots to queries. A free slot goes to the waiting tenant that holds the
// fewest, then to the one whose last grant is the oldest; within a tenant likewise. A
// tenant's share is the number of slots divided by the tenants that want one, at least
// one. If a waiting tenant holds less than its share, and the tenant with the most slots
// holds more than its share, the youngest query of that tenant's greediest user is asked
// to make way. The same rule holds for the users within a tenant.
type Queue struct {
	o       Options
	waiting atomic.Int64

	mu               sync.Mutex
	running, members int
	grants           uint64
	tenants          map[string]*party
}

// party is a tenant or a user that has queries under way or waiting.
type party struct {
	name             string
	running, members int
	// promised counts the waiting queries for which a running query was asked to make way.
	promised  int
	lastGrant uint64
	// users are a tenant's; slots and line are a user's running and waiting queries, oldest
	// first.
	users   map[string]*party
	waiting int
	slots   []*Slot
	line    []*Slot
}

// Slot is a query's place in the queue, held until Release.
type Slot struct {
	q            *Queue
	tenant, user *party
	ask          func()
	// asked: the query was asked to make way.
	asked atomic.Bool
	// member: the query is under way. running: it holds a slot.
	member, running bool
	promised        bool
	// granted is closed when the wait ends with a slot; nil unless the query waits.
	granted chan struct{}
	began   time.Time
	waited  time.Duration
}

// NewQueue makes a queue.
func NewQueue(o Options) *Queue {
	o.Slots = max(1, o.Slots)
	o.Members = max(o.Members, o.Slots)
	return &Queue{o: o, tenants: make(map[string]*party)}
}

// Acquire waits for a slot, at most for wait. ask is called at most once, when the query
// should make way; it must not block or call the queue. A query that calls Yield passes
// nil. The error is [ErrFull], [ErrWaited] or the context's.
func (q *Queue) Acquire(ctx context.Context, k Key, wait time.Duration, ask func()) (*Slot, error) {
	q.mu.Lock()
	s := &Slot{q: q, ask: ask}
	s.tenant = child(&q.tenants, k.Tenant)
	s.user = child(&s.tenant.users, k.User)
	if q.o.Waiting > 0 && s.tenant.waiting >= q.o.Waiting {
		q.forget(s)
		q.mu.Unlock()
		return nil, ErrFull
	}
	if q.running < q.o.Slots && q.waiting.Load() == 0 && q.admits(s) {
		q.start(s)
		q.mu.Unlock()
		return s, nil
	}
	q.enqueue(s)
	granted := s.granted
	q.settle()
	running := s.running
	q.mu.Unlock()
	if running {
		return s, nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	if err := s.wait(ctx, granted, timer.C); err != nil {
		return nil, err
	}
	return s, nil
}

// wait waits for the grant. On an error, it has removed the slot from the queue.
func (s *Slot) wait(ctx context.Context, granted <-chan struct{}, late <-chan time.Time) (err error) {
	began := time.Now()
	select {
	case <-granted:
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
		err = ErrWaited
	}
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	s.waited += time.Since(began)
	if err == nil || s.running { // a grant that came at the same time is used
		return nil
	}
	s.q.unqueue(s)
	s.granted = nil
	if !s.member {
		s.q.forget(s)
	}
	s.q.settle()
	return err
}

// Yield pauses the query if it was asked to make way, or if others wait and its slice is
// used up, until it may go on. It is cheap while no query waits, so a query may call it
// often. After an error, which is the context's, only Release may be called.
func (s *Slot) Yield(ctx context.Context) error {
	if s.q.waiting.Load() == 0 && !s.asked.Load() {
		return nil
	}
	if !s.asked.Load() && time.Since(s.began) < s.q.o.Slice {
		return nil
	}
	s.q.mu.Lock()
	s.q.stop(s)
	s.q.enqueue(s)
	granted := s.granted
	s.q.settle()
	running := s.running
	s.q.mu.Unlock()
	if running {
		return nil
	}
	return s.wait(ctx, granted, nil)
}

// Waited returns how long the query has waited for its slot, in all.
func (s *Slot) Waited() time.Duration {
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	return s.waited
}

// Release ends the query's place in the queue.
func (s *Slot) Release() {
	q := s.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.running {
		q.stop(s)
	}
	if s.member {
		s.member = false
		q.members--
		s.tenant.members--
		s.user.members--
	}
	q.forget(s)
	q.settle()
}

// Load returns the number of slots, of queries that hold one, and of those that wait.
func (q *Queue) Load() (slots, running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.o.Slots, q.running, int(q.waiting.Load())
}

// Alone reports whether no tenant but this one has queries under way or waiting.
func (q *Queue) Alone(tenant string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name := range q.tenants {
		if name != tenant {
			return false
		}
	}
	return true
}

// settle grants the free slots, then asks queries beyond a share to make way.
func (q *Queue) settle() {
	if q.waiting.Load() == 0 {
		return
	}
	for q.running < q.o.Slots {
		s := q.next()
		if s == nil {
			return
		}
		q.start(s)
	}
	for s := q.deserving(); s != nil; s = q.deserving() {
		victim := q.victim(s)
		if victim == nil {
			return
		}
		s.promised = true
		s.tenant.promised++
		s.user.promised++
		victim.asked.Store(true)
		if victim.ask != nil {
			victim.ask()
		}
	}
}

// next returns the waiting query that gets the next slot, nil for none.
func (q *Queue) next() *Slot {
	for _, t := range ranked(q.tenants) {
		for _, u := range ranked(t.users) {
			for _, s := range u.line {
				if q.admits(s) {
					return s
				}
			}
		}
	}
	return nil
}

// ranked returns the parties that wait, the most deserving first.
func ranked(all map[string]*party) []*party {
	list := make([]*party, 0, len(all))
	for _, p := range all {
		if p.waiting > 0 {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *party) int {
		return cmp.Or(cmp.Compare(a.running, b.running), cmp.Compare(a.lastGrant, b.lastGrant), cmp.Compare(a.name, b.name))
	})
	return list
}

// admits reports whether a waiting query may be under way.
func (q *Queue) admits(s *Slot) bool {
	if s.member || q.o.Members == q.o.Slots {
		return true
	}
	tenants, users := len(q.tenants), len(s.tenant.users)
	most := part(q.o.Members, tenants+1)
	return q.members < q.o.Members && s.tenant.members < most && s.user.members < part(most, users+1)
}

// part returns a part of n, rounded up.
func part(n, parts int) int { return (n + parts - 1) / parts }

// deserving returns a waiting query of a party that holds less than its share, unless a running
// query was asked already to make way for it; nil if there is no such query.
func (q *Queue) deserving() *Slot {
	share := max(1, q.o.Slots/max(1, len(q.tenants)))
	for _, t := range ranked(q.tenants) {
		own := max(1, t.running/max(1, len(t.users)))
		for _, u := range ranked(t.users) {
			if t.running+t.promised >= share && u.running+u.promised >= own {
				continue
			}
			first := slices.IndexFunc(u.line, func(s *Slot) bool { return !s.promised && q.admits(s) })
			if first >= 0 && q.victim(u.line[first]) != nil {
				return u.line[first]
			}
		}
	}
	return nil
}

// victim returns the query that should make way for a waiting one, nil for none.
func (q *Queue) victim(s *Slot) *Slot {
	share := max(1, q.o.Slots/len(q.tenants))
	if s.tenant.running+s.tenant.promised < share {
		if t := greediest(q.tenants, share); t != nil && t != s.tenant {
			return youngest(greediest(t.users, 0))
		}
	}
	own := max(1, s.tenant.running/len(s.tenant.users))
	if s.user.running+s.user.promised < own {
		if u := greediest(s.tenant.users, own); u != nil && u != s.user {
			return youngest(u)
		}
	}
	return nil
}

// greediest returns the party that holds the most slots, not counting queries that were
// asked to make way; nil if no party holds more than share.
func greediest(all map[string]*party, share int) *party {
	var most *party
	for _, p := range all {
		if n := p.held(); n > share && (most == nil || n > most.held() || n == most.held() && p.lastGrant > most.lastGrant) {
			most = p
		}
	}
	return most
}

// held counts the slots of a party whose queries were not asked to make way.
func (p *party) held() (n int) {
	for _, u := range p.users {
		n += u.held()
	}
	for _, s := range p.slots {
		if !s.asked.Load() {
			n++
		}
	}
	return n
}

// youngest returns a user's newest query that was not asked to make way.
func youngest(u *party) *Slot {
	if u == nil {
		return nil
	}
	for _, s := range slices.Backward(u.slots) {
		if !s.asked.Load() {
			return s
		}
	}
	return nil
}

func child(all *map[string]*party, name string) *party {
	p := (*all)[name]
	if p == nil {
		if *all == nil {
			*all = make(map[string]*party)
		}
		p = &party{name: name}
		(*all)[name] = p
	}
	return p
}

// enqueue puts a query behind those of its user.
func (q *Queue) enqueue(s *Slot) {
	s.granted = make(chan struct{})
	s.user.line = append(s.user.line, s)
	s.user.waiting++
	s.tenant.waiting++
	q.waiting.Add(1)
}

// unqueue takes a query out of the line.
func (q *Queue) unqueue(s *Slot) {
	s.user.line = slices.DeleteFunc(s.user.line, func(x *Slot) bool { return x == s })
	s.user.waiting--
	s.tenant.waiting--
	q.waiting.Add(-1)
	if s.promised {
		s.promised = false
		s.tenant.promised--
		s.user.promised--
	}
}

// start grants a slot to a waiting query.
func (q *Queue) start(s *Slot) {
	if s.granted != nil {
		q.unqueue(s)
		close(s.granted)
		s.granted = nil
	}
	if !s.member {
		s.member = true
		q.members++
		s.tenant.members++
		s.user.members++
	}
	s.running = true
	s.asked.Store(false)
	s.began = time.Now()
	q.grants++
	q.running++
	for _, p := range []*party{s.tenant, s.user} {
		p.running++
		p.lastGrant = q.grants
	}
	s.user.slots = append(s.user.slots, s)
}

// stop frees the slot of a query.
func (q *Queue) stop(s *Slot) {
	s.running = false
	q.running--
	s.tenant.running--
	s.user.running--
	s.user.slots = slices.DeleteFunc(s.user.slots, func(x *Slot) bool { return x == s })
}

// forget drops the user and the tenant of a query if they have no queries left.
func (q *Queue) forget(s *Slot) {
	if u := s.user; u.members == 0 && u.waiting == 0 {
		delete(s.tenant.users, u.name)
	}
	if len(s.tenant.users) == 0 {
		delete(q.tenants, s.tenant.name)
	}
}
