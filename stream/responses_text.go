package stream

import "github.com/p8-org/p8/event"

// say writes a piece of text at its place. It is the hot path: it allocates only at the
// beginning of an item.
func (e *responsesEncoder) say(ev event.Event, begins bool) error {
	if e.message != nil && (begins || e.message.run != ev.RunID) {
		e.closeMessage(statusCompleted)
	}
	if e.message == nil {
		e.message = e.add(itemMessage, ev)
		e.message.before = e.paragraphs
		e.announce(e.message)
		e.part("response.content_part.added", "")
	}
	e.message.seq = ev.Seq
	e.sayMore(e.paragraphs.Next(ev.Text, begins))
	return nil
}

// sayMore adds to the open message.
func (e *responsesEncoder) sayMore(text string) {
	e.message.text.Add(text)
	e.about("response.output_text.delta", e.message)
	e.buf = append(e.buf, `,"content_index":0`...)
	e.field("delta", text)
	e.buf = append(e.buf, `,"logprobs":[]`...)
	e.close()
}

func (e *responsesEncoder) part(typ, text string) {
	e.about(typ, e.message)
	e.buf = append(e.buf, `,"content_index":0`...)
	e.raw("part", appendTextPart(nil, text))
	e.close()
}

// closeMessage ends the open message, if one is open.
func (e *responsesEncoder) closeMessage(status string) {
	it := e.message
	if it == nil {
		return
	}
	text := it.text.String()
	e.about("response.output_text.done", it)
	e.buf = append(e.buf, `,"content_index":0`...)
	e.field("text", text)
	e.buf = append(e.buf, `,"logprobs":[]`...)
	e.close()
	e.part("response.content_part.done", text)
	e.finish(it, status, nil)
	e.message = nil
}

// think writes a piece of reasoning.
func (e *responsesEncoder) think(ev event.Event) {
	it := e.thoughts[ev.RunID]
	if it == nil {
		if e.message != nil && e.message.run == ev.RunID {
			e.closeMessage(statusCompleted)
		}
		it = e.add(itemReasoning, ev)
		e.thoughts[ev.RunID] = it
		e.announce(it)
		e.summary("response.reasoning_summary_part.added", it, "")
	}
	it.seq = ev.Seq
	it.text.Add(ev.Text)
	e.about("response.reasoning_summary_text.delta", it)
	e.buf = append(e.buf, `,"summary_index":0`...)
	e.field("delta", ev.Text)
	e.close()
}

func (e *responsesEncoder) summary(typ string, it *responseItem, text string) {
	e.about(typ, it)
	e.buf = append(e.buf, `,"summary_index":0`...)
	e.raw("part", appendSummary(nil, text))
	e.close()
}

// thought ends the open reasoning of a run, if it has one.
func (e *responsesEncoder) thought(run string) {
	if it := e.thoughts[run]; it != nil {
		e.closeThought(it, statusCompleted)
	}
}

func (e *responsesEncoder) closeThought(it *responseItem, status string) {
	text := it.text.String()
	e.about("response.reasoning_summary_text.done", it)
	e.buf = append(e.buf, `,"summary_index":0`...)
	e.field("text", text)
	e.close()
	e.summary("response.reasoning_summary_part.done", it, text)
	e.finish(it, status, nil)
	delete(e.thoughts, it.run)
}
