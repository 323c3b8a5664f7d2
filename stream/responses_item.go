package stream

import (
	"strconv"

	"github.com/p8-org/p8/event"
)

// responseItem is an item of a response's output.
type responseItem struct {
	index int
	// id is a JSON string, made of the kind, the response's id and the index.
	id string
	// kind is the item's type.
	kind string
	// run and agent are those of the item's events, seq is the number of the last one.
	run, agent string
	seq        int64
	// text is what a message or a reasoning item says; before is where the paragraphs
	// were before it.
	text   event.Deltas
	before event.Paragraphs
	// name and arguments are a call's.
	name, arguments string
	// json is the item once it is done; nil while it is open.
	json []byte
	// void means that the item is not in the final output.
	void bool
}

// The types of items, and their ids' beginnings.
const (
	itemMessage   = "message"
	itemReasoning = "reasoning"
	itemFunction  = "function_call"
	itemMCP       = "mcp_call"
	itemApproval  = "mcp_approval_request"
)

// The status of an item or a response.
const (
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
	statusFailed     = "failed"
	statusCancelled  = "cancelled"
)

// serverLabel is the label of the server that runs the agent's own tools.
const serverLabel = "p8"

// ApprovalPrefix begins the id of an mcp_approval_request; the id of the request follows.
const ApprovalPrefix = "mcpr_"

// itemPrefix returns the beginning of the ids of items of a kind.
func itemPrefix(kind string) string {
	switch kind {
	case itemMessage:
		return "msg_"
	case itemReasoning:
		return "rs_"
	case itemFunction:
		return "fc_"
	}
	return "mcp_"
}

// add makes the next item.
func (e *responsesEncoder) add(kind string, ev event.Event) *responseItem {
	it := &responseItem{index: len(e.items), kind: kind, run: ev.RunID, agent: ev.Agent, seq: ev.Seq}
	const prefix = "resp_"
	base := e.o.ID
	if len(base) > len(prefix) && base[:len(prefix)] == prefix {
		base = base[len(prefix):]
	}
	it.id = string(appendQuoted(nil, itemPrefix(kind)+base+"_"+strconv.Itoa(it.index)))
	e.items = append(e.items, it)
	return it
}

// announce sends that an item has begun.
func (e *responsesEncoder) announce(it *responseItem) {
	e.open("response.output_item.added")
	e.num("output_index", it.index)
	e.raw("item", it.append(nil, statusInProgress, nil))
	e.close()
}

// finish sends that an item is done. result is a call's.
func (e *responsesEncoder) finish(it *responseItem, status string, result *event.ToolCallData) {
	it.json = it.append(nil, status, result)
	e.open("response.output_item.done")
	e.num("output_index", it.index)
	e.raw("item", it.json)
	e.close()
}

// about begins a frame about an item.
func (e *responsesEncoder) about(typ string, it *responseItem) {
	e.open(typ)
	e.raw("item_id", []byte(it.id))
	e.num("output_index", it.index)
}

// append appends the item.
func (it *responseItem) append(dst []byte, status string, result *event.ToolCallData) []byte {
	dst = append(append(dst, `{"id":`...), it.id...)
	dst = appendQuoted(append(dst, `,"type":`...), it.kind)
	if it.kind != itemApproval {
		dst = appendQuoted(append(dst, `,"status":`...), status)
	}
	switch it.kind {
	case itemMessage:
		dst = append(dst, `,"role":"assistant","content":[`...)
		if it.text.Len() > 0 {
			dst = appendTextPart(dst, it.text.String())
		}
		dst = append(dst, ']')
	case itemReasoning:
		dst = append(dst, `,"summary":[`...)
		if it.text.Len() > 0 {
			dst = appendSummary(dst, it.text.String())
		}
		dst = append(dst, ']')
	case itemFunction:
		dst = appendQuoted(append(dst, `,"call_id":`...), it.text.String())
		dst = it.appendCall(dst, status)
	case itemApproval:
		dst = append(it.appendCall(dst, status), `,"server_label":"`+serverLabel+`"`...)
	case itemMCP:
		dst = append(it.appendCall(dst, status), `,"server_label":"`+serverLabel+`","approval_request_id":null`...)
		dst = appendResult(dst, status, result)
	}
	if child(it.agent) {
		dst = appendQuoted(append(dst, `,"agent":`...), it.agent)
	}
	return append(dst, '}')
}

// appendCall appends the name and the arguments, which come after the item's beginning.
func (it *responseItem) appendCall(dst []byte, status string) []byte {
	dst = appendQuoted(append(dst, `,"name":`...), it.name)
	arguments := it.arguments
	if status == statusInProgress && it.kind != itemApproval {
		arguments = ""
	}
	return appendQuoted(append(dst, `,"arguments":`...), arguments)
}

func appendResult(dst []byte, status string, result *event.ToolCallData) []byte {
	switch {
	case result == nil:
		return append(dst, `,"output":null,"error":null`...)
	case status == statusFailed:
		return appendQuoted(append(dst, `,"output":null,"error":`...), resultText(result))
	}
	return append(appendQuoted(append(dst, `,"output":`...), resultText(result)), `,"error":null`...)
}

func appendTextPart(dst []byte, text string) []byte {
	dst = appendQuoted(append(dst, `{"type":"output_text","text":`...), text)
	return append(dst, `,"annotations":[],"logprobs":[]}`...)
}

func appendSummary(dst []byte, text string) []byte {
	return append(appendQuoted(append(dst, `{"type":"summary_text","text":`...), text), '}')
}
