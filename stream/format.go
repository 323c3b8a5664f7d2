package stream

import "fmt"

// Format says how typed events travel between the chunks of an OpenAI stream.
type Format uint8

const (
	// Polyglot frames have an "event:" line, and data that is a chunk with an
	// empty delta (the first of a stream has the role) plus the fields of the event.
	// All OpenAI clients accept them.
	// A fatal error is OpenAI's own error frame, after which the stream ends
	// without [DONE].
	Polyglot Format = iota
	// Named frames are REM's and REMLight's: "event: tool_call" and the fields of
	// the event alone. A fatal error is "event: error", then "event: done" with
	// the reason error, then [DONE].
	Named
	// Wrapped frames have no name: data: {"event":"tool_call","data":{…}}.
	Wrapped
	// None is plain OpenAI: no typed events at all.
	None
)

var formatNames = [...]string{Polyglot: "polyglot", Named: "named", Wrapped: "wrapped", None: "none"}

// String is the name of the format in the header X-Event-Format.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// ParseFormat reads the header X-Event-Format; "" is [Polyglot].
func ParseFormat(s string) (Format, error) {
	if s == "" {
		return Polyglot, nil
	}
	for i, name := range formatNames {
		if name == s {
			return Format(i), nil
		}
	}
	return Polyglot, fmt.Errorf("there is no event format %q; use polyglot, named, wrapped or none", s)
}
