package stream

import (
	"encoding/json"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/event"
)

// OpenAIOptions describe one stream.
type OpenAIOptions struct {
	// ID is the completion's id, "chatcmpl-…".
	ID string
	// Model is sent to the client as the model that answered.
	Model string
	// Created is sent in seconds.
	Created time.Time
	Format  Format
	// IncludeUsage adds the usage chunk (stream_options.include_usage).
	IncludeUsage bool
}

// openAIEncoder writes a run as OpenAI chat completion chunks. Each event is one or
// more whole frames in one Write of the underlying writer. It is not safe for
// concurrent use.
type openAIEncoder struct {
	frames
	o OpenAIOptions
	// numbers are sent as the field seq of chunks.
	numbers bool

	// head and base are the constant parts of a frame: a chunk up to its delta,
	// and the chunk's fields that a typed event's frame repeats.
	head, base []byte
	// number is the event's, for the field seq; 0 leaves the field out.
	number int64

	usage  event.UsageData
	calls  int64     // calls of the client's tools
	owed   []ownCall // calls that an earlier response asked for
	begun  begun     // calls of the client's tools that are being written
	spoke  bool      // a chunk with the role was sent
	text   bool      // the root agent has sent text
	order  order     // of the text of agents that run side by side
	again  again     // the text that a restart repeats
	closed bool
}

const (
	// bare is the choice of a chunk without content.
	bare = `"choices":[{"index":0,"delta":{},"finish_reason":null}]`
	// first is the choice of the first one.
	first = `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`
	tail  = `},"logprobs":null,"finish_reason":null}]`
	end   = "data: [DONE]\n\n"
)

func newOpenAI(w io.Writer, r Reader, o OpenAIOptions) *openAIEncoder {
	if o.Format == Auto {
		o.Format = Polyglot
	}
	e := &openAIEncoder{o: o, numbers: r.IDs}
	e.order.voices = event.Voices{Say: e.say, Again: r.Again}
	// No frame has an id line: OpenAI's Python SDK dispatches an event without data
	// for each block that has only an id, and fails.
	r.IDs = false
	e.init(w, r)
	e.base = append(e.base, `"id":`...)
	e.base = appendQuoted(e.base, o.ID)
	e.base = append(e.base, `,"object":"chat.completion.chunk","created":`...)
	e.base = strconv.AppendInt(e.base, o.Created.Unix(), 10)
	e.base = append(e.base, `,"model":`...)
	e.base = append(appendQuoted(e.base, o.Model), ',')
	e.head = append(append([]byte("data: {"), e.base...), `"choices":[{"index":0,"delta":{`...)
	return e
}

// Write sends one event. Events after the last one of the root run (Done, or Error if
// the format ends there) are ignored. An error is the writer's, or means that an event
// holds invalid raw JSON.
func (e *openAIEncoder) Write(ev event.Event) error {
	switch {
	case e.closed:
		return nil
	case e.r.past(ev):
		e.owed = owed(e.owed, ev)
		return nil
	case ev.Void != 0 && !e.r.hides(ev):
		ev.Void = 0 // it is on the client's screen
	}
	if over, err := e.order.add(e, &ev); over || err != nil || e.r.over(ev) || ev.Void != 0 {
		return err
	}
	e.begin(ev)
	if held, err := e.saidAgain(&ev); held || err != nil {
		return err
	}
	if err := e.append(ev); err != nil {
		return err
	}
	if e.order.behind {
		return nil
	}
	return e.send(ev)
}

// begin prepares for the frames of an event.
func (e *openAIEncoder) begin(ev event.Event) {
	e.buf, e.number = e.buf[:0], 0
	if e.numbers && e.o.Format != None && ev.Type != event.Done {
		e.number = ev.Seq
	}
}

// appendEnd ends a chunk. A client that reconnects sends the field seq as
// Last-Event-ID. The last event has several frames and no seq.
func (e *openAIEncoder) appendEnd() {
	if e.number > 0 {
		e.buf = appendInt(append(e.buf, `,"seq":`...), e.number)
	}
	e.buf = append(e.buf, "}\n\n"...)
}

// append encodes the event into e.buf.
func (e *openAIEncoder) append(ev event.Event) error {
	switch ev.Type {
	case event.Reasoning:
		e.appendReasoning(ev)
		return nil
	}
	if ev.Data == nil {
		return nil
	}
	switch d := ev.Data.(type) {
	case *event.ToolCallData:
		if ours, err := e.clientCall(ev, d); ours || err != nil {
			return err
		}
		ev.Data = withoutFileData(d)
	case *event.ToolArgumentsData:
		return e.appendArguments(ev, d)
	case *event.StateData, *event.ModelCallData:
		return nil // OpenAI's clients share no state, and have no name for requests
	}
	if len(e.owed) > 0 {
		e.owed = owed(e.owed, ev)
	}
	if child(ev.Agent) {
		return e.appendChild(ev)
	}
	switch d := ev.Data.(type) {
	case *event.ErrorData:
		return e.appendError(d)
	case *event.DoneData:
		return e.appendDone(d)
	case *event.UsageData:
		e.usage = *d
	}
	return e.appendTyped(ev, ev.Data)
}

// child reports whether the path names a delegated agent.
func child(agent string) bool { return strings.IndexByte(agent, '/') >= 0 }

// appendChild encodes a typed event of a delegated agent. The end, failure and usage
// of a child are part of the parent's tool call and of the run.
func (e *openAIEncoder) appendChild(ev event.Event) error {
	switch d := ev.Data.(type) {
	case *event.DoneData, *event.ErrorData, *event.UsageData:
		return nil
	case *event.ToolCallData:
		named := *d
		named.Name = toolName(ev.Agent, d)
		return e.appendTyped(ev, &named)
	}
	return e.appendTyped(ev, ev.Data)
}

// toolName returns a tool's name as the client reads it: a delegated agent's tool has
// the agent's name before it. A structured answer has the agent's name alone.
func toolName(agent string, d *event.ToolCallData) string {
	if !child(agent) || d.Structured {
		return d.Name
	}
	return path.Base(agent) + ":" + d.Name
}

func (e *openAIEncoder) appendContent(text string) {
	e.buf = append(e.buf, e.head...)
	if !e.spoke {
		e.spoke = true
		e.buf = append(e.buf, `"role":"assistant",`...)
	}
	e.buf = appendQuoted(append(e.buf, `"content":`...), text)
	e.buf = append(e.buf, tail...)
	e.appendEnd()
}

// arguments returns a call's arguments as the JSON text of an object.
func arguments(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	return compact(raw)
}

func (e *openAIEncoder) appendReasoning(ev event.Event) {
	if e.o.Format == None || ev.Text == "" {
		return
	}
	e.open(ev.Type)
	e.comma()
	e.buf = appendQuoted(append(e.buf, `"text":`...), ev.Text)
	e.appendSpeaker(ev)
	e.close()
}
