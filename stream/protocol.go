package stream

import (
	"fmt"
	"io"

	"github.com/p8-org/p8/event"
)

// Protocol is a way to speak of a run over HTTP.
type Protocol string

// The protocols, by the names that the header X-Protocol and the parameter
// "protocol" use.
const (
	// ProtocolOpenAI is chat completion chunks (OpenAI).
	ProtocolOpenAI Protocol = "openai"
	// ProtocolAGUI is AG-UI 1.0.
	ProtocolAGUI Protocol = "ag-ui"
	// ProtocolAISDK is the Vercel AI SDK's UI message stream.
	ProtocolAISDK Protocol = "ai-sdk"
	// ProtocolEvents is p8's own: every event as it is, one a frame.
	ProtocolEvents Protocol = "events"
)

// ParseProtocol reads a protocol's name.
func ParseProtocol(s string) (Protocol, error) {
	switch p := Protocol(s); p {
	case ProtocolOpenAI, ProtocolAGUI, ProtocolAISDK, ProtocolEvents:
		return p, nil
	}
	return "", fmt.Errorf("there is no protocol %q; use openai, ag-ui, ai-sdk or events", s)
}

// Encoder writes a run in a protocol: each event becomes whole frames, in one
// Write of the underlying writer, or nothing. What follows the end of the run is
// ignored. It is not safe for concurrent use.
type Encoder interface {
	Write(ev event.Event) error
}

// Options are those of whichever protocol is spoken.
type Options struct {
	// Reader is what the client has already; it is used for every protocol, in place
	// of the Reader within the options of one.
	Reader Reader
	OpenAI OpenAIOptions
	AGUI   AGUIOptions
	AISDK  AISDKOptions
}

// New is an encoder of the protocol onto w; of OpenAI's when p is unknown.
func New(p Protocol, w io.Writer, o Options) Encoder {
	switch p {
	case ProtocolAGUI:
		o.AGUI.Reader = o.Reader
		return NewAGUI(w, o.AGUI)
	case ProtocolAISDK:
		o.AISDK.Reader = o.Reader
		return NewAISDK(w, o.AISDK)
	case ProtocolEvents:
		return NewEvents(w, EventsOptions{Reader: o.Reader})
	}
	o.OpenAI.Reader = o.Reader
	return NewOpenAI(w, o.OpenAI)
}
