package api

import (
	"encoding/json"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
)

// said is one message that a client sent, whatever its protocol.
type said struct {
	role  llm.Role
	text  string
	parts []llm.Part
	// calls are those that an assistant made, results what the client's own tools
	// returned, known what the server's did.
	calls          []llm.ToolCall
	results, known []chat.ToolResult
}

// all are the results of either kind.
func (s *said) all() []chat.ToolResult {
	return append(s.known[:len(s.known):len(s.known)], s.results...)
}

// newCall is a call of a client's transcript, false for one that no model can
// be shown.
func newCall(id, name, arguments string) (llm.ToolCall, bool) {
	if !isObject([]byte(arguments)) || !json.Valid([]byte(arguments)) {
		arguments = "{}"
	}
	return llm.ToolCall{ID: id, Name: name, Arguments: arguments}, id != "" && name != ""
}

// converse divides a transcript: results of the client's own tools at its end
// are what the run waits for; else the last message of the user is the input. What
// stands before, results included, is the history of a session that is new, and
// of one that nobody named. found is false where there is nothing to answer.
func converse(transcript []said, req *chat.Request) (found bool) {
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

// history is a transcript as a model may see it: calls have results, and results
// calls.
func history(transcript []said) []llm.Message {
	has := map[string]bool{}
	for _, m := range transcript {
		for _, r := range m.all() {
			has[r.CallID] = true
		}
	}
	var out []llm.Message
	names := map[string]string{}
	for _, m := range transcript {
		if m.role != llm.ToolRole {
			one := llm.Message{Role: m.role, Content: m.text, Parts: m.parts}
			for _, c := range m.calls {
				if has[c.ID] {
					names[c.ID] = c.Name
					one.ToolCalls = append(one.ToolCalls, c)
				}
			}
			if one.Role == llm.User || one.Content != "" || len(one.ToolCalls) > 0 {
				out = append(out, one)
			}
		}
		for _, r := range m.all() {
			if name, called := names[r.CallID]; called {
				out = append(out, llm.Message{Role: llm.ToolRole, ToolCallID: r.CallID, Name: name, Content: r.Content})
				delete(names, r.CallID) // one result a call
			}
		}
	}
	return out
}
