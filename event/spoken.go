package event

import "strings"

// Spoken is the text of a run and of the runs below it as one: see [Voices]. A blank line
// separates texts of different runs, and texts before and after a tool call. Text that a
// Restart voids is left out. The zero value is ready to use; it must not be copied after
// the first Add.
type Spoken struct {
	// Run is the run at the top; "" is the root run.
	Run string

	voices Voices
	parts  []*spokenPart
	first  spokenPart // the first of parts: most texts have one
	one    [1]*spokenPart
	broken bool // another event than text came since
	size   int
}

// spokenPart is uninterrupted text of one run.
type spokenPart struct {
	run    string
	seq    int64 // of its first event
	begins bool
	text   Deltas
}

// Add adds an event.
func (s *Spoken) Add(e *Event) {
	if s.voices.Say == nil {
		s.voices.Run, s.voices.Say = s.Run, s.said
	}
	if d, ok := e.Data.(*RestartData); ok {
		s.void(e, d)
	}
	s.broken = s.broken || e.Data != nil
	_ = s.voices.Add(e) // said does not fail
	if e.Type == Text && e.Void == 0 {
		s.size += len(e.Text)
	}
}

// void drops what a restart voids.
func (s *Spoken) void(e *Event, d *RestartData) {
	kept := s.parts[:0]
	for _, p := range s.parts {
		said := Event{Type: Text, RunID: p.run, Seq: p.seq}
		if d.Takes(&said, e.Seq) {
			s.size -= p.text.Len()
		} else {
			kept = append(kept, p)
		}
	}
	clear(s.parts[len(kept):])
	s.parts = kept
}

// said appends a piece whose place is known.
func (s *Spoken) said(e Event, begins bool) error {
	n := len(s.parts)
	if n == 0 || s.broken || begins {
		p := spokenPart{run: e.RunID, seq: e.Seq, begins: begins}
		if n == 0 {
			s.first = p
			s.parts = append(s.one[:0], &s.first)
		} else {
			s.parts = append(s.parts, &p)
		}
		s.broken = false
		n++
	}
	s.parts[n-1].text.Add(e.Text)
	return nil
}

// Len returns the length of the text in bytes, without the blank lines.
func (s *Spoken) Len() int { return s.size }

// Said returns the text without what is held back.
func (s *Spoken) Said() string { return s.text(false) }

// String returns the text.
func (s *Spoken) String() string { return s.text(true) }

func (s *Spoken) text(all bool) string {
	if len(s.parts) == 1 && s.voices.held == 0 {
		return s.parts[0].text.String()
	}
	var whole strings.Builder
	var p Paragraphs
	for _, part := range s.parts {
		whole.WriteString(p.Next(part.text.String(), part.begins))
	}
	if all {
		s.voices.rest(func(text string, begins bool) { whole.WriteString(p.Next(text, begins)) })
	}
	return whole.String()
}

// rest yields what is held back.
func (s *Voices) rest(yield func(text string, begins bool)) {
	if s.top != nil {
		spoke := s.spoke
		s.top.rest(&spoke, yield)
	}
}

func (v *voice) rest(spoke **voice, yield func(text string, begins bool)) {
	if v.floor != nil {
		v.floor.rest(spoke, yield)
	}
	for _, h := range v.queue {
		if h.voice != nil {
			h.voice.rest(spoke, yield)
			continue
		}
		yield(h.text, h.begins || *spoke != v)
		*spoke = v
	}
}
