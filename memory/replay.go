package memory

import (
	"bytes"
	"encoding/json"
	"strconv"

	"p8/llm"
	"p8/store"
)

// lostResult stands for a result that was never stored: the process died, or
// the run was stopped, while the tool ran.
const lostResult = `{"status":"error","error":"the result of this call was not recorded"}`

// exchange is a call with its result.
type exchange struct {
	call     llm.ToolCall
	storedID string
	group    int
	result   string
	answered bool
}

// replay is what the tool rows of one turn look like to a model: an assistant
// message with the calls of a step, then their results in the order of the
// calls. Steps are told apart by the rows' order: a call after a result belongs
// to the next one.
func replay(rows []store.Message) []llm.Message {
	exchanges := make([]exchange, 0, len(rows)/2+1)
	group, answers := 0, false
	for i := range rows {
		row := &rows[i]
		if row.AgentPath != "" || !isTool(row) {
			continue
		}
		c := readCall(row)
		if row.Type == store.MessageToolResponse {
			answers = true
			if answer(exchanges, c, text(row)) {
				continue
			}
			// The row of the call is missing: what it returned is still worth showing.
			group++
			c.result, c.answered, c.group = text(row), true, group
			exchanges = append(exchanges, c)
			continue
		}
		if answers || hasID(exchanges, group, c.call.ID) {
			group, answers = group+1, false
		}
		c.group = group
		exchanges = append(exchanges, c)
	}
	return messages(exchanges)
}

// answer gives a result to the first call that waits for it.
func answer(exchanges []exchange, c exchange, result string) bool {
	for i := range exchanges {
		e := &exchanges[i]
		if !e.answered && e.storedID == c.storedID && (c.storedID != "" || e.call.Name == c.call.Name) {
			e.result, e.answered = result, true
			return true
		}
	}
	return false
}

// hasID reports whether a step already has a call of this id.
func hasID(exchanges []exchange, group int, id string) bool {
	for i := range exchanges {
		if exchanges[i].group == group && exchanges[i].call.ID == id {
			return true
		}
	}
	return false
}

func messages(exchanges []exchange) []llm.Message {
	out := make([]llm.Message, 0, 2*len(exchanges))
	for len(exchanges) > 0 {
		n := 1
		for n < len(exchanges) && exchanges[n].group == exchanges[0].group {
			n++
		}
		calls := make([]llm.ToolCall, n)
		for i := range calls {
			calls[i] = exchanges[i].call
		}
		out = append(out, llm.Message{Role: llm.Assistant, ToolCalls: calls})
		for _, e := range exchanges[:n] {
			if !e.answered {
				e.result = lostResult
			}
			out = append(out, llm.Message{
				Role: llm.ToolRole, ToolCallID: e.call.ID, Name: e.call.Name, Content: e.result,
			})
		}
		exchanges = exchanges[n:]
	}
	return out
}

// readCall reads {name, id, arguments}; what is missing is made up, for models
// refuse a call without.
func readCall(row *store.Message) exchange {
	var stored struct {
		Name      string          `json:"name"`
		ID        string          `json:"id"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(row.ToolCalls, &stored) != nil {
		stored.Name, stored.ID, stored.Arguments = "", "", nil // a row of another program
	}
	id := stored.ID
	if id == "" {
		id = "call_" + strconv.FormatInt(row.Seq, 10)
	}
	return exchange{
		storedID: stored.ID,
		call:     llm.ToolCall{ID: id, Name: llm.SafeName(stored.Name), Arguments: arguments(stored.Arguments)},
	}
}

// arguments is a JSON object as text, "{}" for anything else.
func arguments(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	return "{}"
}

func text(row *store.Message) string {
	if row.Content == nil {
		return ""
	}
	return *row.Content
}
