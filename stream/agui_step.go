package stream

// Steps are the responses of the root agent's model, each with the calls that it makes
// and their results. A delegated agent has none: old clients tell steps apart by name.

// stepBegins announces the next step if the voice is the root's and the step before it
// has results. It is called at the beginning of each message and call.
func (e *aguiEncoder) stepBegins(v *voice) {
	if v != e.root || e.inStep && !e.stepAnswered {
		return
	}
	e.stepEnds()
	e.step++
	e.inStep = true
	e.stepEvent("STEP_STARTED")
}

// stepEnds ends the step that is under way.
func (e *aguiEncoder) stepEnds() {
	if e.inStep {
		e.stepEvent("STEP_FINISHED")
	}
	e.inStep, e.stepAnswered = false, false
}

func (e *aguiEncoder) stepEvent(typ string) {
	e.event(typ)
	e.buf = appendInt(append(e.buf, `,"stepName":"step `...), int64(e.step))
	e.buf = append(e.buf, '"')
	e.end(e.root)
}
