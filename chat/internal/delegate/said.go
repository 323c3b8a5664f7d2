package delegate

import (
	"strings"

	"github.com/p8-org/p8/event"
)

// said gathers the text of one run and of those below it. Texts of agents that speak at
// the same time stay apart: each stands where it began.
type said struct {
	runID string
	// structured: the run's own text is its answer, which is shown as data.
	structured bool
	// answered: the answer has been given.
	answered bool
	open     map[string]bool // the run's own calls

	own    voice
	voices map[string]*voice // of the runs below, by their ids
}

// voice is what one run says, with those below it where they begin.
type voice struct{ parts []*part }

// part is text or, if below is set, what another run says.
type part struct {
	text  event.Deltas
	below *voice
}

func newSaid(runID string, structured bool) *said {
	return &said{runID: runID, structured: structured, voices: map[string]*voice{}, open: map[string]bool{}}
}

// add takes in an event of the run or of one below it, and reports whether the event is
// shown.
func (s *said) add(e event.Event) bool {
	own := e.RunID == s.runID
	switch d := e.Data.(type) {
	case nil:
		return e.Type != event.Text || s.text(e, own)
	case *event.ToolCallData:
		if own {
			s.call(d)
		}
	case *event.ChildRunData:
		if !own {
			s.begin(e.RunID, d.ParentRunID)
		}
	}
	return true
}

// call follows the run's own calls.
func (s *said) call(d *event.ToolCallData) {
	switch d.Status {
	case event.ToolStarted, event.ToolExecuting:
		s.open[d.ID] = true
	default:
		delete(s.open, d.ID)
	}
}

// text takes in a piece of text.
func (s *said) text(e event.Event, own bool) bool {
	switch {
	case own && s.structured:
		s.answered = s.answered || len(s.open) == 0 // else a tool wrote the text
		return false
	case s.answered: // the chained tool's, which is no part of the answer
		return false
	case own:
		s.own.add(e.Text)
	default:
		s.begin(e.RunID, "").add(e.Text)
	}
	return true
}

// begin is the voice of a run below parent.
func (s *said) begin(runID, parent string) *voice {
	if v := s.voices[runID]; v != nil {
		return v
	}
	above := &s.own
	if v := s.voices[parent]; v != nil {
		above = v
	}
	v := new(voice)
	s.voices[runID] = v
	above.parts = append(above.parts, &part{below: v})
	return v
}

func (v *voice) add(text string) {
	if n := len(v.parts); n == 0 || v.parts[n-1].below != nil {
		v.parts = append(v.parts, new(part))
	}
	v.parts[len(v.parts)-1].text.Add(text)
}

// String is everything that was shown as text, a blank line between two agents.
func (s *said) String() string {
	if len(s.own.parts) == 1 && s.own.parts[0].below == nil {
		return s.own.parts[0].text.String()
	}
	var b strings.Builder
	s.own.write(&b)
	return b.String()
}

func (v *voice) write(b *strings.Builder) {
	for _, p := range v.parts {
		if p.below != nil {
			p.below.write(b)
			continue
		}
		text := p.text.String()
		if written := b.String(); written != "" && text != "" && !strings.HasSuffix(written, "\n") {
			b.WriteString("\n\n")
		}
		b.WriteString(text)
	}
}
