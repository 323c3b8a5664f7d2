package live

import "github.com/p8-org/p8/event"

// memory holds the newest events of a log, from first until next, in a ring that grows
// when it is full and shrinks when most of it is empty. An event's number modulo the
// length is its index.
type memory struct {
	ring        []event.Event // its length is a power of two
	first, next int64
	bytes       int
}

// firstEvents is the room that most turns need.
const firstEvents = 16

// leastRing is the length up to which a ring never shrinks.
const leastRing = 32

func (m *memory) init(next int64) {
	m.ring = make([]event.Event, firstEvents)
	m.first, m.next = next, next
}

// at returns the event with number n.
func (m *memory) at(n int64) *event.Event { return &m.ring[n&int64(len(m.ring)-1)] }

// add gives the event the next number and returns its size.
func (m *memory) add(e event.Event) int {
	if m.next-m.first == int64(len(m.ring)) {
		m.resize(2 * len(m.ring))
	}
	e.Seq = m.next
	*m.at(m.next) = e
	m.next++
	size := size(&e)
	m.bytes += size
	return size
}

// drop drops the oldest event.
func (m *memory) drop() {
	e := m.at(m.first)
	m.bytes -= size(e)
	*e = event.Event{}
	m.first++
	if n := len(m.ring); n > leastRing && m.next-m.first <= int64(n/4) {
		m.resize(n / 2)
	}
}

// resize moves the events to a ring of another length.
func (m *memory) resize(length int) {
	old := *m
	m.ring = make([]event.Event, length)
	for n := m.first; n < m.next; n++ {
		*m.at(n) = *old.at(n)
	}
}

// copy copies the events after a number into buf and returns how many.
func (m *memory) copy(buf []event.Event, after int64) int {
	from := max(after+1, m.first)
	n := 0
	for ; n < len(buf) && from+int64(n) < m.next; n++ {
		buf[n] = *m.at(from + int64(n))
	}
	return n
}

// size is about how much memory an event takes, in bytes: its place in the ring, which
// may be half empty, and its texts.
func size(e *event.Event) int {
	const fixed = 128
	n := fixed + len(e.Text)
	switch d := e.Data.(type) {
	case *event.ToolCallData:
		n += len(d.Arguments) + len(d.Result) + len(d.Content)
		for i := range d.Files {
			n += len(d.Files[i].Data)
		}
	case *event.ActionData:
		n += len(d.Payload)
	case *event.ActionRequestData:
		n += len(d.Card) + len(d.Arguments) + len(d.Schema) + len(d.Message)
	case *event.ChildRunData:
		n += len(d.Input)
	case *event.StateData:
		n += len(d.State) + len(d.Delta)
	case *event.DoneData:
		n += len(d.Output) + len(d.ChainedResult)
	}
	return n
}
