package event

// Ends reports whether a stage of a call ends the part of the step that a Restart
// voids: from then on the step is in the journal.
func (d *ToolCallData) Ends() bool { return d.Status != ToolStarted && !d.Structured }

// Takes reports whether the restart with the number seq voids the event.
func (d *RestartData) Takes(e *Event, seq int64) bool {
	if e.Seq >= seq || e.Seq == 0 {
		return false
	}
	if e.Seq > d.LastSeq {
		return true
	}
	if !e.cuttable() {
		return false
	}
	for i := range d.Runs {
		if d.Runs[i].RunID == e.RunID {
			return e.Seq > d.Runs[i].After
		}
	}
	return false
}

// cuttable reports whether the event belongs to a step that is not in the journal.
func (e *Event) cuttable() bool {
	switch d := e.Data.(type) {
	case nil:
		return e.Type == Text || e.Type == Reasoning
	case *ToolCallData:
		return d.Status == ToolStarted
	}
	return false
}

// Spoken concatenates the text of a run and its children, without the parts that a
// Restart voids. The zero value is ready to use.
type Spoken struct {
	parts  []*spokenPart
	broken bool // another event than text came since
}

// spokenPart is uninterrupted text of one run.
type spokenPart struct {
	run  string
	seq  int64 // of its first event
	text Deltas
	size int
}

// Add adds an event.
func (s *Spoken) Add(e *Event) {
	switch d := e.Data.(type) {
	case nil:
		if e.Type == Text && e.Text != "" && e.Void == 0 {
			s.add(e)
		}
		return
	case *RestartData:
		kept := s.parts[:0]
		for _, p := range s.parts {
			said := Event{Type: Text, RunID: p.run, Seq: p.seq}
			if !d.Takes(&said, e.Seq) {
				kept = append(kept, p)
			}
		}
		clear(s.parts[len(kept):])
		s.parts = kept
	}
	s.broken = true
}

func (s *Spoken) add(e *Event) {
	n := len(s.parts)
	if n == 0 || s.broken || s.parts[n-1].run != e.RunID {
		s.parts = append(s.parts, &spokenPart{run: e.RunID, seq: e.Seq})
		s.broken = false
		n++
	}
	s.parts[n-1].text.Add(e.Text)
	s.parts[n-1].size += len(e.Text)
}

// Len returns the length of the text, in bytes.
func (s *Spoken) Len() (n int) {
	for _, p := range s.parts {
		n += p.size
	}
	return n
}

// String returns the text.
func (s *Spoken) String() string {
	if len(s.parts) == 1 {
		return s.parts[0].text.String()
	}
	var whole Deltas
	for _, p := range s.parts {
		whole.Add(p.text.String())
	}
	return whole.String()
}
