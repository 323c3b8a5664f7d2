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
	stored   sync.Cond // signals the end of an announcement
	messages []incoming
	held     []string // ids of messages that are being stored
	given    []string // ids of messages that are stored, also those that the run has read
	closed   bool
}

// incoming is a message that the run has not read yet.
type incoming struct{ id, text string }

// has reports whether the inbox has the message, or its announcement.
func (b *Inbox) has(id string) bool {
	return slices.Contains(b.held, id) || slices.ContainsFunc(b.messages, func(m incoming) bool { return m.id == id })
}

// Put adds a stored message, unless the inbox has it.
func (b *Inbox) Put(id, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.has(id) {
		b.add(id, text)
	}
}

// PutOnce adds a stored message, unless the run has ever had it.
func (b *Inbox) PutOnce(id, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.given, id) {
		b.release(id)
		b.add(id, text)
	}
}

// Read notes that the run has read a message.
func (b *Inbox) Read(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.given = append(b.given, id)
}

// Had reports whether the run has the message, or has read it.
func (b *Inbox) Had(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.given, id)
}

func (b *Inbox) add(id, text string) {
	b.messages, b.given = append(b.messages, incoming{id, text}), append(b.given, id)
}

// release ends the announcement of a message. It returns false for a message that was not
// announced.
func (b *Inbox) release(id string) bool {
	i := slices.Index(b.held, id)
	if i < 0 {
		return false
	}
	b.held = slices.Delete(b.held, i, i+1)
	if b.stored.L != nil {
		b.stored.Broadcast()
	}
	return true
}

// Hold announces a message; the caller must call Give next. Hold returns false if the run
// reads no more messages, or has this one.
func (b *Inbox) Hold(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.messages)+len(b.held) >= maxQueue || b.has(id) {
		return false
	}
	b.held = append(b.held, id)
	return true
}

// Give adds an announced message. It adds nothing if ok is false (the message was not
// stored) or if PutOnce has added it.
func (b *Inbox) Give(id, text string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.release(id) && ok {
		b.add(id, text)
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
