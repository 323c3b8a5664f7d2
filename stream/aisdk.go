package stream

import (
	"io"

	"github.com/p8-org/p8/event"
)

// HeaderAISDK with the value ValueAISDK must be in a response that an AI SDK
// client reads.
const (
	HeaderAISDK = "x-vercel-ai-ui-message-stream"
	ValueAISDK  = "v1"
)

// AISDKOptions describe one UI message stream.
type AISDKOptions struct {
	// MessageID is the assistant message that the client builds from the stream. After
	// an approval it is the message that the client has already and continues;
	// Reader.Past is then the pause.
	MessageID string
	// Fresh means that the client does not have the message although Reader.Past is set,
	// as when another message joined the run. Earlier calls are introduced again at their
	// next event.
	Fresh bool
	// Metadata is the messageMetadata of the start; nil leaves it out.
	Metadata map[string]any
	// Version is the major version of the client's SDK; 0 if it is not known, because
	// requests do not contain it.
	Version int
	// Approvals is true if the client supports approvals, as version 6 and later do,
	// although its Version is not known.
	Approvals bool
	// Denied reports whether the user declined a request; nil means never.
	Denied func(requestID string) bool
}

// aisdkEncoder writes a run as the Vercel AI SDK's UI message stream, version 1.
//
// The answer, the reasoning and the steps are the SDK's own parts. The server's tools
// are dynamic tools that the provider has executed, so that no client runs them; the
// client's tools are its own. A delegated agent is the preliminary output of the
// parent's call: its text so far and its tools. Its tools are dynamic tools too, named
// agent:tool, so that an approval belongs to a call. Every other event is a data-*
// part.
type aisdkEncoder struct {
	frames
	o AISDKOptions

	root     part
	parts    int // text and reasoning parts so far
	children map[string]*delegate
	last     *delegate
	lastRun  string
	calls    calls
	usage    *event.UsageData
	metadata *event.MetadataData

	asked   []*call         // with approvals that are sent last
	sources map[string]bool // that were sent

	step     bool // start-step was sent
	answered bool // a call of the step has its result
	said     bool // the root agent has sent text
	fresh    bool // the step has parts to remove if it is cut

	began, behind, closed bool
}

// part is a text or reasoning part.
type part struct {
	open event.Type // Text or Reasoning; 0 when no part is open
	id   []byte     // a JSON string
}

func newAISDK(w io.Writer, r Reader, o AISDKOptions) *aisdkEncoder {
	e := &aisdkEncoder{o: o, children: map[string]*delegate{}}
	e.init(w, r)
	return e
}

// Write sends one event. Events after the end of the run are ignored. An error is the
// writer's, or means that an event holds invalid raw JSON.
func (e *aisdkEncoder) Write(ev event.Event) error {
	if e.r.hides(ev) {
		return nil
	}
	past := e.r.past(ev)
	if e.behind && (!past || e.closed) {
		e.again()
	}
	if e.closed || e.r.over(ev) {
		return nil
	}
	e.behind = past
	e.buf = e.buf[:0]
	if err := e.begin(); err != nil {
		return err
	}
	if err := e.append(ev); err != nil {
		return err
	}
	return e.send(ev)
}

// begin sends the start.
func (e *aisdkEncoder) begin() error {
	if e.began {
		return nil
	}
	e.chunk("start")
	if e.o.MessageID != "" {
		e.field("messageId", e.o.MessageID)
	}
	if e.o.Metadata != nil {
		object, err := e.object(e.o.Metadata)
		if err != nil {
			return err
		}
		e.raw("messageMetadata", object)
	}
	e.end()
	e.began = true
	return nil
}

// again prepares for another response of the same run, for the same message.
func (e *aisdkEncoder) again() {
	e.began, e.behind, e.closed = false, false, false
	e.step, e.answered = false, false
	e.root.open = 0
	e.calls.again()
	if e.o.Fresh {
		e.fresh = false
		for _, k := range e.calls.open {
			k.begun, k.input = false, false
		}
	}
	for _, d := range e.children {
		d.part.open = 0
	}
}

// append encodes the event into e.buf.
func (e *aisdkEncoder) append(ev event.Event) error {
	if child(ev.Agent) {
		return e.appendChild(ev)
	}
	switch d := ev.Data.(type) {
	case nil:
		if ev.Text != "" && (ev.Type == event.Text || ev.Type == event.Reasoning) {
			e.said = e.said || ev.Type == event.Text
			e.fresh = true
			e.appendPart(&e.root, ev)
		}
		return nil
	case *event.ToolCallData:
		return e.appendTool(ev, d)
	case *event.ToolArgumentsData:
		e.appendArguments(ev, d)
		return nil
	case *event.ActionRequestData:
		return e.appendRequest(ev, d)
	case *event.RestartData:
		return e.appendRestart(ev, d)
	case *event.DoneData:
		return e.appendDone(d)
	case *event.ErrorData:
		return e.appendError(d)
	case *event.MetadataData:
		e.metadata = d
		for _, s := range d.Sources {
			e.source(event.Source{ID: s, Title: s})
		}
		return e.data(ev, "metadata", false)
	case *event.UsageData:
		e.usage = d
		return e.data(ev, "usage", false)
	case *event.ProgressData:
		return e.data(ev, "progress", true)
	case *event.StateData:
		e.appendState(d)
		return nil
	case *event.ModelCallData:
		return nil
	}
	return e.data(ev, "", false)
}

// appendPart is the hot path: it allocates only at the beginning of a part.
func (e *aisdkEncoder) appendPart(p *part, ev event.Event) {
	if p.open != ev.Type {
		if p == &e.root {
			e.nextStep()
		}
		e.hush(p)
		e.parts++
		p.open = ev.Type
		p.id = append(append(append(p.id[:0], '"'), ev.Type.String()...), '-')
		p.id = append(appendInt(p.id, int64(e.parts)), '"')
		e.partChunk(p, "-start")
	}
	e.buf = append(append(e.buf, `data: {"type":"`...), ev.Type.String()...)
	e.buf = append(append(e.buf, `-delta","id":`...), p.id...)
	e.buf = appendQuoted(append(e.buf, `,"delta":`...), ev.Text)
	e.end()
}

// hush ends the open part.
func (e *aisdkEncoder) hush(p *part) {
	if p.open != 0 {
		e.partChunk(p, "-end")
		p.open = 0
	}
}

func (e *aisdkEncoder) partChunk(p *part, stage string) {
	e.buf = append(append(e.buf, `data: {"type":"`...), p.open.String()...)
	e.buf = append(append(append(e.buf, stage...), `","id":`...), p.id...)
	e.end()
}

// openStep opens a step unless one is open.
func (e *aisdkEncoder) openStep() {
	if !e.step {
		e.step, e.answered = true, false
		e.chunk("start-step")
		e.end()
	}
}

// nextStep opens a step unless the open one has no result yet: text of the root after a
// result belongs to the model's next response.
func (e *aisdkEncoder) nextStep() {
	if e.answered {
		e.closeStep()
	}
	e.openStep()
}

func (e *aisdkEncoder) closeStep() {
	if e.step {
		e.hush(&e.root)
		e.step, e.answered = false, false
		e.chunk("finish-step")
		e.end()
	}
}

// chunk begins a frame, end ends it; field and raw add to it.
func (e *aisdkEncoder) chunk(typ string) {
	e.buf = append(append(append(e.buf, `data: {"type":"`...), typ...), '"')
}

func (e *aisdkEncoder) field(name, value string) {
	e.buf = append(append(append(e.buf, `,"`...), name...), `":`...)
	e.buf = appendQuoted(e.buf, value)
}

func (e *aisdkEncoder) raw(name string, value []byte) {
	e.buf = append(append(append(e.buf, `,"`...), name...), `":`...)
	e.buf = append(e.buf, value...)
}

func (e *aisdkEncoder) end() { e.buf = append(e.buf, "}\n\n"...) }
