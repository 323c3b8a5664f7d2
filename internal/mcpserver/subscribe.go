package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/identity"
)

// The limits of the subscriptions of one session.
const (
	maxSubscriptions = 100
	maxURI           = 2048
)

// agentsURI is the resource that changes with every agent that is a tool.
const agentsURI = "rem://agents"

// subscriptions are the resources that each session listens to. The SDK has the same
// list and sends the notifications; this one is bounded and knows the caller of each
// session.
type subscriptions struct {
	mu   sync.Mutex
	open map[*sdk.ServerSession]*subscriber
}

type subscriber struct {
	tenant, user string
	uris         map[string]bool
}

// subscribe adds a session's subscription. The resource need not exist yet.
func (s *Server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	id, err := identity.From(ctx)
	if err != nil {
		return s.refused(ctx, "subscribe", err)
	}
	uri := req.Params.URI
	if uri == "" || len(uri) > maxURI {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("a URI has 1 to %d bytes", maxURI)}
	}
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	if s.closing.Err() != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server is shutting down"}
	}
	who := s.subs.open[req.Session]
	if who == nil {
		who = &subscriber{tenant: id.TenantID, user: id.UserID, uris: map[string]bool{}}
		if s.subs.open == nil {
			s.subs.open = map[*sdk.ServerSession]*subscriber{}
		}
		s.subs.open[req.Session] = who
		s.work.Go(func() { s.forget(req.Session) })
	}
	if len(who.uris) >= maxSubscriptions && !who.uris[uri] {
		return &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidParams,
			Message: fmt.Sprintf("this session listens to %d resources already, which is the most: unsubscribe from one", maxSubscriptions),
		}
	}
	who.uris[uri] = true
	return nil
}

func (s *Server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	if who := s.subs.open[req.Session]; who != nil {
		delete(who.uris, req.Params.URI)
	}
	return nil
}

// forget waits for the end of a session and removes its subscriptions from both lists;
// the SDK would keep their URIs.
func (s *Server) forget(session *sdk.ServerSession) {
	_ = session.Wait()
	s.subs.mu.Lock()
	who := s.subs.open[session]
	delete(s.subs.open, session)
	s.subs.mu.Unlock()
	for uri := range who.uris {
		_, _ = s.next(context.Background(), "resources/unsubscribe",
			&sdk.UnsubscribeRequest{Session: session, Params: &sdk.UnsubscribeParams{URI: uri}})
	}
}

// callerKey carries the caller whose resource changed from Changed to send.
const callerKey = "p8/owner"

// Changed notifies the clients that listen to a resource that it has changed. With an
// identity in ctx only that caller's sessions are notified; a change by an anonymous
// caller is one of shared rows, which the whole tenant sees. Without an identity all
// sessions are notified.
func (s *Server) Changed(ctx context.Context, uri string) {
	params := &sdk.ResourceUpdatedNotificationParams{URI: uri}
	if id, err := identity.From(ctx); err == nil {
		params.Meta = sdk.Meta{callerKey: id}
	}
	_ = s.sdk.ResourceUpdated(ctx, params)
	if uri == agentsURI || strings.HasPrefix(uri, agentsURI+"/") {
		s.announceTools()
	}
}

// touched returns the URIs that a call of the tool changed.
func (s *Server) touched(name, answer string) []string {
	var said map[string]any
	var out []string
	for _, uri := range s.o.Touches[name] {
		before, rest, ok := strings.Cut(uri, "{")
		if !ok {
			out = append(out, uri)
			continue
		}
		if said == nil && json.Unmarshal([]byte(answer), &said) != nil {
			continue
		}
		field, after, _ := strings.Cut(rest, "}")
		if value, _ := said[field].(string); value != "" {
			out = append(out, before+url.PathEscape(value)+after)
		}
	}
	return out
}

// send drops notifications about another caller's resources.
func (s *Server) send(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		p, ok := req.GetParams().(*sdk.ResourceUpdatedNotificationParams)
		session, isServer := req.GetSession().(*sdk.ServerSession)
		if !ok || !isServer {
			return next(ctx, method, req)
		}
		caller, has := p.Meta[callerKey].(identity.Identity)
		if !has {
			return next(ctx, method, req)
		}
		if !s.subs.concerns(session, caller) {
			return nil, nil
		}
		sent := &sdk.ResourceUpdatedNotificationParams{URI: p.URI, Meta: sdk.Meta{}}
		for key, value := range p.Meta {
			if key != callerKey {
				sent.Meta[key] = value
			}
		}
		return next(ctx, method, &sdk.ServerRequest[*sdk.ResourceUpdatedNotificationParams]{Session: session, Params: sent})
	}
}

// concerns reports whether a session is the caller's, or of the tenant that shares the
// row.
func (l *subscriptions) concerns(session *sdk.ServerSession, caller identity.Identity) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	who := l.open[session]
	return who != nil && who.tenant == caller.TenantID && (caller.Anonymous() || who.user == caller.UserID)
}
