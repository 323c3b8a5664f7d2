package tool

import (
	"context"

	"github.com/p8-org/p8/agent"
)

// Resumable is a tool whose interrupted call resumes when it is made again: ask_agent
// resumes the child's run. Such a call is always repeated, whatever the document says.
type Resumable interface {
	Tool
	// Resumes is never called; it marks the tool.
	Resumes()
}

// interruptible is a tool whose document says what happens to an interrupted call.
type interruptible interface{ ifInterrupted() string }

// IfInterrupted says what happens to a call of t that was under way when its process
// died: agent.InterruptedUnknown, InterruptedAsk or InterruptedRepeat. The document
// decides. By default, only a tool that only reads, is idempotent or is keyed is repeated.
func IfInterrupted(t Tool) string {
	if resumes(t) {
		return agent.InterruptedRepeat
	}
	if i, ok := t.(interruptible); ok {
		if said := i.ifInterrupted(); said != "" {
			return said
		}
	}
	if a := AnnotationsOf(t); a.ReadOnly || a.Idempotent || a.Keyed {
		return agent.InterruptedRepeat
	}
	return agent.InterruptedUnknown
}

// resumes reports whether t is a Resumable, wrapped or not.
func resumes(t Tool) bool {
	if w, ok := t.(interface{ resumes() bool }); ok {
		return w.resumes()
	}
	_, ok := t.(Resumable)
	return ok
}

// withInterrupted returns the tool with a document's if_interrupted instead of the
// default.
func withInterrupted(t Tool, policy string) Tool {
	if policy == "" {
		return t
	}
	return wrap(t, func(w *wrapped) { w.interrupted = policy })
}

// Keyed is an [Asker] that also has the key of its call.
type Keyed interface {
	// Key returns the call's idempotency key; see [KeyFrom].
	Key() string
}

// KeyFrom returns the idempotency key of the call that ctx belongs to. A repetition of
// the call, after a crash or an answer of the user, has the same key; no two calls
// share one. It is "" for a run that is not stored.
//
// A tool that acts on another system passes the key on, so that the system can
// recognise a repetition: MCP servers get it in _meta, HTTP APIs as Idempotency-Key.
func KeyFrom(ctx context.Context) string {
	if k, ok := AskerFrom(ctx).(Keyed); ok {
		return k.Key()
	}
	return ""
}
