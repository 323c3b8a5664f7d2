package runs

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/stream"
)

// The headers that choose how a run is read.
const (
	HeaderFormat   = "X-Event-Format"
	HeaderProtocol = "X-Protocol"
)

// The parameters that choose how a run is read.
const (
	paramProtocol  = "protocol"
	paramAfter     = "after"
	paramSubagents = "subagents"
	// paramLeave says what becomes of a run whose client leaves.
	paramLeave = "on_disconnect"
	// paramStarting is after in the numbers of a response's frames.
	paramStarting = "starting_after"
)

// IsViewParam reports whether a parameter of the address chooses how a run is read.
func IsViewParam(name string) bool {
	switch name {
	case paramProtocol, paramAfter, paramSubagents, paramLeave, paramStarting:
		return true
	}
	return false
}

// View is how a client reads a run.
type View struct {
	// Protocol is "" until the request, or the run, names one.
	Protocol stream.Protocol
	// seen is the last event that the client has of this very response.
	seen int64
	// newest is the run's last event when the reading begins, 0 for a new run.
	newest int64
	// ThreadID and RunID are an AG-UI client's own names; "" is the session and the run.
	ThreadID, RunID string
	// Messages are those of an AG-UI client's thread, a JSON list, if it asks for them.
	Messages json.RawMessage
	// MessageID is the message that an AI SDK client continues; "" is the run's.
	MessageID string
	children  stream.Children
	// sdk is the major version of an AI SDK client, 0 if it is not known. Approvals: the
	// client has answered an approval in its own form.
	sdk       int
	Approvals bool
	// LeaveStops is true if the run ends when the client that began it leaves.
	LeaveStops bool
	// Model is the name that an OpenAI client asked for, "" for the turn's.
	Model        string
	IncludeUsage bool
	format       stream.Format
	// Response is the response that the client reads; nil for the one of the turn.
	Response *stream.ResponsesOptions
	// skip is how many of its frames the client has.
	skip int64
}

// NewView reads the view that the headers and parameters of a request ask for.
func NewView(r *http.Request) (View, *problem.Problem) {
	var v View
	var p *problem.Problem
	if v.Protocol, v.sdk, p = protocol(r); p != nil {
		return v, p
	}
	if v.seen, p = after(r); p != nil {
		return v, p
	}
	if p = v.SkipTo(r); p != nil {
		return v, p
	}
	var err error
	if v.format, err = stream.ParseFormat(strings.ToLower(r.Header.Get(HeaderFormat))); err != nil {
		return v, problem.Invalid(HeaderFormat, "%s", err)
	}
	v.format = v.format.For(r.Header)
	switch leave := r.URL.Query().Get(paramLeave); leave {
	case "", "continue":
	case "stop":
		v.LeaveStops = true
	default:
		return v, problem.Invalid(paramLeave, "on_disconnect is %q; it is continue or stop", web.Cut(leave))
	}
	switch name := r.URL.Query().Get(paramSubagents); name {
	case "", "both":
	case "native":
		v.children = stream.ChildrenNative
	case "custom":
		v.children = stream.ChildrenCustom
	case "activity":
		v.children = stream.ChildrenActivity
	default:
		return v, problem.Invalid(paramSubagents, "subagents is %q; it is both, native, custom or activity", web.Cut(name))
	}
	return v, nil
}

// LeaveOut leaves out what is p8's own.
func (v *View) LeaveOut() { v.format = stream.None }

// SkipTo reads which frames of a response the client has.
func (v *View) SkipTo(r *http.Request) *problem.Problem {
	if value := r.URL.Query().Get(paramStarting); value != "" {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || n == math.MaxInt64 {
			return problem.Invalid(paramStarting, "starting_after is %q; it is the sequence_number of the last event that was received", web.Cut(value))
		}
		v.skip = n + 1
	}
	return nil
}

// sdkVersions are names of the AI SDK's protocol for clients of one major version.
var sdkVersions = map[string]int{"ai-sdk-5": 5, "ai-sdk-6": 6, "ai-sdk-7": 7}

// protocol returns the protocol that the request names, "" if it names none, and the version
// of the AI SDK that it names with it, 0 for none.
func protocol(r *http.Request) (stream.Protocol, int, *problem.Problem) {
	name := strings.ToLower(cmp.Or(r.URL.Query().Get(paramProtocol), r.Header.Get(HeaderProtocol)))
	if name == "" {
		return "", 0, nil
	}
	if version := sdkVersions[name]; version > 0 {
		return stream.ProtocolAISDK, version, nil
	}
	p, err := stream.ParseProtocol(name)
	if err != nil {
		return "", 0, problem.Invalid(paramProtocol, "there is no protocol %q; use openai, responses, ag-ui, ai-sdk (ai-sdk-5 to -7 for one version) or events", web.Cut(name))
	}
	return p, 0, nil
}

// after returns the number of the last event that the client has: the parameter, or
// the header that browsers send when they reconnect.
func after(r *http.Request) (int64, *problem.Problem) {
	name, value := paramAfter, r.URL.Query().Get(paramAfter)
	if value == "" {
		name, value = "Last-Event-ID", r.Header.Get("Last-Event-ID")
	}
	if value == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return 0, problem.Invalid(name, "%s is %q; it is the number of the last event that was received", name, web.Cut(value))
	}
	return n, nil
}
