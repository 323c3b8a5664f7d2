package stream

import (
	"strconv"

	"p8/event"
)

// appendRestart takes back the messages of the steps that were cut: an activity that
// nobody shows takes the place of each. What follows is said in messages of other ids,
// which are the same whether or not the client saw the ones before.
func (e *AGUI) appendRestart(ev event.Event, d *event.RestartData) error {
	e.takeBack(e.root, ev, d)
	for _, r := range d.Runs {
		if v := e.children[r.RunID]; v != nil && child(r.Agent) {
			e.takeBack(v, ev, d)
		}
	}
	return e.custom(e.root, ev)
}

func (e *AGUI) takeBack(v *voice, ev event.Event, d *event.RestartData) {
	if v.begun || v == e.root {
		e.hush(v)
	}
	for _, k := range e.calls.left() {
		if k.input || k.voice != v {
			continue
		}
		e.callArgs(k, "{}")
		e.calls.forget(k)
	}
	if v == e.root && e.r.ahead(ev.Seq, d) {
		v.fresh = append(v.fresh, v.next()) // what the client may have begun
	}
	if e.native(v) && e.o.Children != ChildrenCustom {
		for _, id := range v.fresh {
			e.event("ACTIVITY_SNAPSHOT")
			e.field("messageId", id)
			e.field("activityType", event.Restart.String())
			e.raw("content", []byte("{}"))
			e.raw("replace", []byte("true"))
			e.end(v)
		}
	}
	v.fresh, v.parent, v.answered = nil, "", false
	v.ids, v.texts, v.thoughts = v.base+"-"+strconv.FormatInt(ev.Seq, 10), 0, 0
}
