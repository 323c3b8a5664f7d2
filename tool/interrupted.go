package tool

import (
	"context"

	"github.com/p8-org/p8/agent"
)

// Resumable is a tool whose interrupted call continues where it stopped when it is
// made again: ask_agent resumes the run of the agent that it asked. Such a call is
// always repeated, whatever the document says.
type Resumable interface {
	Tool
	// Resumes is never called; it tells such tools from others.
	Resumes()
}

// interruptible is a tool whose document says what happens to an interrupted call.
type interruptible interface{ ifInterrupted() string }

// IfInterrupted is what happens to a call of t that was under way when its process
// died: agent.InterruptedUnknown, InterruptedAsk or InterruptedRepeat. The document
// decides; if it is silent, a tool that only reads, is idempotent or goes by the call's
// key is repeated and any other is not.
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

// withInterrupted is the tool with a document's if_interrupted, which replaces the
// default.
func withInterrupted(t Tool, policy string) Tool {
	if policy == "" {
		return t
	}
	return wrap(t, func(w *wrapped) { w.interrupted = policy })
}

// Keyed is an [Asker] that also names the call it belongs to.
type Keyed interface {
	// Key is the call's idempotency key; see [KeyFrom].
	Key() string
}

// KeyFrom is the idempotency key of the call that ctx belongs to. It is the same
// whenever the run makes this call again, after a crash or an answer of the user, and
// no other call has it. It is "" outside of a run that is kept.
//
// A tool that acts on another system passes the key on, so that the other system can
// recognise a repetition: MCP servers get it in _meta, HTTP APIs as Idempotency-Key.
func KeyFrom(ctx context.Context) string {
	if k, ok := AskerFrom(ctx).(Keyed); ok {
		return k.Key()
	}
	return ""
}
