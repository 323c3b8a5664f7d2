package delegate

import "github.com/p8-org/p8/event"

// said gathers the text of one run and of those below it.
type said struct {
	runID string
	// structured: the run's own text is its answer, which is shown as data.
	structured bool
	// answered: the answer has been given.
	answered bool
	open     map[string]bool // the run's own calls
	text     event.Spoken
}

func newSaid(runID string, structured bool) *said {
	return &said{runID: runID, structured: structured, open: map[string]bool{}, text: event.Spoken{Run: runID}}
}

// add follows an event of the run or of a run below it, and reports whether the event is
// shown.
func (s *said) add(e event.Event) bool {
	if e.Type == event.Text && !s.shows(e.RunID == s.runID) {
		return false
	}
	if d, ok := e.Data.(*event.ToolCallData); ok && e.RunID == s.runID {
		s.call(d)
	}
	s.text.Add(&e)
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

// shows reports whether text is shown; own is true for the text of the run itself.
func (s *said) shows(own bool) bool {
	if own && s.structured {
		s.answered = s.answered || len(s.open) == 0 // else a tool wrote the text
		return false
	}
	return !s.answered // else it is the chained tool's, which is no part of the answer
}

// String returns everything that was shown as text.
func (s *said) String() string { return s.text.String() }
