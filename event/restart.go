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
	case *ToolArgumentsData:
		return true
	}
	return false
}
