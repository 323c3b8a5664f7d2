package run

import "github.com/p8-org/p8/llm"

// Memory counts what a run and the runs below it hold in memory. It is safe for
// concurrent use.
type Memory interface {
	// Hold counts n more bytes, or fewer when n is negative.
	Hold(n int)
	// Keep returns how many bytes of shown text the run should keep at most. It can read
	// longer text back.
	Keep() int
	// Shown returns the last n bytes of text that the root run has yielded.
	Shown(n int) (string, error)
}

// maxAnswer bounds one response of the model, in bytes: an endless response must not fill
// the memory.
const maxAnswer = 4 << 20

// hold counts what the run keeps in memory until it ends.
func (r *runner) hold(n int) {
	if r.scope.memory != nil {
		r.held += n
		r.scope.memory.Hold(n)
	}
}

// grow counts a chunk of the model's response, and reports whether the response is
// longer than any may be.
func (r *runner) grow(c *llm.Chunk) (full bool) {
	n := len(c.Text)
	switch c.Kind {
	case llm.ChunkText, llm.ChunkToolCall:
		r.step.held += n
		r.hold(n)
	case llm.ChunkReasoning:
	default:
		return false
	}
	if r.step.size += n; r.step.size > maxAnswer {
		return true
	}
	if c.Kind == llm.ChunkText {
		r.letGo()
	}
	return false
}

// letGo drops text of the step that the reader has, if memory is short. Only the root's
// text can be read back: that of a nested run may still be in the queue.
func (r *runner) letGo() {
	kept := r.step.text.Len()
	if r.scope.memory == nil || r.scope.Depth > 0 || r.Agent.Structured || r.childSpoke || r.repeats.active() || r.Answered != nil || kept <= r.scope.memory.Keep() {
		return
	}
	r.step.shown += kept
	r.step.text.Reset()
	r.step.held -= kept
	r.hold(-kept)
}

// readBack reads the dropped text of a step back before the model is shown the step
// again.
func (r *runner) readBack() error {
	if r.step.shown == 0 {
		return nil
	}
	text, err := r.scope.memory.Shown(r.step.shown + r.step.text.Len())
	if err != nil {
		return err
	}
	r.step.text.Reset()
	r.step.text.Add(text)
	r.step.held += r.step.shown
	r.hold(r.step.shown)
	r.step.shown = 0
	return nil
}
