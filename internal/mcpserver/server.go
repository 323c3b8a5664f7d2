// Package mcpserver offers p8 to MCP clients: desktop assistants, editors, other
// people's agents.
//
// [New] makes one server of the tools and resources of this process.
// [Server.Handler] serves it over streamable HTTP, in the revisions with sessions
// and in the stateless one; [Server.Stdio] over a pipe. Both give a client
// what an agent of this process has: the same tools, the same checks, the same
// words when a call fails. Agents can be tools of their own, whose call is a
// turn of chat.
//
// The caller of each request is the identity that the HTTP request came with,
// not the one that began the session; a session belongs to whoever began it.
// What a client sees (resources, agents) depends on who is asking, so these
// lists are made for each request and never cached for others.
//
// The protocol is the official SDK's work. This package fills its server
// through one middleware, see [Server.receive].
package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/tool"
)

// Catalog finds the agents that are offered as tools; *catalog.Catalog is one.
type Catalog interface {
	Agent(ctx context.Context, name string) (*agent.Agent, error)
	List(ctx context.Context, kind string) ([]catalog.Entry, error)
}

// Chat runs their turns; *chat.Service is one.
type Chat interface {
	Start(ctx context.Context, req chat.Request) (*chat.Turn, error)
}

// Completer finishes what a person began to write.
type Completer interface {
	// Complete is the values for a placeholder of a template that begin with
	// prefix, the best first.
	Complete(ctx context.Context, template, argument, prefix string) []string
}

// Options are what a Server offers. The zero value offers the prompt alone.
type Options struct {
	Tools []tool.Tool
	// Resources may be nil, and so may Completer, which completes the placeholders
	// of their templates.
	Resources tool.Resources
	Completer Completer
	// Touches are the URIs that a tool's success changes, by the tool's name; a
	// {placeholder} is a text of its answer.
	Touches map[string][]string
	// ExposeAgents are the agents that are tools of their own, by name; "*" is all
	// that the caller may use. They need Catalog and Chat.
	ExposeAgents []string
	Catalog      Catalog
	Chat         Chat

	// Instructions tell a client's model what this server is for; "" is a text of
	// p8's own.
	Instructions string
	// Version is the program's.
	Version string
	// ToolTimeout bounds a call of a tool, and every other request; 60 s when 0. An
	// agent's turn has its own bound.
	ToolTimeout time.Duration
	// MaxSessions bounds the sessions and streams over HTTP, 1000 when 0;
	// SessionTimeout is how long one may be idle, 30 min when 0.
	MaxSessions    int
	SessionTimeout time.Duration
	// MaxBody bounds a request's body in bytes; 4 MiB when 0.
	MaxBody int64
	// WriteTimeout is how long one write waits for a client that does not read;
	// 30 s when 0.
	WriteTimeout time.Duration
	// PageSize of the lists; 200 when 0.
	PageSize int
	// Extend may register more with the SDK's server.
	Extend func(*sdk.Server)
	Logger *slog.Logger
}

// The defaults of Options.
const (
	defaultToolTimeout    = 60 * time.Second
	defaultMaxSessions    = 1000
	defaultSessionTimeout = 30 * time.Minute
	defaultMaxBody        = 4 << 20
	defaultWriteTimeout   = 30 * time.Second
	defaultPageSize       = 200
)

// Server is p8 as an MCP server.
type Server struct {
	o   Options
	sdk *sdk.Server
	// tools are those of Options by name.
	tools map[string]tool.Tool
	subs  subscriptions
	// next handles a request as the SDK alone would.
	next sdk.MethodHandler

	closing context.Context
	close   context.CancelFunc
	work    sync.WaitGroup
}

// New makes a server. It is an error if a tool's schema is not valid, two tools
// share a name, or agents are exposed without Catalog and Chat.
func New(o Options) (*Server, error) {
	o.ToolTimeout = cmp.Or(o.ToolTimeout, defaultToolTimeout)
	o.MaxSessions = cmp.Or(o.MaxSessions, defaultMaxSessions)
	o.SessionTimeout = cmp.Or(o.SessionTimeout, defaultSessionTimeout)
	o.MaxBody = cmp.Or(o.MaxBody, defaultMaxBody)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, defaultWriteTimeout)
	o.PageSize = cmp.Or(o.PageSize, defaultPageSize)
	o.Instructions = cmp.Or(o.Instructions, instructions)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if len(o.ExposeAgents) > 0 && (o.Catalog == nil || o.Chat == nil) {
		return nil, errors.New("mcpserver: exposed agents need a catalog and a chat")
	}
	s := &Server{o: o, tools: make(map[string]tool.Tool)}
	s.closing, s.close = context.WithCancel(context.Background())
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: "p8", Title: "p8", Version: cmp.Or(o.Version, "0.0.0")},
		&sdk.ServerOptions{
			Instructions: o.Instructions, PageSize: o.PageSize, Logger: demote(o.Logger),
			Capabilities:      s.capabilities(),
			CompletionHandler: s.complete,
			SubscribeHandler:  s.subscribe, UnsubscribeHandler: s.unsubscribe,
			// What is listed and read is the caller's.
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { *c = private },
		})
	for _, t := range o.Tools {
		if err := s.addTool(t); err != nil {
			return nil, err
		}
	}
	s.sdk.AddPrompt(createAgentPrompt(), s.createAgent)
	if o.Extend != nil {
		o.Extend(s.sdk)
	}
	s.sdk.AddReceivingMiddleware(s.receive)
	s.sdk.AddSendingMiddleware(s.send)
	return s, nil
}

// private keeps the caches between a client and this server from giving one
// caller what another was shown.
var private = sdk.Cacheable{CacheScope: "private"}

// addTool registers a tool; the SDK panics at schemas that are not valid, so
// they are looked at before.
func (s *Server) addTool(t tool.Tool) error {
	name := t.Spec().Name
	if _, err := tool.NewBase(t.Spec()); err != nil {
		return fmt.Errorf("mcpserver: %w", err)
	}
	if s.tools[name] != nil {
		return fmt.Errorf("mcpserver: two tools are named %q", name)
	}
	if output := tool.AnnotationsOf(t).Output; len(output) > 0 && !json.Valid(output) {
		return fmt.Errorf("mcpserver: the output schema of the tool %s is not valid JSON", name)
	}
	s.tools[name] = t
	s.register(t)
	return nil
}

// register makes a tool known to the SDK, which tells the clients.
func (s *Server) register(t tool.Tool) {
	s.sdk.AddTool(describe(t), func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return s.callTool(ctx, t, req), nil
	})
}

// Close ends the calls and sessions under way and waits for them.
func (s *Server) Close() {
	// Between two subscriptions: the next one is refused.
	s.subs.mu.Lock()
	s.close()
	s.subs.mu.Unlock()
	for session := range s.sdk.Sessions() {
		_ = session.Close()
	}
	s.work.Wait()
}
