package inbound

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// maxItems bounds the items of an input.
const maxItems = 10_000

// items are what the input says besides its messages.
type items struct {
	// previous is the response of the last item that the input refers to.
	previous string
	answers  []Answer
	// left are the responses whose calls the end of the input answers.
	left []string
}

// inputItem is an item of the input, of any type.
type inputItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	// These are an mcp_approval_response's.
	RequestID string `json:"approval_request_id"`
	Approve   *bool  `json:"approve"`
	Reason    string `json:"reason"`
}

// readItems reads the input into the request.
func (b *Response) readItems(req *chat.Request) *problem.Problem {
	raw := bytes.TrimSpace(b.Input)
	var list []json.RawMessage
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return problem.Invalid("input", `input is missing; send a text or items, as in "input":"hello"`)
	case raw[0] == '"':
		list = []json.RawMessage{[]byte(`{"role":"user","content":` + string(raw) + `}`)}
	case json.Unmarshal(raw, &list) != nil:
		return problem.Invalid("input", "input must be a string or an array of items")
	}
	if len(list) > maxItems {
		return problem.Invalid("input", "input has %d items; %d are the most", len(list), maxItems)
	}
	t := thread{calls: map[string]string{}}
	for i, raw := range list {
		if p := t.add(raw, "input["+strconv.Itoa(i)+"]", req); p != nil {
			return p
		}
	}
	b.read.previous, b.read.answers = t.previous, t.answers
	return b.divide(t.messages, t.calls, req)
}

// thread is an input while it is read.
type thread struct {
	messages []message
	previous string
	answers  []Answer
	calls    map[string]string // the ids of the items of calls
}

// add reads the next item.
func (t *thread) add(raw json.RawMessage, where string, req *chat.Request) *problem.Problem {
	var it inputItem
	if json.Unmarshal(raw, &it) != nil || !web.IsObject(raw) {
		return problem.Invalid("input", `%s is not an item such as {"role":"user","content":"hello"}`, where)
	}
	switch it.Type {
	case "", "message":
		return t.addMessage(&it, where, req)
	case "function_call":
		call, ok := newCall(it.CallID, it.Name, it.Arguments)
		if !ok {
			return problem.Invalid("input", "%s has no call_id or no name", where)
		}
		t.answers = nil
		t.calls[it.CallID] = it.ID
		if last := len(t.messages) - 1; last >= 0 && t.messages[last].role == llm.Assistant {
			t.messages[last].calls = append(t.messages[last].calls, call)
			return nil
		}
		t.messages = append(t.messages, message{role: llm.Assistant, calls: []llm.ToolCall{call}})
	case "function_call_output":
		text, parts, err := itemContent(it.Output, false)
		switch {
		case it.CallID == "":
			return problem.Invalid("input", "%s has no call_id; it is the id of the call that it answers", where)
		case err != nil:
			return problem.Invalid("input", "%s.output %s", where, err)
		case len(parts) > 0:
			return problem.Invalid("input", "%s.output has an image or a document; send text", where)
		}
		t.messages = append(t.messages, message{role: llm.ToolRole, results: []chat.ToolResult{{ToolCallID: it.CallID, Content: text}}})
	case "mcp_approval_response":
		return t.addAnswer(&it, where)
	case "item_reference":
		return t.refer(it.ID, where)
	case "reasoning", "mcp_call", "mcp_list_tools", "mcp_approval_request":
		// The model has its own thoughts, and what came of p8's calls is in the answer.
	default:
		return problem.Invalid("input", "%s is of type %q; p8 reads message, function_call, function_call_output, mcp_approval_response, item_reference and reasoning", where, web.Cut(it.Type))
	}
	return nil
}

func (t *thread) addMessage(it *inputItem, where string, req *chat.Request) *problem.Problem {
	text, parts, err := itemContent(it.Content, it.Role == "user")
	if err != nil {
		return problem.Invalid("input", "%s.content%s", where, err)
	}
	one := message{text: text, parts: parts}
	switch it.Role {
	case "system", "developer":
		if text != "" {
			Instruct(req, text)
		}
		return nil
	case "user":
		one.role = llm.User
	case "assistant":
		one.role = llm.Assistant
	default:
		return problem.Invalid("input", "%s.role is %q; it must be user, assistant, system or developer", where, web.Cut(it.Role))
	}
	t.answers = nil // what came before was decided
	if last := len(t.messages) - 1; one.role == llm.Assistant && last >= 0 && len(t.messages[last].calls) > 0 {
		// Some clients send the text of a step after its calls.
		t.messages[last].text = strings.TrimPrefix(t.messages[last].text+"\n"+text, "\n")
		return nil
	}
	t.messages = append(t.messages, one)
	return nil
}

func (t *thread) addAnswer(it *inputItem, where string) *problem.Problem {
	id, ok := strings.CutPrefix(it.RequestID, stream.ApprovalPrefix)
	switch {
	case !ok || id == "":
		return problem.Invalid("input", "%s.approval_request_id is %q; it is the id of an mcp_approval_request", where, web.Cut(it.RequestID))
	case it.Approve == nil:
		return problem.Invalid("input", "%s.approve is missing; it is true or false", where)
	case len(t.answers) == maxAnswers:
		return problem.Invalid("input", "there are more than %d mcp_approval_responses", maxAnswers)
	}
	a := Answer{RequestID: id, where: where, status: store.RequestDeclined, comment: it.Reason, via: string(stream.ProtocolResponses)}
	if *it.Approve {
		a.status = store.RequestAccepted
	}
	t.answers = append(t.answers, a)
	return nil
}

// refer takes in a reference to a stored item: everything up to it is stored.
func (t *thread) refer(id, where string) *problem.Problem {
	if strings.HasPrefix(id, stream.ApprovalPrefix) {
		return nil // its answer names it
	}
	response, ok := itemResponse(id)
	if !ok {
		return problem.Invalid("input", "%s refers to %q, which is no item of a response of p8", where, web.Cut(id))
	}
	t.previous, t.messages, t.answers = response, nil, nil
	return nil
}

// divide splits the messages into the input of the turn and the history before it. Of a
// stored session only the end is new: what comes after the last message of the assistant.
func (b *Response) divide(all []message, items map[string]string, req *chat.Request) *problem.Problem {
	end := len(all)
	for end > 0 && all[end-1].role != llm.Assistant {
		end--
	}
	if b.PreviousResponseID != "" && end == len(all) {
		end = 0 // the items are the input, whatever their role
	}
	tail := all[end:]
	if !b.Named() || len(tail) == 0 {
		if found := divide(all, req); !found && len(b.read.answers) == 0 {
			return problem.Invalid("input", "input has no message of the user with a text: there is nothing to answer")
		}
		for _, r := range req.Results {
			if response, ok := itemResponse(items[r.ToolCallID]); ok {
				b.read.left = append(b.read.left, response)
			}
		}
		if len(b.read.answers) > 0 {
			req.Input, req.Parts, req.History = "", nil, nil
		}
		return nil
	}
	var texts []string
	before := all[:end:end]
	for _, m := range tail {
		if req.Results = append(req.Results, m.results...); len(m.results) > 0 {
			before = append(before, m)
		}
		if strings.TrimSpace(m.text) != "" && m.role == llm.User {
			texts = append(texts, m.text)
		}
		req.Parts = append(req.Parts, m.parts...)
	}
	if b.Conversation != "" {
		req.History = history(before) // it may be new
	}
	req.Input = strings.Join(texts, "\n\n")
	if req.Input == "" && len(req.Parts)+len(req.Results)+len(b.read.answers) == 0 {
		return problem.Invalid("input", "the message of the user is empty: there is nothing to answer")
	}
	return nil
}
