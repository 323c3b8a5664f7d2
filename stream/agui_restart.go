package stream

import (
	"strconv"

	"github.com/p8-org/p8/event"
)

// appendRestart replaces the messages of the cut steps with activities that clients do
// not show. The messages that follow have new ids, which do not depend on what the
// client has seen.
func (e *aguiEncoder) appendRestart(ev event.Event, d *event.RestartData) error {
	e.suffix, e.lost = "-"+strconv.FormatInt(ev.Seq, 10), e.r.ahead(ev.Seq, d)
	cut := map[string]bool{}
	for _, r := range d.Runs {
		if child(r.Agent) {
			cut[r.RunID] = true
		} else {
			cut[""] = true
		}
	}
	e.void(e.root, cut[""])
	for _, v := range e.order {
		e.void(v, cut[v.base])
	}
	return e.custom(e.root, ev)
}

// void removes the messages of a voice's step, if the step was cut.
func (e *aguiEncoder) void(v *voice, cut bool) {
	if !cut {
		v.fresh = nil
	}
	if v.begun && !v.ended || v == e.root {
		e.hush(v)
	}
	for _, k := range e.calls.left() {
		if k.input || k.voice != v {
			continue
		}
		e.callArgs(k, "{}")
		e.calls.forget(k)
	}
	e.begin(v)
	if cut && v.ended { // it runs again; an ended subagent cannot begin twice
		v.again()
		v.rename(v.base + e.suffix)
	}
}

// begin gives a voice new ids after a restart and removes the messages of its step,
// including messages that lost events may have begun.
func (e *aguiEncoder) begin(v *voice) {
	if e.lost && !v.ended {
		v.fresh = append(v.fresh, v.next(), v.thought())
	}
	if e.native(v) && e.o.Children != ChildrenCustom {
		for _, id := range v.fresh {
			e.event("ACTIVITY_SNAPSHOT")
			e.field("messageId", id)
			e.field("activityType", event.Restart.String())
			e.raw("content", []byte("{}"))
			e.raw("replace", []byte("true"))
			e.end(e.root)
		}
	}
	v.fresh, v.parent, v.answered = nil, "", false
	v.ids, v.texts, v.thoughts = v.base+e.suffix, 0, 0
}
