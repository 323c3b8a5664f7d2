// Package screen computes the text that clients of p8's protocols show after every frame of
// a stream, without voided text.
package screen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/event"
)

// The protocols, by the names that ?protocol= takes.
const (
	OpenAI = "openai"
	AGUI   = "ag-ui"
	AISDK  = "ai-sdk"
	Events = "events"
)

// Screen is the screen of a client. The zero value is empty.
type Screen struct {
	openai string
	ids    []string // of AG-UI's messages
	agui   map[string]string
	parts  []string // of the AI SDK
	open   map[string]int
	said   event.Spoken
	// Seq is the number of the last OpenAI chunk.
	Seq int64
}

// step and below mark texts other than the answer: the beginning of a step of the AI SDK,
// and the text of a delegated agent.
const step, below = "\x00step", "\x01"

// Frame reads the data of one frame. It fails for a frame on which a client would fail.
func (s *Screen) Frame(protocol, data string) error {
	if data == "[DONE]" {
		return nil
	}
	if protocol == Events {
		var e event.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return err
		}
		s.said.Add(&e)
		return nil
	}
	var f frame
	_ = json.Unmarshal([]byte(data), &f) // fields of other frames may be of other types
	if f.Seq > 0 {
		s.Seq = f.Seq
	}
	switch protocol {
	case OpenAI:
		return s.chunk(&f)
	case AGUI:
		return s.message(&f)
	}
	return s.part(&f)
}

type frame struct {
	Type, Delta, ID, MessageID string
	Seq                        int64
	Keep                       *int
	Choices                    []struct{ Delta struct{ Content string } }
	Output                     struct{ Text string }
}

func (s *Screen) chunk(f *frame) error {
	if f.Type == event.Restart.String() {
		content := []rune(s.openai)
		if f.Keep == nil || *f.Keep > len(content) {
			return fmt.Errorf("%q cannot be cut to %v characters", s.openai, f.Keep)
		}
		s.openai = string(content[:*f.Keep])
	}
	for _, c := range f.Choices {
		s.openai += c.Delta.Content
	}
	return nil
}

func (s *Screen) message(f *frame) error {
	if s.agui == nil {
		s.agui = map[string]string{}
	}
	_, known := s.agui[f.MessageID]
	switch f.Type {
	case "TEXT_MESSAGE_START":
		if known {
			return fmt.Errorf("the message %s begins again", f.MessageID)
		}
		s.agui[f.MessageID] = ""
		s.ids = append(s.ids, f.MessageID)
	case "TEXT_MESSAGE_CONTENT":
		if !known {
			return fmt.Errorf("the message %s has not begun", f.MessageID)
		}
		s.agui[f.MessageID] += f.Delta
	case "ACTIVITY_SNAPSHOT": // takes the message's place
		delete(s.agui, f.MessageID)
	}
	return nil
}

func (s *Screen) part(f *frame) error {
	if s.open == nil {
		s.open = map[string]int{}
	}
	switch f.Type {
	case "start-step":
		s.parts = append(s.parts, step)
	case "reset-step":
		for len(s.parts) > 0 && s.parts[len(s.parts)-1] != step {
			s.parts = s.parts[:len(s.parts)-1]
		}
		clear(s.open)
	case "text-start":
		s.open[f.ID] = len(s.parts)
		s.parts = append(s.parts, "")
	case "text-delta", "text-end":
		at, ok := s.open[f.ID]
		if !ok {
			return fmt.Errorf("%s of the part %s, which is not open", f.Type, f.ID)
		}
		s.parts[at] += f.Delta
	case "tool-output-available":
		if f.Output.Text != "" { // replaces the one before
			s.parts = slices.DeleteFunc(s.parts, func(p string) bool { return strings.HasPrefix(p, below) })
			clear(s.open)
			s.parts = append(s.parts, below+f.Output.Text)
		}
	}
	return nil
}

// Text returns the shown text, a blank line between two messages or parts.
func (s *Screen) Text(protocol string) string {
	var b strings.Builder
	var paragraphs event.Paragraphs
	switch protocol {
	case OpenAI:
		return s.openai
	case Events:
		return s.said.String()
	case AGUI:
		for _, id := range s.ids {
			b.WriteString(paragraphs.Next(s.agui[id], true))
		}
		return b.String()
	}
	for _, p := range s.parts {
		if p != step {
			b.WriteString(paragraphs.Next(strings.TrimPrefix(p, below), true))
		}
	}
	return b.String()
}
