package stream

import (
	"slices"

	"github.com/p8-org/p8/event"
)

// keep records that the run's step will not run again.
func (e *aisdkEncoder) keep(ev event.Event) {
	if !child(ev.Agent) {
		e.fresh = false
		return
	}
	d := e.delegate(ev)
	d.kept, d.before = len(d.text), d.paragraphs
}

// voidCalls removes the calls that were begun in the cut steps. The root's vanish with its
// step if the client can reset it; those of a delegated agent have no step of their own.
func (e *aisdkEncoder) voidCalls(d *event.RestartData) {
	for _, k := range e.calls.left() {
		if k.input || !slices.ContainsFunc(d.Runs, func(r event.CutRun) bool { return r.RunID == k.key.run }) {
			continue
		}
		e.calls.forget(k)
		if k.begun && (k.below || !e.resets()) {
			e.inputError(k, nil, "the server stopped while the model wrote this call")
		}
	}
}

// reset removes the parts of the root's step. Clients that cannot do that keep them until
// they load the message anew.
func (e *aisdkEncoder) reset() {
	if !e.resets() {
		e.hush(&e.root)
		return
	}
	e.root.open = 0
	e.chunk("reset-step")
	e.end()
}

// appendRestart removes the parts of the cut steps: the root's with the SDK's
// reset-step, a delegated agent's text with its next preliminary output. The ids of
// the parts that follow do not depend on what the client has seen.
func (e *aisdkEncoder) appendRestart(ev event.Event, d *event.RestartData) error {
	e.voidCalls(d)
	if e.fresh {
		e.fresh = false
		e.reset()
	}
	e.parts = int(ev.Seq)
	for _, r := range d.Runs {
		below := e.children[r.RunID]
		if below == nil {
			continue
		}
		e.hush(&below.part)
		if below.call == nil || below.kept == len(below.text) {
			continue
		}
		below.text, below.full = below.text[:below.kept], false
		below.paragraphs, below.fresh = below.before, true
		below.tools = slices.DeleteFunc(below.tools, func(t delegateTool) bool { return t.Status == event.ToolStarted })
		if err := e.preliminary(below, "running", true); err != nil {
			return err
		}
	}
	return e.data(ev, "", true)
}
