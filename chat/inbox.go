package chat

import (
	"slices"
	"sync"

	"github.com/p8-org/p8/llm"
)

// inbox is what came in for a running run, by the rows where it is stored.
type inbox struct {
	mu       sync.Mutex
	stored   sync.Cond // a message is on its way no more
	messages []incoming
	held     []string // rows that are being stored
	closed   bool
}

// incoming is a message that the run has not read.
type incoming struct{ id, text string }

// has reports whether a message is there, or on its way.
func (b *inbox) has(id string) bool {
	return slices.Contains(b.held, id) || slices.ContainsFunc(b.messages, func(m incoming) bool { return m.id == id })
}

// put adds a message that is stored, unless it is there or on its way.
func (b *inbox) put(id, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.has(id) {
		b.messages = append(b.messages, incoming{id, text})
	}
}

// hold announces a message; false when the run reads no more, or has it. give
// follows.
func (b *inbox) hold(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.messages)+len(b.held) >= maxQueue || b.has(id) {
		return false
	}
	b.held = append(b.held, id)
	return true
}

// give adds the message that was announced, unless it could not be stored.
func (b *inbox) give(id, text string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = slices.DeleteFunc(b.held, func(other string) bool { return other == id })
	if ok {
		b.messages = append(b.messages, incoming{id, text})
	}
	if b.stored.L != nil {
		b.stored.Broadcast()
	}
}

// take is everything that came in; with last, it waits for what is on its way,
// and when there is nothing, nothing more may come.
func (b *inbox) take(last bool) []llm.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stored.L = &b.mu
	for last && len(b.held) > 0 {
		b.stored.Wait()
	}
	var taken []llm.Message
	for _, m := range b.messages {
		taken = append(taken, llm.Message{Role: llm.User, Content: m.text})
	}
	b.messages = nil
	if last && len(taken) == 0 {
		b.closed = true
	}
	return taken
}

// close takes no more.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}
