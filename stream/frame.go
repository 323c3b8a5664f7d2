package stream

import "github.com/p8-org/p8/event"

// appendTyped frames d as the payload of a typed event.
func (e *openAIEncoder) appendTyped(ev event.Event, d event.Data) error {
	if e.o.Format == None {
		return nil
	}
	object, err := e.object(d)
	if err != nil {
		return err
	}
	e.open(d.EventType())
	if fields := object[1 : len(object)-1]; len(fields) > 0 {
		e.comma()
		e.buf = append(e.buf, fields...)
	}
	e.appendSpeaker(ev)
	e.close()
	return nil
}

// appendSpeaker names the event's agent and run, unless they are the root's.
func (e *openAIEncoder) appendSpeaker(ev event.Event) {
	if !child(ev.Agent) {
		return
	}
	e.comma()
	e.buf = appendQuoted(append(e.buf, `"agent":`...), ev.Agent)
	if ev.RunID != "" {
		e.buf = appendQuoted(append(e.buf, `,"run_id":`...), ev.RunID)
	}
}

// open begins the frame of a typed event, up to its fields.
func (e *openAIEncoder) open(t event.Type) {
	name := t.String()
	if e.o.Format == Wrapped {
		e.buf = append(append(e.buf, `data: {"event":"`...), name...)
		e.buf = append(e.buf, `","data":{`...)
		return
	}
	if e.o.Format != Unnamed {
		e.buf = append(append(append(e.buf, "event: "...), name...), '\n')
	}
	e.buf = append(append(e.buf, `data: {"type":"`...), name...)
	e.buf = append(e.buf, '"')
}

// comma separates two fields.
func (e *openAIEncoder) comma() {
	if e.buf[len(e.buf)-1] != '{' {
		e.buf = append(e.buf, ',')
	}
}

// close ends the frame that open began.
func (e *openAIEncoder) close() {
	switch e.o.Format {
	case Unnamed, Polyglot:
		e.buf = append(append(e.buf, ','), e.base...)
		choice := bare
		if !e.spoke {
			// The first chunk always has the role: npm openai 4.20 fails without it, and
			// LangChain takes the role of the whole answer from it, where only an
			// assistant has tool calls.
			e.spoke, choice = true, first
		}
		e.buf = append(e.buf, choice...)
		e.appendEnd()
	case Wrapped:
		e.buf = append(e.buf, "}}\n\n"...)
	default:
		e.buf = append(e.buf, "}\n\n"...)
	}
}

// appendError ends the stream as its format does: with OpenAI's error frame alone, or
// with a typed event, which Done follows.
func (e *openAIEncoder) appendError(d *event.ErrorData) error {
	if e.o.Format.literal() {
		return e.appendTyped(event.Event{}, d)
	}
	e.closed = true
	e.buf = append(e.buf, "data: "...)
	e.buf = AppendError(e.buf, APIErrorOf(d))
	e.buf = append(e.buf, "\n\n"...)
	return nil
}

// appendDone ends the stream: the finish chunk, the usage chunk if the client asked
// for it, and the done event, which comes first if it is a chunk; then [DONE].
func (e *openAIEncoder) appendDone(d *event.DoneData) error {
	if d.Reason == event.ReasonError && !e.o.Format.literal() {
		return e.appendError(&event.ErrorData{Code: event.CodeInternal, Message: MessageInternal})
	}
	e.closed = true
	if d.Reason != event.ReasonError && !e.text && len(d.Output) > 0 {
		// A structured answer that was not streamed.
		e.appendContent(compact(d.Output))
	}
	if d.Reason == event.ReasonToolCalls {
		for _, call := range e.owed {
			e.appendClientCall(call.ToolCallData)
		}
	}
	// Some clients read finish_reason from the last chunk, so a done event that is a
	// chunk comes before the finish.
	before := e.o.Format.chunks()
	if before {
		if err := e.appendTyped(event.Event{}, d); err != nil {
			return err
		}
	}
	if d.Reason != event.ReasonError {
		e.appendFinish(d)
	}
	if !before {
		if err := e.appendTyped(event.Event{}, d); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, end...)
	return nil
}

// appendFinish appends the chunk with the finish_reason, and the usage chunk if the
// client asked for it.
func (e *openAIEncoder) appendFinish(d *event.DoneData) {
	e.buf = append(e.buf, e.head...)
	if !e.spoke {
		e.spoke = true
		e.buf = append(e.buf, `"role":"assistant","content":""`...)
	}
	e.buf = append(e.buf, `},"logprobs":null,"finish_reason":"`...)
	e.buf = append(append(e.buf, finish(d.Reason)...), `"}]}`+"\n\n"...)
	if e.o.IncludeUsage {
		e.buf = append(append(e.buf, "data: {"...), e.base...)
		e.buf = append(e.buf, `"choices":[],"usage":`...)
		e.buf = append(appendUsage(e.buf, e.usage), "}\n\n"...)
	}
}
