package chat

import (
	"context"
	"iter"
	"strings"

	"github.com/p8-org/p8/event"
)

// Part yields the run from its first event to the end of the part that begins after the
// event past: to the first pause after it, or else to the end of the run. Follow leaves
// out a pause once the run was resumed; Part ends with it, for a protocol in which each
// part is a response of its own. Void events are not marked.
func (t *Turn) Part(ctx context.Context, past int64, idle func()) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		var held []event.Event // the end of one process's part, until it is known to be the last
		for e, err := range t.source.events(ctx, 0, idle) {
			switch {
			case err != nil:
				yield(e, err)
				return
			case e.Seq > past && pauses(&e):
				yield(e, nil)
				return
			case e.Type == event.Error || e.Type == event.Done:
				held = append(held, e)
				continue
			}
			held = held[:0]
			if !yield(e, nil) {
				return
			}
		}
		if len(held) == 0 {
			held = t.source.missingEnd(ctx)
		}
		for _, e := range held {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// pauses reports whether the run waits for its client after the event.
func pauses(e *event.Event) bool {
	d, ok := e.Data.(*event.DoneData)
	return ok && (d.Reason == event.ReasonPaused || d.Reason == event.ReasonToolCalls) && strings.IndexByte(e.Agent, '/') < 0
}

// Stored returns the turn for a reader that gets events only once they are stored, so that none
// of them is lost with this process. They come some tenths of a second later.
func (t *Turn) Stored() *Turn {
	r, ok := t.source.(*running)
	if !ok || r.kept == nil {
		return t
	}
	stored := *t
	stored.source = r.kept
	return &stored
}
