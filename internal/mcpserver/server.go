// Package mcpserver offers p8 to MCP clients: desktop assistants, editors, other
// people's agents.
//
// [New] makes one server of the tools and resources of this process. [Server.Handler]
// serves it over streamable HTTP, in the revisions with sessions and in the stateless
// one; [Server.Stdio] over a pipe. Both give a client what an agent of this process
// has: the same tools, the same checks, the same error texts. Agents can be tools too;
// a call of one is a turn of chat.
//
// The caller of each request is the identity of the HTTP request, not of the one that
// began the session; a session belongs to the caller who began it. The resources and
// agents that a client sees depend on the caller, so these lists are made for each
// request and never cached for others.
//
// The official SDK implements the protocol. This package extends its server through
// one middleware, see [Server.receive].
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
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/telemetry"
	"github.com/p8-org/p8/tool"
)

// Catalog finds the agents that are offered as tools. Implemented by *catalog.Catalog.
type Catalog interface {
	Agent(ctx context.Context, name string) (*agent.Agent, error)
	List(ctx context.Context, kind string) ([]catalog.Entry, error)
}

// Chat runs the agents' turns. Implemented by *chat.Service.
type Chat interface {
	Start(ctx context.Context, req chat.Request) (*chat.Turn, error)
	// Open, Requests and Decide are for runs that wait for their user.
	Open(ctx context.Context, runID string) (*chat.Turn, store.Run, error)
	Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error)
	Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, *chat.Turn, error)
}

// Completer completes the placeholders of templates.
type Completer interface {
	// Complete returns the values for a placeholder of a template that begin with
	// prefix, the best first.
	Complete(ctx context.Context, template, argument, prefix string) []string
}

// Options are what a Server offers. The zero value offers the prompt alone.
type Options struct {
	Tools []tool.Tool
	// Resources may be nil, and so may Completer.
	Resources tool.Resources
	Completer Completer
	// Touches maps a tool's name to the URIs that its success changes; a {placeholder}
	// is a text field of its answer.
	Touches map[string][]string
	// ExposeAgents are the agents that are offered as tools, by name; "*" is every
	// agent that the caller may use. They need Catalog and Chat.
	ExposeAgents []string
	Catalog      Catalog
	Chat         Chat

	// Instructions tell a client's model the purpose of this server; "" is p8's own
	// text.
	Instructions string
	// Version is the program's.
	Version string
	// ToolTimeout bounds a tool call, and every other request; 60 s when 0. An agent's
	// turn has its own limit.
	ToolTimeout time.Duration
	// AskWithin is how long the user of a client with a session may take to answer a
	// question; 10 min when 0.
	AskWithin time.Duration
	// MaxSessions bounds the sessions and streams over HTTP, 1000 when 0;
	// SessionTimeout ends an idle session, 30 min when 0.
	MaxSessions    int
	SessionTimeout time.Duration
	// MaxBody bounds a request's body in bytes; 4 MiB when 0.
	MaxBody int64
	// WriteTimeout is how long one write waits for a client that does not read;
	// 30 s when 0.
	WriteTimeout time.Duration
	// PageSize is that of the lists; 200 when 0.
	PageSize int
	// Extend may register more with the SDK's server; nil registers nothing.
	Extend func(*sdk.Server)
	// Telemetry records requests; nil records those of contexts that have one.
	Telemetry *telemetry.Telemetry
	Logger    *slog.Logger
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
	// next is the SDK's own handling of a request.
	next sdk.MethodHandler

	closing context.Context
	close   context.CancelFunc
	work    sync.WaitGroup
}

// New makes a server. It fails if a tool's schema is invalid, two tools share a name,
// or agents are exposed without Catalog and Chat.
func New(o Options) (*Server, error) {
	o.ToolTimeout = cmp.Or(o.ToolTimeout, defaultToolTimeout)
	o.AskWithin = cmp.Or(o.AskWithin, defaultAskWithin)
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
			// Lists and resources depend on the caller.
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
	s.sdk.AddReceivingMiddleware(s.observed) // the last one is the first to see a request
	s.sdk.AddSendingMiddleware(s.send)
	return s, nil
}

// private tells caches between a client and this server not to show one caller's
// answer to another.
var private = sdk.Cacheable{CacheScope: "private"}

// addTool registers a tool. The SDK panics for invalid schemas, so they are checked
// before.
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

// register registers a tool with the SDK, which notifies the clients.
func (s *Server) register(t tool.Tool) {
	s.sdk.AddTool(describe(t), func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return s.inRounds(ctx, req, func(ctx context.Context, answers sdk.InputResponseMap, _ string) *sdk.CallToolResult {
			return s.callTool(ctx, t, req, answers)
		}), nil
	})
}

// Close ends the calls and sessions under way and waits for them.
func (s *Server) Close() {
	// Refuses the next subscription.
	s.subs.mu.Lock()
	s.close()
	s.subs.mu.Unlock()
	for session := range s.sdk.Sessions() {
		_ = session.Close()
	}
	s.work.Wait()
}
