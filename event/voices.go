package event

import (
	"iter"
	"slices"
	"strings"
)

// Voices merges the texts of a run and of the runs below it, which may speak at the same
// time, into one text.
//
// The run that speaks first has the floor: its text is said as it comes. Text of another
// run is held back until the first one has ended. Then it follows, whole, in the order in
// which the runs began to speak. The text of a run includes that of the runs below it.
//
// Void text is left out. It still counts for the order, so that the order is the same for
// readers who have seen it and for those who have not.
type Voices struct {
	// Run is the run at the top; "" is the root run, whose agent's path has one name.
	Run string
	// Say gets each piece of the text in order; begins is true if a blank line
	// separates the piece from the text before.
	Say func(e Event, begins bool) error
	// Again reads the events after a number again. If it is set, and the events have
	// numbers, only a bounded part of the text that is held back stays in memory.
	Again func(after int64) iter.Seq2[Event, error]

	root  voice // the top, usually
	top   *voice
	below map[string]*voice
	last  *voice // the one of the last event
	spoke *voice // the one that was heard last
	held  int    // bytes
}

// voice is what one run says, with the runs below it.
type voice struct {
	run, agent string
	// up is the parent, toolCallID the parent's call that asked the run.
	up         *voice
	toolCallID string
	// announced: a child_run event began the run, with the number begun.
	announced bool
	begun     int64
	// ended: the run has ended. A run that no event announced counts as ended,
	// because no event may report its end.
	ended bool
	// placed: the voice has its place in the parent's, since the event with the number
	// since. live: its text is said at once.
	placed, live bool
	since        int64
	// fresh: the next text is a new paragraph.
	fresh bool
	// floor is the voice below that speaks, queue what follows it.
	floor *voice
	queue []held
	// dropped is the number of the first event whose text is read again; 0 for none.
	dropped int64
}

// held is a piece of text or, if voice is set, the place of a voice below.
type held struct {
	text   string
	seq    int64
	begins bool
	voice  *voice
}

// Add takes in an event. The error is that of Say or Again.
func (s *Voices) Add(e *Event) error {
	switch d := e.Data.(type) {
	case nil:
		if e.Type == Text && e.Text != "" {
			return s.text(e)
		}
	case *ToolCallData:
		if !d.Structured {
			return s.toolCall(e, d)
		}
	case *ChildRunData:
		return s.childRun(e, d)
	case *RestartData:
		return s.restart(e, d)
	case *DoneData, *ErrorData:
		if s.isTop(e) {
			return s.endAll(e.Seq)
		}
	}
	return nil
}

// text says a piece of text, or holds it back.
func (s *Voices) text(e *Event) error {
	v := s.voice(e)
	s.place(v, e.Seq)
	if e.Void != 0 {
		return nil
	}
	fresh := v.fresh
	v.fresh = false
	v.settle()
	if v.live && v.floor == nil && len(v.queue) == 0 {
		return s.say(v, *e, fresh)
	}
	waits := v.waiting()
	if waits != nil && waits.dropped != 0 {
		return nil
	}
	v.queue = append(v.queue, held{text: e.Text, seq: e.Seq, begins: fresh})
	if s.held += heldSize + len(e.Text); waits != nil && s.Again != nil && s.held > maxHeld {
		s.drop(waits)
	}
	return nil
}

func (s *Voices) say(v *voice, e Event, begins bool) error {
	begins = begins || s.spoke != v
	s.spoke = v
	return s.Say(e, begins)
}

func (s *Voices) isTop(e *Event) bool {
	if s.Run != "" {
		return e.RunID == s.Run
	}
	return strings.IndexByte(e.Agent, '/') < 0
}

// voice returns the voice of an event's run.
func (s *Voices) voice(e *Event) *voice {
	if s.top == nil {
		s.root = voice{placed: true, live: true}
		s.top = &s.root
	}
	if s.isTop(e) {
		s.top.run, s.top.agent = e.RunID, e.Agent
		return s.top
	}
	if s.last == nil || s.last.run != e.RunID {
		v := s.below[e.RunID]
		if v == nil {
			v = &voice{run: e.RunID, agent: e.Agent, up: s.top, ended: true}
			if s.below == nil {
				s.below = map[string]*voice{}
			}
			s.below[e.RunID] = v
		}
		s.last = v
	}
	return s.last
}

// place gives a voice that begins to speak its place.
func (s *Voices) place(v *voice, seq int64) {
	if v.placed {
		return
	}
	v.placed, v.since = true, seq
	up := v.up
	s.place(up, seq)
	up.settle()
	if v.live = up.live && up.floor == nil && len(up.queue) == 0; v.live {
		up.floor = v
	} else {
		up.queue = append(up.queue, held{voice: v})
	}
}

// settle takes the floor from a voice below that is over.
func (v *voice) settle() {
	if v.floor != nil && v.floor.over() {
		v.floor.placed, v.floor.live, v.floor.floor = false, false, nil
		v.floor = nil
	}
}

// over reports whether the voice has ended and everything of it was said.
func (v *voice) over() bool {
	return v.ended && len(v.queue) == 0 && (v.floor == nil || v.floor.over())
}

// waiting returns the topmost voice, from v upwards, that waits for the floor; nil if all
// are live.
func (v *voice) waiting() (top *voice) {
	for ; v != nil; v = v.up {
		if !v.live {
			top = v
		}
	}
	return top
}

// toolCall begins a paragraph, and ends the runs below a call that has ended.
func (s *Voices) toolCall(e *Event, d *ToolCallData) error {
	v := s.voice(e)
	v.fresh = true
	if d.Status != ToolCompleted && d.Status != ToolFailed {
		return nil
	}
	for _, x := range s.below {
		x.ended = x.ended || x.up == v && x.toolCallID == d.ID
	}
	return s.advance(s.top, e.Seq)
}

func (s *Voices) childRun(e *Event, d *ChildRunData) error {
	if s.isTop(e) {
		return nil
	}
	v := s.voice(e)
	if d.Status != ChildStarted {
		v.ended = true
		return s.advance(s.top, e.Seq)
	}
	if up := s.below[d.ParentRunID]; up != nil && !v.placed && !up.under(v) {
		v.up = up
	}
	v.toolCallID, v.announced, v.begun, v.ended = d.ToolCallID, true, e.Seq, false
	return nil
}

// under reports whether v is w or below it.
func (v *voice) under(w *voice) bool {
	for v != nil && v != w {
		v = v.up
	}
	return v != nil
}

func (s *Voices) endAll(seq int64) error {
	for _, v := range s.below {
		v.ended = true
	}
	if s.top == nil {
		return nil
	}
	return s.advance(s.top, seq)
}

// advance says the text of a live voice that waited for voices that have ended now; seq is the number
// of the newest event.
func (s *Voices) advance(v *voice, seq int64) error {
	for {
		if v.floor != nil {
			if err := s.advance(v.floor, seq); err != nil {
				return err
			}
			if v.settle(); v.floor != nil {
				return nil
			}
		}
		if len(v.queue) == 0 {
			v.queue = nil
			return nil
		}
		h := v.queue[0]
		v.queue[0] = held{}
		v.queue = v.queue[1:]
		var err error
		if v.floor = h.voice; h.voice == nil {
			s.held -= heldSize + len(h.text)
			err = s.say(v, Event{Type: Text, RunID: v.run, Agent: v.agent, Seq: h.seq, Text: h.text}, h.begins)
		} else {
			h.voice.live = true
			err = s.readAgain(h.voice, seq)
		}
		if err != nil {
			return err
		}
	}
}

// restart drops the held text that is void, and the places of runs that only spoke in
// events that the process lost. A run whose step was cut says it again.
func (s *Voices) restart(e *Event, d *RestartData) error {
	if s.top == nil {
		return nil
	}
	s.void(s.top, e, d)
	for _, v := range s.below {
		s.void(v, e, d)
		v.ended = v.ended || v.begun > d.LastSeq // it may not begin again
		if v.placed && v.since > d.LastSeq && v.dropped == 0 {
			v.displace()
		}
	}
	for _, r := range d.Runs {
		s.voice(&Event{RunID: r.RunID, Agent: r.Agent}).fresh = true
	}
	s.spoke = nil // whoever speaks next begins a step
	return s.advance(s.top, e.Seq)
}

// displace removes the voice from its place in the parent's text.
func (v *voice) displace() {
	v.placed, v.live = false, false
	if v.up.floor == v {
		v.up.floor = nil
	}
	v.up.queue = slices.DeleteFunc(v.up.queue, func(h held) bool { return h.voice == v })
}

func (s *Voices) void(v *voice, e *Event, d *RestartData) {
	kept := v.queue[:0]
	for _, h := range v.queue {
		said := Event{Type: Text, RunID: v.run, Seq: h.seq}
		if h.voice == nil && d.Takes(&said, e.Seq) {
			s.held -= heldSize + len(h.text)
			continue
		}
		kept = append(kept, h)
	}
	clear(v.queue[len(kept):])
	v.queue = kept
}
