package run

import (
	"strconv"
	"unicode/utf8"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// step is one response of the model.
type step struct {
	text     event.Deltas
	calls    []*call
	thoughts []llm.Reasoning
	model    string // the one that responds
	usage    llm.Usage
	finish   llm.Finish
	begun    bool   // the model has sent something
	most     int    // the most tool calls that are made
	enough   bool   // the rest of the response is not read
	past     []used // consumed by models that failed
	bill     []Spent
	before   []llm.Message // the run's own messages so far, whose calls have taken ids
	kept     bool          // the journal has the step
	// size is the length of the response so far, held the part of it in memory, shown the
	// text that was dropped from memory after it was shown; all in bytes.
	size, held, shown int
}

// used is what a model has consumed.
type used struct {
	model string
	usage llm.Usage
}

// reset prepares the step for the next response.
func (s *step) reset(model string) {
	s.text.Reset()
	s.calls, s.thoughts, s.past = nil, nil, nil
	s.model = model
	s.usage = llm.Usage{}
	s.finish = ""
	s.begun, s.kept, s.enough = false, false, false
	s.size, s.held, s.shown = 0, 0, 0
	s.bill = nil
}

// add takes in one chunk and returns the call that it belongs to, if any. seq makes ids for
// calls without one.
func (s *step) add(c *llm.Chunk, seq int64) *call {
	switch c.Kind {
	case llm.ChunkWarning:
		return nil
	case llm.ChunkModel:
		s.takeOver(c.Name)
		return nil
	}
	s.begun = true
	switch c.Kind {
	case llm.ChunkText:
		s.text.Add(c.Text)
	case llm.ChunkToolCall:
		return s.addCall(c, seq)
	case llm.ChunkThought:
		if c.Thought != nil {
			s.thoughts = append(s.thoughts, *c.Thought)
		}
	case llm.ChunkUsage:
		s.usage = c.Usage
	case llm.ChunkFinish:
		s.finish = c.Finish
	}
	return nil
}

// takeOver lets another model respond. What the one before it consumed is still charged.
func (s *step) takeOver(model string) {
	if s.usage != (llm.Usage{}) {
		s.past = append(s.past, used{s.model, s.usage})
		s.usage = llm.Usage{}
	}
	s.model, s.begun = model, false
}

// addCall adds to a tool call, or begins one. It returns nil if no more are read.
func (s *step) addCall(c *llm.Chunk, seq int64) *call {
	for _, known := range s.calls {
		if known.index == c.Call {
			known.args.Add(c.Text)
			return known
		}
	}
	if s.enough = s.full(); s.enough {
		return nil
	}
	k := &call{index: c.Call, id: s.freshID(c.ID, seq), name: c.Name, signature: c.Signature}
	k.args.Add(c.Text)
	k.piece.ID = k.id
	k.piece.hidden = s.most > 0 && len(s.calls) >= s.most // it is not made
	s.calls = append(s.calls, k)
	return k
}

// freshID returns id, or a new one if id is empty, is not UTF-8 (JSON would change it) or
// belongs to another call of this run: results and journal entries find their call by its
// id.
func (s *step) freshID(id string, seq int64) string {
	if !utf8.ValidString(id) {
		id = ""
	}
	taken := func(id string) bool {
		for _, c := range s.calls {
			if c.id == id {
				return true
			}
		}
		for i := range s.before {
			for j := range s.before[i].ToolCalls {
				if s.before[i].ToolCalls[j].ID == id {
					return true
				}
			}
		}
		return false
	}
	for n := len(s.calls); id == "" || taken(id); n++ {
		id = "call_" + strconv.FormatInt(seq, 10) + "_" + strconv.Itoa(n)
	}
	return id
}

// message returns the response as a message of the conversation. It has the model's
// thoughts: some providers want them back with the results of the calls.
func (s *step) message() llm.Message {
	m := llm.Message{Role: llm.Assistant, Content: s.text.String(), Reasoning: s.thoughts}
	if len(s.calls) > 0 {
		m.ToolCalls = make([]llm.ToolCall, len(s.calls))
	}
	for i, c := range s.calls {
		m.ToolCalls[i] = llm.ToolCall{
			ID: c.id, Name: llm.SafeName(c.name), Arguments: c.args.String(), Signature: c.signature,
		}
	}
	return m
}

// reason returns why the run ends when its model has stopped.
func (s *step) reason() string {
	switch s.finish {
	case llm.FinishLength:
		return event.ReasonLength
	case llm.FinishFilter:
		return event.ReasonFilter
	}
	return event.ReasonStop
}
