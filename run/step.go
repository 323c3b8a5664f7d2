package run

import (
	"strconv"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// step is one response of the model.
type step struct {
	text     event.Deltas
	calls    []*call
	thoughts []llm.Reasoning
	model    string // that answers
	usage    llm.Usage
	finish   llm.Finish
	begun    bool   // something came from the model
	most     int    // tool calls that are made of it
	enough   bool   // the answer is not read on
	past     []used // by models that gave up
	bill     event.UsageData
	before   []llm.Message // of the run, whose calls have their ids
	kept     bool          // in the journal
	// size is all that came of the response, in bytes; held is what is in memory of it,
	// and shown counts the text that was dropped from there after it was shown.
	size, held, shown int
}

// used is what a model consumed.
type used struct {
	model string
	usage llm.Usage
}

// reset makes room for the answer of a model.
func (s *step) reset(model string) {
	s.text.Reset()
	s.calls, s.thoughts, s.past = nil, nil, nil
	s.model = model
	s.usage = llm.Usage{}
	s.finish = ""
	s.begun, s.kept, s.enough = false, false, false
	s.size, s.held, s.shown = 0, 0, 0
	s.bill = event.UsageData{}
}

// add takes in one chunk and gives the call that begins with it; seq makes ids
// for calls that have none.
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

// takeOver lets another model answer; what the one before it consumed is paid for
// all the same.
func (s *step) takeOver(model string) {
	if s.usage != (llm.Usage{}) {
		s.past = append(s.past, used{s.model, s.usage})
		s.usage = llm.Usage{}
	}
	s.model, s.begun = model, false
}

// addCall adds to a tool call, or begins one.
func (s *step) addCall(c *llm.Chunk, seq int64) *call {
	for _, known := range s.calls {
		if known.index == c.Call {
			known.args.Add(c.Text)
			return nil
		}
	}
	if s.enough = s.full(); s.enough {
		return nil
	}
	k := &call{index: c.Call, id: s.freshID(c.ID, seq), name: c.Name, signature: c.Signature}
	k.args.Add(c.Text)
	s.calls = append(s.calls, k)
	return k
}

// freshID is id unless it is empty or another call of this run has it: an answer
// must find its call, and so must what the journal keeps.
func (s *step) freshID(id string, seq int64) string {
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

// message is the response as the model reads it again: with its thoughts, which
// some providers want back together with the results of its calls.
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

// reason is the end of a run whose model has stopped.
func (s *step) reason() string {
	switch s.finish {
	case llm.FinishLength:
		return event.ReasonLength
	case llm.FinishFilter:
		return event.ReasonFilter
	}
	return event.ReasonStop
}
