package sessions

import (
	"slices"
	"sync"

	"github.com/p8-org/p8/llm"
)

// Inbox holds the messages for a run that is under way, by the ids of their rows. Its
// zero value is empty.
type Inbox struct {
	mu       sync.Mutex
	stored   sync.Cond // signals Give
	messages []incoming
	held     []string // ids of messages that are being stored
	closed   bool
}

// incoming is a message that the run has not read yet.
type incoming struct{ id, text string }

// has reports whether a message is there, or on its way.
func (b *Inbox) has(id string) bool {
	return slices.Contains(b.held, id) || slices.ContainsFunc(b.messages, func(m incoming) bool { return m.id == id })
}

// Put adds a message that is stored, unless it is there or on its way.
func (b *Inbox) Put(id, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.has(id) {
		b.messages = append(b.messages, incoming{id, text})
	}
}

// Hold announces a message; Give must follow. It is false if the run reads no further
// messages, or has this one.
func (b *Inbox) Hold(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.messages)+len(b.held) >= maxQueue || b.has(id) {
		return false
	}
	b.held = append(b.held, id)
	return true
}

// Give adds the message that was announced, unless it could not be stored.
func (b *Inbox) Give(id, text string, ok bool) {
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

// Take removes and returns the messages. With last, it first waits for announced messages,
// and closes the inbox if no message came.
func (b *Inbox) Take(last bool) []llm.Message {
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

// Close makes the inbox refuse further messages.
func (b *Inbox) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}
