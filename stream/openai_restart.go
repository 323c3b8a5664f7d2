package stream

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/event"
)

// again is the text of a cut step. An OpenAI client cannot remove text that it has.
type again struct {
	// text is what the run said in its current step, if the client's text ends with it.
	// mixed is true if other text, or too much, has come since the step began.
	text  strings.Builder
	run   string
	mixed bool
	// count is the number of characters of content that no restart voided, begun that
	// number before text; lost is true if the number is unknown.
	count, begun int
	lost         bool
	// before is the state of the paragraphs before text; now is their state before the
	// current piece.
	before, now event.Paragraphs

	// void is the text of the cut step while the run repeats it; same is how much of
	// it was repeated, held the number of the last event that was held back.
	void   string
	same   int
	held   int64
	waits  bool
	notice event.Event // the restart
}

// maxAgain bounds the compared text, in bytes: each reader keeps that much.
const maxAgain = 16 << 10

// beginsAgain separates a cut text from a different one that replaces it.
const beginsAgain = "\n\n[The answer was interrupted and begins again.]\n\n"

// saidAgain records the text of each step. After a restart it holds text back while
// the run repeats what the client has, and then continues after it. If the run says
// something else, a note comes first. held reports whether nothing of the event is
// written; the event's text may have become shorter.
func (e *openAIEncoder) saidAgain(ev *event.Event) (held bool, err error) {
	a := &e.again
	switch d := ev.Data.(type) {
	case nil:
		if ev.Type != event.Text || ev.Text == "" {
			e.number *= a.sent()
			return false, nil
		}
		a.add(ev)
		if a.waits {
			return e.compare(ev)
		}
		return false, nil
	case *event.RestartData:
		if over, err := e.restartCalls(ev, d); over || err != nil {
			return true, errors.Join(err, e.send(*ev))
		}
		return true, e.restart(ev, d)
	case *event.ToolCallData:
		if a.waits {
			err = e.differs(nil)
		}
		if d.Ends() && ev.RunID == a.run {
			a.text.Reset()
			a.mixed = false
		}
		return false, err
	case *event.DoneData:
		if a.waits && d.Reason != event.ReasonError && d.Reason != event.ReasonCancelled {
			err = e.differs(nil)
		}
		return false, err
	}
	// Until the rest of the text is known, a client that reconnects names an event before
	// the restart.
	e.number *= a.sent()
	return false, nil
}

// sent returns 0 while text is held back, else 1.
func (a *again) sent() int64 {
	if a.waits {
		return 0
	}
	return 1
}

// add records a piece of text.
func (a *again) add(ev *event.Event) {
	switch {
	case a.text.Len() == 0 && !a.mixed, a.run != ev.RunID && !child(ev.Agent):
		// The text of delegated agents stays once the root speaks.
		a.text.Reset()
		a.mixed = false
		a.run, a.begun, a.before = ev.RunID, a.count, a.now
	case a.run != ev.RunID, a.text.Len() > maxAgain:
		a.mixed = true
		a.text.Reset() // nothing is compared with it any more
	}
	if !a.mixed {
		a.text.WriteString(ev.Text)
	}
	a.count += utf8.RuneCountInString(ev.Text)
}

// restart records that a step runs again.
func (e *openAIEncoder) restart(ev *event.Event, d *event.RestartData) error {
	a := &e.again
	void, atEnd := a.text.String(), !a.mixed
	if !slices.ContainsFunc(d.Runs, func(r event.CutRun) bool { return r.RunID == a.run }) {
		void = "" // the text stays valid
	}
	a.lost = a.lost || !atEnd
	if void != "" {
		a.count, e.order.paragraphs = a.begun, a.before
	}
	mixed := a.mixed
	a.text.Reset()
	a.mixed = false
	if ev.Seq != 0 && ev.Seq <= e.r.Seen {
		return nil // the client has the text that follows
	}
	noted := ev.Seq != 0 && e.r.Seen == noteSeq(ev.Seq)
	ahead := e.r.ahead(ev.Seq, d) && !noted
	if void == "" && !mixed && !ahead && !noted {
		return nil
	}
	a.void, a.same, a.held, a.waits, a.notice = void, 0, 0, true, *ev
	// A client that reconnects with a number of the cut step may have read that number
	// after the restart, without its text: then nothing may be held back.
	back := len(d.Runs) > 0 && e.r.Seen > d.Runs[0].After
	if atEnd && !ahead && !noted && !back {
		return nil
	}
	if err := e.differs(nil); err != nil {
		return err
	}
	return e.send(*ev)
}

// noteSeq returns the number of the note before a restart: no event has it.
func noteSeq(restart int64) int64 { return restart - 1 }

// compare compares the event's text with the client's.
func (e *openAIEncoder) compare(ev *event.Event) (held bool, err error) {
	a := &e.again
	rest := a.void[a.same:]
	switch {
	case len(ev.Text) <= len(rest) && strings.HasPrefix(rest, ev.Text):
		a.same += len(ev.Text)
		a.held = ev.Seq
		a.waits = a.same < len(a.void)
		return true, nil
	case strings.HasPrefix(ev.Text, rest):
		ev.Text = ev.Text[len(rest):]
		a.waits = false
		return false, nil
	}
	return false, e.differs(ev)
}

// differs notes that the text now differs from the client's: next is the first
// different piece, nil for none. Each frame has its own number, for clients that are
// cut off in between.
func (e *openAIEncoder) differs(next *event.Event) error {
	a := &e.again
	a.waits = false
	numbered, number := e.numbers && e.o.Format != None && a.notice.Seq != 0, e.number
	set := func(n int64) {
		if e.number = 0; numbered {
			e.number = n
		}
	}
	if e.r.Seen != noteSeq(a.notice.Seq) {
		set(noteSeq(a.notice.Seq))
		e.appendContent(beginsAgain)
	}
	set(a.notice.Seq)
	if d, ok := a.notice.Data.(*event.RestartData); ok {
		notice := *d
		if !a.lost {
			notice.Keep = new(a.count - utf8.RuneCountInString(a.void[:a.same]))
			if next != nil {
				*notice.Keep -= utf8.RuneCountInString(next.Text)
			}
		}
		if err := e.appendTyped(event.Event{}, &notice); err != nil {
			return err
		}
	}
	switch {
	case a.same == 0:
	case next != nil:
		next.Text = a.void[:a.same] + next.Text
	default:
		set(a.held)
		e.appendContent(a.void[:a.same])
	}
	e.number = number
	return nil
}
