package stream

import (
	"encoding/json"
	"io"
	"time"

	"github.com/p8-org/p8/event"
)

// ResponsesOptions describe one response of OpenAI's Responses API.
type ResponsesOptions struct {
	// ID is the response's id, "resp_…"; the ids of its items are made of it.
	ID string
	// Model is sent to the client as the model that answered.
	Model string
	// Created is sent in seconds.
	Created time.Time
	// SessionID is sent as the conversation.
	SessionID string
	// Request repeats the fields of the request; nil sends their defaults.
	Request *ResponseRequest
	// Stored is true if the reader gets only stored events, none of which can be lost.
	// Otherwise the numbers of frames skip ahead at a restart, past the frames of lost
	// events that the client may have.
	Stored bool
	// Plain leaves out what a client may not know: p8's own events, and the calls of the
	// server's tools in the final output. The frames are the same.
	Plain bool
	// Skip is how many frames the client has: starting_after + 1.
	Skip int64
}

// ResponseRequest are the fields of a response object that repeat its request.
type ResponseRequest struct {
	Background         bool              `json:"background"`
	Instructions       *string           `json:"instructions"`
	MaxOutputTokens    *int              `json:"max_output_tokens"`
	Metadata           map[string]string `json:"metadata"`
	ParallelToolCalls  bool              `json:"parallel_tool_calls"`
	PreviousResponseID *string           `json:"previous_response_id"`
	Reasoning          ResponseReasoning `json:"reasoning"`
	Store              bool              `json:"store"`
	Temperature        *float64          `json:"temperature"`
	Text               json.RawMessage   `json:"text"`
	ToolChoice         json.RawMessage   `json:"tool_choice"`
	Tools              json.RawMessage   `json:"tools"`
	TopP               *float64          `json:"top_p"`
	Truncation         string            `json:"truncation"`
	User               *string           `json:"user"`
}

// ResponseReasoning is the field "reasoning".
type ResponseReasoning struct {
	Effort  *string `json:"effort"`
	Summary *string `json:"summary"`
}

// NewResponseRequest returns the defaults of a request.
func NewResponseRequest() *ResponseRequest {
	return &ResponseRequest{
		Metadata: map[string]string{}, ParallelToolCalls: true, Store: true, Truncation: "disabled",
		Text: json.RawMessage(`{"format":{"type":"text"}}`), ToolChoice: json.RawMessage(`"auto"`), Tools: json.RawMessage(`[]`),
	}
}

// responsesEncoder writes a run as a stream of OpenAI's Responses API.
//
// Text becomes message items and reasoning becomes reasoning items, several at a time if
// agents think at the same time. Calls of the server's tools are mcp_call items, which no
// client runs; the client's own calls are function_call items. Every other event is in
// the field p8 of the next frame.
//
// The numbers of the frames count every frame of the response, also those of text that a
// restart voided, so that they depend on the log alone. A voided item ends as incomplete
// and is not in the final output.
type responsesEncoder struct {
	frames
	o ResponsesOptions

	number int64 // of the next frame
	at     int   // where the open frame begins in buf
	// pending holds p8's own events for the next frame.
	pending []byte

	items      []*responseItem
	voices     event.Voices
	paragraphs event.Paragraphs
	message    *responseItem            // open, nil for none
	thoughts   map[string]*responseItem // open, by run
	calls      map[callKey]*responseItem
	arguments  map[callKey]json.RawMessage // of calls that an earlier response made
	owed       []ownCall                   // calls that the client has to run

	requests []*event.ActionRequestData
	usage    *event.UsageData
	metadata *event.MetadataData
	err      *event.ErrorData
	done     *event.DoneData

	began, closed bool
}

func newResponses(w io.Writer, r Reader, o ResponsesOptions) *responsesEncoder {
	if o.Request == nil {
		o.Request = NewResponseRequest()
	}
	e := &responsesEncoder{
		o: o, thoughts: map[string]*responseItem{}, calls: map[callKey]*responseItem{}, arguments: map[callKey]json.RawMessage{},
	}
	e.voices = event.Voices{Say: e.say, Again: r.Again}
	r.IDs = false // OpenAI's clients fail on blocks that have only an id
	e.init(w, r)
	return e
}

// Write sends one event. Events after the end of the response are ignored. An error is
// the writer's, or means that an event holds invalid raw JSON.
func (e *responsesEncoder) Write(ev event.Event) error {
	if e.r.past(ev) {
		e.know(ev)
		return nil
	}
	if e.closed || e.r.over(ev) {
		return nil
	}
	ev.Void = 0 // the first reader got these frames, so the numbers count them
	e.buf = e.buf[:0]
	if err := e.begin(); err != nil {
		return err
	}
	if err := e.append(ev); err != nil {
		return err
	}
	return e.send(ev)
}

// know records an event of an earlier response.
func (e *responsesEncoder) know(ev event.Event) {
	e.owed = owed(e.owed, ev)
	d, ok := ev.Data.(*event.ToolCallData)
	if !ok || d.Client {
		return
	}
	key := callKey{ev.RunID, d.ID}
	if d.Status == event.ToolExecuting {
		e.arguments[key] = d.Arguments
	} else {
		delete(e.arguments, key)
	}
}

// begin sends the beginning of the response.
func (e *responsesEncoder) begin() error {
	if e.began {
		return nil
	}
	e.began = true
	first, stages := "in_progress", []string{"created", "in_progress"}
	if e.o.Request.Background {
		first, stages = "queued", []string{"created", "queued", "in_progress"}
	}
	for _, stage := range stages {
		if stage == "in_progress" {
			first = stage
		}
		if err := e.lifecycle("response."+stage, first); err != nil {
			return err
		}
	}
	return nil
}

// append encodes the event into e.buf.
func (e *responsesEncoder) append(ev event.Event) error {
	switch d := ev.Data.(type) {
	case nil:
		if ev.Text == "" {
			return nil
		}
		if ev.Type == event.Reasoning {
			e.think(ev)
			return nil
		}
		e.thought(ev.RunID)
	case *event.ToolCallData:
		if d.Status != event.ToolStarted {
			e.thought(ev.RunID)
			if e.message != nil && e.message.run == ev.RunID {
				e.closeMessage(statusCompleted)
			}
		}
	case *event.RestartData:
		e.restart(ev, d)
	}
	if err := e.voices.Add(&ev); err != nil {
		return err
	}
	switch d := ev.Data.(type) {
	case nil, *event.UsageData, *event.ModelCallData:
		if d, ok := d.(*event.UsageData); ok && !child(ev.Agent) {
			e.usage = d
		}
		return nil
	case *event.ToolCallData:
		before := len(e.owed)
		e.owed = owed(e.owed, ev)
		// Calls of the client are sent when the client has to run them, and not their results.
		if !d.Client && d.Status != event.ToolStarted && len(e.owed) == before {
			e.toolCall(ev, d)
		}
		return nil
	case *event.ErrorData:
		if !child(ev.Agent) {
			e.fail(d)
		}
		return nil
	case *event.DoneData:
		if child(ev.Agent) {
			return nil
		}
		return e.end(d)
	case *event.ToolArgumentsData:
		return nil // arguments are sent as a whole
	case *event.ActionRequestData:
		e.request(ev, d)
	case *event.MetadataData:
		if !child(ev.Agent) {
			e.metadata = d
		}
	}
	return e.extra(ev)
}

// extra keeps an event of p8's own for the next frame. A frame of its own is not possible:
// npm openai fails on types that it does not know.
func (e *responsesEncoder) extra(ev event.Event) error {
	object, err := e.object(ev.Data)
	if err != nil || e.o.Plain {
		return err
	}
	if len(e.pending) > 0 {
		e.pending = append(e.pending, ',')
	}
	e.pending = append(append(append(e.pending, `{"type":"`...), ev.Type.String()...), '"')
	if child(ev.Agent) {
		e.pending = appendQuoted(append(e.pending, `,"agent":`...), ev.Agent)
		e.pending = appendQuoted(append(e.pending, `,"run_id":`...), ev.RunID)
	}
	e.pending = append(append(append(e.pending, `,"data":`...), object...), '}')
	return nil
}

// open begins a frame, close ends it; field, raw and num add to it.
func (e *responsesEncoder) open(typ string) {
	e.at = len(e.buf)
	e.buf = append(append(e.buf, "event: "...), typ...)
	e.buf = append(append(e.buf, "\n"+`data: {"type":"`...), typ...)
	e.buf = appendInt(append(e.buf, `","sequence_number":`...), e.number)
}

func (e *responsesEncoder) field(name, value string) {
	e.buf = append(append(append(e.buf, `,"`...), name...), `":`...)
	e.buf = appendQuoted(e.buf, value)
}

func (e *responsesEncoder) raw(name string, value []byte) {
	e.buf = append(append(append(e.buf, `,"`...), name...), `":`...)
	e.buf = append(e.buf, value...)
}

func (e *responsesEncoder) num(name string, n int) {
	e.buf = append(append(append(e.buf, `,"`...), name...), `":`...)
	e.buf = appendInt(e.buf, int64(n))
}

// close ends the frame, and drops it if the client has it.
func (e *responsesEncoder) close() {
	if len(e.pending) > 0 {
		e.buf = append(append(append(e.buf, `,"p8":[`...), e.pending...), ']')
		e.pending = e.pending[:0]
	}
	e.buf = append(e.buf, "}\n\n"...)
	if e.number < e.o.Skip {
		e.buf = e.buf[:e.at]
	}
	e.number++
}
