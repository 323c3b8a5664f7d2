package inbound

import (
	"encoding/json"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
)

// message is one message of a client, whatever its protocol.
type message struct {
	role  llm.Role
	text  string
	parts []llm.Part
	// calls are the tool calls of an assistant.
	calls []llm.ToolCall
	// results are those of the client's own tools, serverResults those of tools that
	// the server ran.
	results, serverResults []chat.ToolResult
}

// allResults returns the results of either kind.
func (m *message) allResults() []chat.ToolResult {
	return append(m.serverResults[:len(m.serverResults):len(m.serverResults)], m.results...)
}

// newCall returns a tool call of a client's transcript; ok is false for one without an
// id or a name, which no model accepts.
func newCall(id, name, arguments string) (call llm.ToolCall, ok bool) {
	if !web.IsObject([]byte(arguments)) || !json.Valid([]byte(arguments)) {
		arguments = "{}"
	}
	return llm.ToolCall{ID: id, Name: name, Arguments: arguments}, id != "" && name != ""
}

// divide splits a transcript into the input of the turn and the history before it.
// Results of the client's own tools at the end are the input of a run that waits for
// them; otherwise the last message of the user is the input. found is false if the
// transcript has neither. A stored session ignores the history.
func divide(transcript []message, req *chat.Request) (found bool) {
	end := len(transcript)
	for end > 0 && len(transcript[end-1].results) > 0 {
		end--
	}
	if end < len(transcript) {
		for _, m := range transcript[end:] {
			req.Results = append(req.Results, m.results...)
		}
		req.History = history(transcript)
		return true
	}
	for end > 0 && transcript[end-1].role != llm.User {
		end--
	}
	if end == 0 {
		return false
	}
	last := transcript[end-1]
	req.Input, req.Parts = last.text, last.parts
	req.History = history(transcript[:end-1])
	return strings.TrimSpace(last.text) != "" || len(last.parts) > 0
}

// history returns a transcript as providers accept it: every call has one result, and
// every result a call.
func history(transcript []message) []llm.Message {
	answered := map[string]bool{}
	for _, m := range transcript {
		for _, r := range m.allResults() {
			answered[r.ToolCallID] = true
		}
	}
	var out []llm.Message
	names := map[string]string{}
	for _, m := range transcript {
		if m.role != llm.ToolRole {
			one := llm.Message{Role: m.role, Content: m.text, Parts: m.parts}
			for _, c := range m.calls {
				if answered[c.ID] {
					names[c.ID] = c.Name
					one.ToolCalls = append(one.ToolCalls, c)
				}
			}
			if one.Role == llm.User || one.Content != "" || len(one.ToolCalls) > 0 {
				out = append(out, one)
			}
		}
		for _, r := range m.allResults() {
			if name, called := names[r.ToolCallID]; called {
				out = append(out, llm.Message{Role: llm.ToolRole, ToolCallID: r.ToolCallID, Name: name, Content: r.Content})
				delete(names, r.ToolCallID) // one result a call
			}
		}
	}
	return out
}
