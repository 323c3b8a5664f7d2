package stream

import (
	"fmt"
	"net/http"
	"strings"
)

// Format says how typed events are framed between the chunks of an OpenAI stream. No
// format has "id:" lines: OpenAI's Python SDK fails on them.
type Format uint8

const (
	// Auto is Unnamed for requests of an OpenAI SDK and Polyglot for all others: see
	// [Format.For].
	Auto Format = iota
	// Unnamed frames are data alone: a chunk with an empty delta and the fields of the
	// event. The first frame of a stream has the role. OpenAI's SDKs of every version
	// ignore the extra fields. A fatal error is OpenAI's own error frame, after which
	// the stream ends without [DONE].
	Unnamed
	// Polyglot frames are Unnamed ones with an "event:" line before the data. npm
	// openai 4.50 to 5.10 and some of the Python SDKs fail on that line.
	Polyglot
	// Named frames are REM's and REMLight's: "event: tool_call" and the fields of
	// the event alone. A fatal error is "event: error", then "event: done" with
	// the reason error, then [DONE].
	Named
	// Wrapped frames have no name: data: {"event":"tool_call","data":{…}}.
	Wrapped
	// None is plain OpenAI: no typed events at all.
	None
)

var formatNames = [...]string{
	Auto: "auto", Unnamed: "unnamed", Polyglot: "polyglot", Named: "named", Wrapped: "wrapped", None: "none",
}

// String returns the name of the format in the header X-Event-Format.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// ParseFormat reads the header X-Event-Format; "" is [Auto].
func ParseFormat(s string) (Format, error) {
	if s == "" {
		return Auto, nil
	}
	for i, name := range formatNames {
		if name == s {
			return Format(i), nil
		}
	}
	return Auto, fmt.Errorf("there is no event format %q; use auto, unnamed, polyglot, named, wrapped or none", s)
}

// For resolves Auto by the headers of a request: OpenAI's SDKs, which Stainless
// generates, send X-Stainless-* headers and a User-Agent such as OpenAI/JS,
// AsyncOpenAI/Python or AzureOpenAI/Python.
func (f Format) For(h http.Header) Format {
	if f != Auto {
		return f
	}
	if h.Get("X-Stainless-Lang") != "" || h.Get("X-Stainless-Package-Version") != "" || strings.Contains(h.Get("User-Agent"), "OpenAI/") {
		return Unnamed
	}
	return Polyglot
}

// chunks reports whether typed events are sent as chunks.
func (f Format) chunks() bool { return f == Unnamed || f == Polyglot }

// literal reports whether an error and the end are typed events, as in REM and
// REMLight.
func (f Format) literal() bool { return f == Named || f == Wrapped }
