package stream

import (
	"fmt"
	"io"

	"github.com/p8-org/p8/event"
)

// Protocol is a way to encode a run over HTTP.
type Protocol string

// The protocols, by the names that the header X-Protocol and the parameter
// "protocol" use.
const (
	// ProtocolOpenAI is chat completion chunks (OpenAI).
	ProtocolOpenAI Protocol = "openai"
	// ProtocolAGUI is AG-UI 1.0.
	ProtocolAGUI Protocol = "ag-ui"
	// ProtocolAGUI0 is AG-UI for clients older than 1.0, which refuse what they do not know.
	ProtocolAGUI0 Protocol = "ag-ui-0"
	// ProtocolAISDK is the Vercel AI SDK's UI message stream.
	ProtocolAISDK Protocol = "ai-sdk"
	// ProtocolResponses is OpenAI's Responses API.
	ProtocolResponses Protocol = "responses"
	// ProtocolEvents is p8's own: every event unchanged, one a frame.
	ProtocolEvents Protocol = "events"
)

// ParseProtocol reads a protocol's name.
func ParseProtocol(s string) (Protocol, error) {
	switch p := Protocol(s); p {
	case ProtocolOpenAI, ProtocolResponses, ProtocolAGUI, ProtocolAGUI0, ProtocolAISDK, ProtocolEvents:
		return p, nil
	}
	return "", fmt.Errorf("there is no protocol %q; use openai, responses, ag-ui, ai-sdk or events", s)
}

// Encoder writes a run in a protocol: each event becomes whole frames, in one Write of
// the underlying writer, or nothing. Events after the end of the run are ignored. It
// is not safe for concurrent use.
type Encoder interface {
	Write(ev event.Event) error
}

// Options configure an encoder; it reads the options of its own protocol.
type Options struct {
	// Reader is what the client already has.
	Reader    Reader
	OpenAI    OpenAIOptions
	Responses ResponsesOptions
	AGUI      AGUIOptions
	AISDK     AISDKOptions
}

// New makes an encoder of the protocol that writes to w. If p is unknown, it makes one of
// OpenAI's.
func New(p Protocol, w io.Writer, o Options) Encoder {
	switch p {
	case ProtocolResponses:
		return newResponses(w, o.Reader, o.Responses)
	case ProtocolAGUI, ProtocolAGUI0:
		return newAGUI(w, o.Reader, o.AGUI, p == ProtocolAGUI0)
	case ProtocolAISDK:
		return newAISDK(w, o.Reader, o.AISDK)
	case ProtocolEvents:
		return newEvents(w, o.Reader)
	}
	return newOpenAI(w, o.Reader, o.OpenAI)
}
