package harness

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"strings"
)

// Frame is one server-sent event.
type Frame struct {
	Event string
	Data  string
}

// Frames reads server-sent events without comments until the stream ends or breaks.
func Frames(r io.Reader) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		lines := bufio.NewReader(r)
		var f Frame
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				if err != io.EOF || f != (Frame{}) {
					yield(f, io.ErrUnexpectedEOF)
				}
				return
			}
			line = strings.TrimRight(line, "\r\n")
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case line == "":
				if f != (Frame{}) && !yield(f, nil) {
					return
				}
				f = Frame{}
			case name == "event":
				f.Event = value
			case name == "data":
				f.Data += value
			}
		}
	}
}

// Typed is a decoded frame of p8: the chunk and the typed fields.
type Typed struct {
	Type       string          `json:"type"`
	InReplyTo  string          `json:"in_reply_to"`
	MessageID  string          `json:"message_id"`
	SessionID  string          `json:"session_id"`
	ToolName   string          `json:"tool_name"`
	ToolCallID string          `json:"tool_id"`
	Status     string          `json:"status"`
	Arguments  json.RawMessage `json:"arguments"`
	Result     json.RawMessage `json:"result"`
	Reason     string          `json:"reason"`
	Choices    []struct {
		Delta struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Error *struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code"`
	} `json:"error"`
}

// Text returns the frame's piece of the answer.
func (f Typed) Text() string {
	if len(f.Choices) == 0 {
		return ""
	}
	return f.Choices[0].Delta.Content
}
