package event

const (
	// maxHeld bounds the text that Voices hold back in memory if they can read it again,
	// in bytes.
	maxHeld = 64 << 10
	// heldSize is about what a held piece takes beside its text, in bytes.
	heldSize = 48
)

// drop forgets the held text of a voice that waits, and of those below it. It is read
// again when its turn comes.
func (s *Voices) drop(w *voice) {
	w.dropped = max(w.since, 1)
	for _, v := range s.below {
		if !v.under(w) {
			continue
		}
		for _, h := range v.queue {
			if h.voice == nil {
				s.held -= heldSize + len(h.text)
			}
		}
		v.queue, v.floor = nil, nil
	}
}

// readAgain reads and says the text of a dropped voice up to the event with the number.
func (s *Voices) readAgain(w *voice, last int64) error {
	if w.dropped == 0 {
		return nil
	}
	after := w.dropped - 1
	w.dropped, w.fresh, w.floor, w.queue = 0, false, nil, nil
	ended := map[*voice]bool{}
	for _, v := range s.below {
		if v != w && v.under(w) {
			ended[v] = v.ended
			*v = voice{run: v.run, agent: v.agent, up: v.up, toolCallID: v.toolCallID, announced: v.announced, begun: v.begun, ended: !v.announced}
		}
	}
	// What is below the voice is ordered as everything is.
	part := Voices{Run: w.run, Say: s.Say, Again: s.Again, top: w, below: s.below, spoke: s.spoke}
	for e, err := range s.Again(after) {
		if err != nil {
			return err
		}
		if v := s.below[e.RunID]; e.Seq <= last && v != nil && v.under(w) {
			if err := part.Add(&e); err != nil {
				return err
			}
		}
		if e.Seq >= last {
			break
		}
	}
	for v, was := range ended {
		v.ended = v.ended || was // also if another run's event ended it
	}
	s.spoke = part.spoke
	s.held += part.held
	return nil
}
