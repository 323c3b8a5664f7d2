package stream

// Clients of AG-UI before 1.0 end a run at the first event that they do not know, and do
// not send their version. An old client gets only these events, as its version may know
// them:
//
//	0.0.31 and later   text, calls and results, steps, state, CUSTOM
//	0.0.40 and later   activities
//	0.0.45 and later   reasoning
//	0.0.54 and later   RUN_FINISHED with the outcome success or interrupt, in strict schemas
//	0.0.59 alone       SUBAGENT_*, so these are sent only if the client asks for them
//
// Activities and reasoning are sent in lines without a space after "data:". The standard
// of server-sent events allows that, but versions before 0.0.43 skip such lines.

// recent reports whether versions before 0.0.43 refuse an event of this type.
func recent(typ string) bool {
	return typ[0] == 'A' || typ[0] == 'S' && typ[1] == 'U' || typ[0] == 'R' && typ[1] == 'E'
}

// spoken returns the outcome in the form of the client's version; ok is false if that
// version has no such outcome.
func (e *aguiEncoder) spoken(how outcome) (_ outcome, ok bool) {
	if !e.old {
		return how, true
	}
	how.Pending = nil
	return how, how.Type != "cancelled"
}

// activity begins the activity of a delegated agent: its name, and whether it is at work.
func (e *aguiEncoder) activity(v *voice, call string) {
	e.event("ACTIVITY_SNAPSHOT")
	e.activityOf(v)
	e.buf = append(append(e.buf, `,"content":{"name":`...), v.quoted...)
	if call != "" {
		e.field("toolCallId", call)
	}
	e.field("status", "running")
	e.buf = append(e.buf, `},"replace":true`...)
	e.end(e.root)
}

// activityEnd changes the status of a delegated agent.
func (e *aguiEncoder) activityEnd(v *voice, status string) {
	e.event("ACTIVITY_DELTA")
	e.activityOf(v)
	e.buf = append(e.buf, `,"patch":[{"op":"replace","path":"/status"`...)
	e.field("value", status)
	e.buf = append(e.buf, "}]"...)
	e.end(e.root)
}

func (e *aguiEncoder) activityOf(v *voice) {
	e.field("messageId", v.run+"-activity")
	e.field("activityType", "subagent")
}

// named returns the role of a message, and for a delegated agent its name.
func (e *aguiEncoder) named(v *voice) string {
	const role = `,"role":"assistant"`
	if v == e.root || e.o.Children != ChildrenActivity {
		return role
	}
	return role + `,"name":` + string(v.quoted)
}
