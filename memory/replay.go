package memory

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// lostResult replaces a result that was never stored, because the process died or the run
// was stopped while the tool ran.
const lostResult = `{"status":"error","error":"the result of this call was not recorded"}`

// exchange is a call with its result.
type exchange struct {
	call     llm.ToolCall
	storedID string
	group    int
	result   string
	answered bool
	// tokens is the size of both. shortened is true if the result is cut. first and last
	// are the numbers of their rows.
	tokens      int
	shortened   bool
	first, last int64
}

// replay makes messages of the tool rows of one turn, step by step: an assistant message
// with the calls, then their results in the order of the calls. A call after a result
// begins the next step.
func (p *Policy) replay(rows []store.Message) []item {
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
			e := waiting(exchanges, c)
			if e == nil {
				// The row of the call is missing; the result is shown all the same.
				group++
				c.group, c.tokens = group, p.callTokens(&c)
				exchanges = append(exchanges, c)
				e = &exchanges[len(exchanges)-1]
			}
			p.answer(e, row)
			continue
		}
		if answers || hasID(exchanges, group, c.call.ID) {
			group, answers = group+1, false
		}
		c.group, c.tokens = group, row.TokenCount
		if c.tokens == 0 {
			c.tokens = p.callTokens(&c)
		}
		exchanges = append(exchanges, c)
	}
	return p.steps(exchanges)
}

// callTokens estimates the tokens of a call whose row has no count.
func (p *Policy) callTokens(e *exchange) int {
	return p.estimate(e.call.Name) + p.estimate(e.call.Arguments)
}

// answer gives a call the result that a row holds.
func (p *Policy) answer(e *exchange, row *store.Message) {
	whole := text(row)
	e.answered, e.result = true, tool.Excerpt(whole, excerptKey(row), p.ResultChars)
	e.first, e.last = min(e.first, row.Seq), max(e.last, row.Seq)
	if e.shortened = len(e.result) != len(whole); e.shortened {
		e.tokens += p.estimate(e.result)
	} else {
		e.tokens += p.tokens(row)
	}
}

// excerptKey returns the key of a long result, made of its id. The run used the same key when
// it first sent the result, so the provider's cache stays valid.
func excerptKey(row *store.Message) string {
	if row.ID != "" {
		return rem.MessageIDKey(row.ID)
	}
	if key := keyOf(row.SessionID, row.Seq); key == rem.Quote(key) {
		return key
	}
	return "" // the names of parts have no quotes
}

// waiting returns the first call that waits for this result, nil for none.
func waiting(exchanges []exchange, c exchange) *exchange {
	for i := range exchanges {
		e := &exchanges[i]
		if !e.answered && e.storedID == c.storedID && (c.storedID != "" || e.call.Name == c.call.Name) {
			return e
		}
	}
	return nil
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

// steps returns the messages of each step, oldest first.
func (p *Policy) steps(exchanges []exchange) []item {
	var out []item
	for len(exchanges) > 0 {
		n := 1
		for n < len(exchanges) && exchanges[n].group == exchanges[0].group {
			n++
		}
		out = append(out, p.step(exchanges[:n]))
		exchanges = exchanges[n:]
	}
	return out
}

// step returns a message with calls, and their results.
func (p *Policy) step(exchanges []exchange) item {
	it := item{kind: PartTool, first: exchanges[0].first, whole: true, tokens: store.MessageTokens}
	calls := make([]llm.ToolCall, len(exchanges))
	it.step = make([]llm.Message, 0, 1+len(exchanges))
	it.step = append(it.step, llm.Message{Role: llm.Assistant, ToolCalls: calls})
	for i := range exchanges {
		e := &exchanges[i]
		if !e.answered {
			e.result = lostResult
			e.tokens += p.estimate(lostResult)
		}
		calls[i] = e.call
		it.step = append(it.step, llm.Message{
			Role: llm.ToolRole, ToolCallID: e.call.ID, Name: e.call.Name, Content: e.result,
		})
		it.tokens += store.MessageTokens + e.tokens
		it.first, it.last = min(it.first, e.first), max(it.last, e.last)
		it.whole = it.whole && !e.shortened
	}
	return it
}

// readCall reads {name, id, arguments}. It fills in missing fields, because models refuse
// a call without them.
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
		storedID: stored.ID, first: row.Seq, last: row.Seq,
		call: llm.ToolCall{ID: id, Name: llm.SafeName(stored.Name), Arguments: arguments(stored.Arguments)},
	}
}

// arguments returns a JSON object as text, "{}" for anything else.
func arguments(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	return "{}"
}
