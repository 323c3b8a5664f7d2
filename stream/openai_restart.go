package stream

import (
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/event"
)

// again is the text of a step that was cut: a client of OpenAI's cannot take it back.
type again struct {
	// text is what run has said of its step, as far as it is the end of what the client
	// has. mixed: something else was said since the step began, or too much.
	text  strings.Builder
	run   string
	mixed bool
	// count is how many characters of the content count, begun how many before text;
	// lost: nobody knows.
	count, begun int
	lost         bool

	// void is what was said of the step that was cut, while the run says the same
	// again; same is how much of it, held the number of the last event that was held
	// back for that.
	void   string
	same   int
	held   int64
	waits  bool
	notice event.Event // the restart
}

// maxAgain bounds the text that is compared, in bytes: each reader holds so much.
const maxAgain = 16 << 10

// beginsAgain stands between a text that was cut and another one in its place.
const beginsAgain = "\n\n[The answer was interrupted and begins again.]\n\n"

// saidAgain follows what is said of each step. After a restart the text is held back
// as long as it says what the client has: it then goes on behind that. Where it says
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
		return true, e.restart(ev, d)
	case *event.ToolCallData:
		if a.waits {
			err = e.differs(nil)
		}
		if d.Ends() {
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
	// A client that comes back names an event before the restart, until it is known
	// how the text goes on.
	e.number *= a.sent()
	return false, nil
}

// sent is 0 while text is held back, else 1.
func (a *again) sent() int64 {
	if a.waits {
		return 0
	}
	return 1
}

// add notes a piece of text.
func (a *again) add(ev *event.Event) {
	switch {
	case a.text.Len() == 0 && !a.mixed:
		a.run, a.begun = ev.RunID, a.count
	case a.run != ev.RunID, a.text.Len() > maxAgain:
		a.mixed = true
		a.text.Reset() // nothing is compared with it any more
	}
	if !a.mixed {
		a.text.WriteString(ev.Text)
	}
	a.count += utf8.RuneCountInString(ev.Text)
}

// restart takes in that a step is made again.
func (e *openAIEncoder) restart(ev *event.Event, d *event.RestartData) error {
	a := &e.again
	void, run := a.text.String(), a.run
	atEnd := !a.mixed && len(d.Runs) == 1 && d.Runs[0].RunID == run || void == "" && !a.mixed
	a.lost = a.lost || !atEnd
	if void != "" {
		a.count = a.begun
	}
	mixed := a.mixed
	a.text.Reset()
	a.mixed = false
	if ev.Seq != 0 && ev.Seq <= e.r.Seen {
		return nil // the client has what follows
	}
	told := ev.Seq != 0 && e.r.Seen == noteSeq(ev.Seq)
	ahead := e.r.ahead(ev.Seq, d) && !told
	if void == "" && !mixed && !ahead && !told {
		return nil
	}
	a.void, a.same, a.held, a.waits, a.notice = void, 0, 0, true, *ev
	// Who comes back with a number of the step that was cut may have read it after the
	// restart, without its text: then nothing may be held back.
	back := len(d.Runs) > 0 && e.r.Seen > d.Runs[0].After
	if atEnd && !ahead && !told && !back {
		return nil
	}
	if err := e.differs(nil); err != nil {
		return err
	}
	return e.send(*ev)
}

// noteSeq is the number of the note before a restart: one that no event has.
func noteSeq(restart int64) int64 { return restart - 1 }

// compare holds the event's text against what the client has.
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

// differs says that the text goes on in another way than the client has it: next is
// the piece with which it does, nil for none. Each frame has a number of its own, for
// clients that are cut off in between.
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
