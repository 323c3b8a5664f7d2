package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/diff"
	"github.com/p8-org/p8/tool"
)

// Tool wraps a tool of an MCP server, or one of p8 that reaches beyond p8's own data
// (server is then ""): its calls are recorded, or played.
func (t *Tape) Tool(server string, next tool.Tool) tool.Tool {
	r := recordedTool{next, t, server}
	if t.playing {
		return playedLocal{next, t}
	}
	if s, ok := next.(tool.Streamer); ok {
		return recordedStreamer{r, s}
	}
	return r
}

// result is a tool's result with the files that its JSON leaves out.
type result struct {
	tool.Result
	Files []event.File `json:"files,omitempty"`
}

// recordedTool is a tool whose calls are recorded.
type recordedTool struct {
	tool.Tool
	tape   *Tape
	server string
}

// Annotations are the tool's own.
func (r recordedTool) Annotations() tool.Annotations { return tool.AnnotationsOf(r.Tool) }

// Original is the tool's own.
func (r recordedTool) Original() string { return tool.OriginalName(r.Tool) }

// Validate is the tool's own.
func (r recordedTool) Validate(ctx context.Context, args json.RawMessage) error {
	return tool.Validate(ctx, r.Tool, args)
}

// Call calls the tool and keeps its result.
func (r recordedTool) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	res, err := r.Tool.Call(context.WithValue(ctx, insideKey{}, true), call)
	r.keep(call, res, err)
	return res, err
}

// keep keeps the result of a call, unless it waits for the user: then it is made again.
func (r recordedTool) keep(call tool.Call, res tool.Result, err error) {
	if errors.Is(err, tool.ErrPaused) {
		return
	}
	r.tape.keep(Call{Server: r.server, Tool: r.Original(), Arguments: call.Arguments}, result{res, res.Files}, err)
}

// recordedStreamer keeps the tool's events.
type recordedStreamer struct {
	recordedTool
	next tool.Streamer
}

// Stream calls the tool and keeps its result.
func (r recordedStreamer) Stream(ctx context.Context, call tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	res, err := r.next.Stream(context.WithValue(ctx, insideKey{}, true), call, emit)
	r.keep(call, res, err)
	return res, err
}

// keep records a call.
func (t *Tape) keep(c Call, value any, err error) {
	c.Arguments = t.arguments(c.Arguments)
	if err != nil {
		c.Error = "the tool failed"
		var known *tool.Error
		if errors.As(err, &known) {
			c.Error = t.clean(known.Message)
		}
	} else if raw, err := marshal(value); err == nil {
		c.Result = t.cleanJSON(raw)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cassette.Calls = append(t.cassette.Calls, c)
}

// arguments returns the kept form of arguments.
func (t *Tape) arguments(raw json.RawMessage) json.RawMessage {
	return canonical([]byte(varying{map[string]string{}}.name(string(t.cleanJSON(raw)))))
}

// cleanJSON cleans a JSON value, and each text of it: what a text is may show in its key.
func (t *Tape) cleanJSON(raw json.RawMessage) json.RawMessage {
	whole := json.RawMessage(t.clean(string(raw)))
	if json.Valid(whole) {
		raw = whole
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if !json.Valid(raw) || d.Decode(&v) != nil {
		return whole
	}
	out, err := marshal(t.cleanValue(v))
	if err != nil {
		return nil
	}
	return out
}

func (t *Tape) cleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return t.clean(v)
	case json.Number:
		if clean := t.clean(v.String()); clean != v.String() {
			return clean
		}
	case []any:
		for i := range v {
			v[i] = t.cleanValue(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = t.cleanValue(v[k])
		}
	}
	return v
}

func (c Call) who() string {
	name := c.Tool
	if name == "" {
		name = c.URI
	}
	if c.Server != "" {
		return c.Server + "/" + name
	}
	return name
}

// played returns the recorded result of a call. A call that was not recorded is a drift.
func (t *Tape) played(c Call) (json.RawMessage, error) {
	c.Arguments = t.arguments(c.Arguments)
	t.mu.Lock()
	defer t.mu.Unlock()
	other := -1
	for i, k := range t.cassette.Calls {
		if t.used.calls[i] || k.Server != c.Server || k.Tool != c.Tool || k.URI != c.URI {
			continue
		}
		if string(canonical(k.Arguments)) == string(c.Arguments) {
			t.used.calls[i] = true
			if k.Error != "" {
				return nil, &tool.Error{Message: k.Error}
			}
			return k.Result, nil
		}
		other = i
	}
	what, before := "a call more than the recording has", ""
	if other >= 0 {
		what, before = "other arguments, a call more than the recording has", ended(indent(t.cassette.Calls[other].Arguments))
	}
	t.drift(Drift{c.who(), []Change{{what, diff.Lines(before, ended(indent(c.Arguments)), around)}}})
	return nil, &tool.Error{Message: "the recording has no result of this call"}
}

// playedTool is a tool of a recorded server.
type playedTool struct {
	tool.Base
	tape         *Tape
	server, name string
	annotations  tool.Annotations
}

// Annotations are the recorded ones.
func (p *playedTool) Annotations() tool.Annotations { return p.annotations }

// Original is the name on the server.
func (p *playedTool) Original() string { return p.name }

// Call returns the recorded result.
func (p *playedTool) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	return p.tape.playedResult(Call{Server: p.server, Tool: p.name, Arguments: call.Arguments})
}

func (t *Tape) playedResult(c Call) (tool.Result, error) {
	raw, err := t.played(c)
	if err != nil {
		return tool.Result{}, err
	}
	var res result
	if err := json.Unmarshal(raw, &res); err != nil {
		return tool.Result{}, &tool.Error{Message: "the recorded result cannot be read: record it again"}
	}
	res.Result.Files = res.Files
	return res.Result, nil
}

// playedLocal is a tool of p8 whose calls are played.
type playedLocal struct {
	tool.Tool
	tape *Tape
}

// Annotations are the tool's own.
func (p playedLocal) Annotations() tool.Annotations { return tool.AnnotationsOf(p.Tool) }

// Validate is the tool's own.
func (p playedLocal) Validate(ctx context.Context, args json.RawMessage) error {
	return tool.Validate(ctx, p.Tool, args)
}

// Call returns the recorded result.
func (p playedLocal) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	return p.tape.playedResult(Call{Tool: p.Spec().Name, Arguments: call.Arguments})
}
