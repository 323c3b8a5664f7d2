package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/internal/schema"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// The bounds of a server's lists.
const (
	maxTools       = 500
	maxResources   = 1000
	maxPages       = 100
	maxDescription = 4 << 10
	maxName        = 128
	// listFor is how long a list is valid: a server that restarts behind a stateless
	// connection does not announce that its tools changed.
	listFor = time.Minute
	// maxSchemas bounds all schemas of a server's tools together, in bytes: each is
	// compiled whenever the list is read.
	maxSchemas = 2 << 20
)

// toolList is a server's list of tools with the time it was read.
type toolList struct {
	tools   []tool.Tool
	until   time.Time
	changed int64
}

// Tools returns all tools of the server. The list is cached with the connection until
// the server says that it changed. Some servers offer more to a client with sampling,
// which p8 is if the context has a sampler.
func (s *server) Tools(ctx context.Context) ([]tool.Tool, error) {
	var out []tool.Tool
	err := s.bounded(ctx, func(ctx context.Context, sess *session) (err error) {
		out, err = sess.list(ctx)
		return err
	})
	return out, err
}

// bounded calls on with the connect timeout, for a message that only reads.
func (s *server) bounded(ctx context.Context, send func(context.Context, *session) error) error {
	within, cancel := context.WithTimeout(ctx, s.all.o.ConnectTimeout)
	defer cancel()
	err := s.on(within, reads, send)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return s.errorf("did not answer within %s", s.all.o.ConnectTimeout)
	}
	return err
}

func (s *session) list(ctx context.Context) ([]tool.Tool, error) {
	if known := s.fresh(); known != nil {
		return known.tools, nil
	}
	select {
	case s.listing <- struct{}{}:
		defer func() { <-s.listing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if known := s.fresh(); known != nil {
		return known.tools, nil
	}
	next := &toolList{changed: s.changed.Load(), until: time.Now().Add(listFor)}
	if caps := s.capabilities(); caps.Tools != nil {
		found, err := pages(ctx, maxTools, func(ctx context.Context, cursor string) ([]*sdk.Tool, string, error) {
			res, err := s.cs.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return res.Tools, res.NextCursor, nil
		})
		if err != nil {
			return nil, err
		}
		next.tools = s.server.usable(found)
	}
	s.tools.Store(next)
	return next.tools, nil
}

// fresh returns the list if it is still valid, else nil.
func (s *session) fresh() *toolList {
	if known := s.tools.Load(); known != nil && known.changed == s.changed.Load() && time.Now().Before(known.until) {
		return known
	}
	return nil
}

// capabilities never returns nil.
func (s *session) capabilities() *sdk.ServerCapabilities {
	if res := s.cs.InitializeResult(); res != nil && res.Capabilities != nil {
		return res.Capabilities
	}
	return &sdk.ServerCapabilities{}
}

// pages collects the pages of a list, within its bounds.
func pages[T any](ctx context.Context, most int, page func(ctx context.Context, cursor string) ([]T, string, error)) ([]T, error) {
	var all []T
	cursor := ""
	for range maxPages {
		items, next, err := page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if len(all) >= most {
			return all[:most], nil
		}
		if next == "" || next == cursor {
			break
		}
		cursor = next
	}
	return all, nil
}

// usable makes tools of a server's list, under names that providers accept, and
// records why the others are left out.
func (s *server) usable(found []*sdk.Tool) []tool.Tool {
	// A name that providers accept wins over one that had to be changed.
	taken := make(map[string]bool, len(found))
	for _, t := range found {
		if t != nil && llm.SafeName(t.Name) == t.Name {
			taken[t.Name] = true
		}
	}
	out := make([]tool.Tool, 0, len(found))
	unusable, seen := map[string]string{}, make(map[string]bool, len(found))
	room := maxSchemas
	for _, t := range found {
		if t == nil || t.Name == "" || seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		if len(t.Name) > maxName || clean(t.Name) != t.Name {
			s.log.Warn("a tool of an MCP server has a name that nobody can use", "tool", clip(t.Name))
			continue
		}
		name := t.Name
		if llm.SafeName(name) != name {
			name = uniqueName(name, taken)
			taken[name] = true
		}
		made, err := s.makeTool(t, name, &room)
		if err != nil {
			s.log.Warn("a tool of an MCP server cannot be used", "tool", t.Name, "error", err)
			unusable[t.Name] = why(err)
			continue
		}
		out = append(out, made)
	}
	s.unusable.Store(&unusable)
	return out
}

// Unusable returns why a tool of the server is left out, "" for any other.
func (s *server) Unusable(name string) string {
	if known := s.unusable.Load(); known != nil {
		return (*known)[name]
	}
	return ""
}

// why describes the problem of a tool, for the author of a document.
func why(err error) string {
	var said *tool.Error
	var excess *schema.Excess
	switch {
	case errors.As(err, &said):
		return said.Message
	case errors.As(err, &excess):
		return "the schema of its arguments asks for too much at " + clip(schema.Pointer(excess.Path)) + ": " + excess.Message
	case errors.Is(err, tool.ErrAsksCaller):
		return "an argument inside another one asks who is calling, which p8 does not let a model say"
	}
	return "the schema of its arguments is not valid"
}

func uniqueName(name string, taken map[string]bool) string {
	safe := llm.SafeName(name)
	for i := 2; taken[safe]; i++ {
		suffix := fmt.Sprintf("_%d", i)
		base := llm.SafeName(name)
		safe = base[:min(len(base), 64-len(suffix))] + suffix
	}
	return safe
}

// makeTool makes the tool; its schema counts towards the bound of the server's
// schemas.
func (s *server) makeTool(t *sdk.Tool, name string, room *int) (*remoteTool, error) {
	raw, err := json.Marshal(t.InputSchema)
	if err != nil {
		return nil, err
	}
	if len(raw) > *room {
		return nil, &tool.Error{Message: fmt.Sprintf("the schemas of the server's tools have more than %d bytes together", maxSchemas)}
	}
	*room -= len(raw)
	parameters, asks, err := normalise(raw)
	if err != nil {
		return nil, &tool.Error{Message: err.Error()}
	}
	base, err := tool.NewBase(llm.ToolSpec{Name: name, Description: shorten(t.Description), Parameters: parameters})
	if err != nil {
		return nil, err
	}
	var needs struct {
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(parameters, &needs); err != nil {
		return nil, err
	}
	return &remoteTool{
		Base: base, server: s, name: t.Name, hidden: asks, required: needs.Required, annotations: annotations(t),
	}, nil
}

// clean removes invisible characters that a terminal or a model may obey: control
// characters, and those that turn or hide text.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\uFEFF', r >= 0xE0000 && r <= 0xE007F:
			return -1
		}
		return r
	}, text)
}

// shorten returns a server's own text within its bound.
func shorten(text string) string {
	if len(text) > maxDescription {
		return clean(strings.ToValidUTF8(text[:maxDescription], "")) + "…"
	}
	return clean(text)
}

func annotations(t *sdk.Tool) tool.Annotations {
	a := tool.Annotations{Title: t.Title}
	if hints := t.Annotations; hints != nil {
		if a.Title == "" {
			a.Title = hints.Title
		}
		a.ReadOnly, a.Idempotent = hints.ReadOnlyHint, hints.IdempotentHint
		// By the protocol a tool without these hints is destructive and open-world.
		a.Destructive = !hints.ReadOnlyHint && (hints.DestructiveHint == nil || *hints.DestructiveHint)
		a.OpenWorld = hints.OpenWorldHint == nil || *hints.OpenWorldHint
	}
	if raw, err := json.Marshal(t.OutputSchema); err == nil && t.OutputSchema != nil {
		a.Output = raw
	}
	return a
}
