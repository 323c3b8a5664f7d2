package stream

import "github.com/p8-org/p8/event"

// appendText is the hot path: it allocates only at the beginning of a message.
func (e *aguiEncoder) appendText(v *voice, text string) {
	if e.native(v) {
		if v.open != event.Text {
			e.hush(v)
			e.stepBegins(v)
			v.open, v.message = event.Text, appendQuoted(v.message[:0], v.next())
			v.fresh = append(v.fresh, v.parent)
			e.message(v, "TEXT_MESSAGE_START", e.named(v))
		}
		e.delta(v, "TEXT_MESSAGE_CONTENT", text)
	}
	if e.legacy(v) {
		e.buf = append(e.buf, `data: {"type":"CUSTOM","name":"child_content","value":{"type":"child_content","agent_name":`...)
		e.buf = append(append(e.buf, v.quoted...), `,"content":`...)
		e.buf = append(appendQuoted(e.buf, text), "}}\n\n"...)
	}
}

func (e *aguiEncoder) appendReasoning(v *voice, text string) {
	if !e.native(v) {
		return
	}
	if v.open != event.Reasoning {
		e.hush(v)
		e.stepBegins(v)
		id := v.thought()
		v.open, v.message = event.Reasoning, appendQuoted(v.message[:0], id)
		v.fresh = append(v.fresh, id)
		e.message(v, "REASONING_START", "")
		e.message(v, "REASONING_MESSAGE_START", `,"role":"reasoning"`)
	}
	e.delta(v, "REASONING_MESSAGE_CONTENT", text)
}

// hush ends the open message.
func (e *aguiEncoder) hush(v *voice) {
	switch v.open {
	case event.Text:
		e.message(v, "TEXT_MESSAGE_END", "")
	case event.Reasoning:
		e.message(v, "REASONING_MESSAGE_END", "")
		e.message(v, "REASONING_END", "")
	}
	v.open = 0
}

func (e *aguiEncoder) message(v *voice, typ, more string) {
	e.event(typ)
	e.raw("messageId", v.message)
	e.buf = append(e.buf, more...)
	e.end(v)
}

func (e *aguiEncoder) delta(v *voice, typ, text string) {
	e.event(typ)
	e.raw("messageId", v.message)
	e.field("delta", text)
	e.end(v)
}
