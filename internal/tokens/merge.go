package tokens

// merger splits a piece into tokens by byte pair encoding: every byte is a part, and the
// two neighbours that make the token of the lowest rank become one part, until no two
// make a token. A queue of the pairs keeps that n log n, as a piece may be long.
type merger struct {
	// parts has the part that begins at an offset, and one after the last.
	parts []part
	queue []pair
}

// part is linked with its neighbours by their offsets, and has the rank of the token that
// it makes with the next one.
type part struct {
	previous, next int32
	rank           uint32
}

// none is the rank of a pair that makes no token, or of a part that was merged.
const none = 1<<32 - 1

// pair is the rank of a pair, and in the lower half its offset: of pairs with the same
// rank the first is merged first.
type pair uint64

// merge splits a piece and returns the number of its tokens.
func (m *merger) merge(ranks map[string]uint32, s string) int {
	last := int32(len(s))
	m.parts, m.queue = m.parts[:0], m.queue[:0]
	for i := range last + 1 {
		m.parts = append(m.parts, part{i - 1, i + 1, none})
	}
	look := func(i int32) {
		p := &m.parts[i]
		p.rank = none
		if p.next >= last {
			return
		}
		if rank, ok := ranks[s[i:m.parts[p.next].next]]; ok {
			p.rank = rank
			m.push(pair(rank)<<32 | pair(i))
		}
	}
	for i := range last {
		look(i)
	}
	n := len(s)
	for len(m.queue) > 0 {
		top := m.pop()
		i := int32(top & none)
		p := &m.parts[i]
		if p.rank != uint32(top>>32) {
			continue // it was merged, or makes another pair now
		}
		m.parts[p.next].rank = none
		p.next = m.parts[p.next].next
		m.parts[p.next].previous = i
		n--
		look(i)
		if p.previous >= 0 {
			look(p.previous)
		}
	}
	return n
}

// end returns the end of the n-th token of the last piece.
func (m *merger) end(n int) int {
	at := int32(0)
	for range n {
		at = m.parts[at].next
	}
	return int(at)
}

// push and pop keep the queue a heap, the least first.
func (m *merger) push(p pair) {
	q := append(m.queue, p)
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 2
		if q[up] <= q[i] {
			break
		}
		q[up], q[i] = q[i], q[up]
		i = up
	}
	m.queue = q
}

func (m *merger) pop() pair {
	q := m.queue
	top, end := q[0], len(q)-1
	q[0] = q[end]
	q = q[:end]
	for i := 0; 2*i+1 < end; {
		down := 2*i + 1
		if down+1 < end && q[down+1] < q[down] {
			down++
		}
		if q[i] <= q[down] {
			break
		}
		q[i], q[down] = q[down], q[i]
		i = down
	}
	m.queue = q
	return top
}
