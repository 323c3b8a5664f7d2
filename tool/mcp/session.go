//lint:file-ignore SA1019 servers of the revisions before 2026-07-28 ask and log this way, and will for years

package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/tool"
)

// Keep-alive of a connection: two pings without an answer end it.
const (
	pingEvery  = 30 * time.Second
	pingMisses = 2
)

// lastWithQuestions is the last revision of the protocol in which a server asks during
// a call.
const lastWithQuestions = "2025-11-25"

// session is one connection to a server.
type session struct {
	server *server
	cs     *sdk.ClientSession
	log    *slog.Logger
	// ctx ends with the connection.
	ctx    context.Context
	cancel context.CancelFunc

	// tools is the server's list, cached until it changes; listing is held by the
	// goroutine that reads it.
	tools   atomic.Pointer[toolList]
	changed atomic.Int64
	listing chan struct{}

	// borrower is the call that has a connection with sampling.
	borrower atomic.Pointer[borrower]

	// turn is held by a message that must be alone; spoilt is true after such a message
	// was cancelled, which the server may not have noticed yet.
	turn   chan struct{}
	spoilt atomic.Bool

	mu sync.Mutex
	// asking are the messages under way that the server may ask about; questions are
	// those that it has asked about; moved is closed when either changes.
	asking    []*sending
	questions int
	// stray is true if a message was cancelled from outside and its server may still ask.
	stray    bool
	moved    chan struct{}
	token    int
	progress map[string]func(*sdk.ProgressNotificationParams)
	logged   atomic.Int64
}

// borrower is a call whose sampler the server may use.
type borrower struct {
	ctx     context.Context
	sampler tool.Sampler
}

// open connects to the server while ctx lasts; sampling announces that the server may
// ask a model. The connection outlives ctx.
func (s *server) open(ctx context.Context, sampling bool) (*session, error) {
	d := &delivery{}
	sess := &session{
		server: s, log: s.log, listing: make(chan struct{}, 1), turn: make(chan struct{}, 1), moved: make(chan struct{}),
		progress: map[string]func(*sdk.ProgressNotificationParams){},
	}
	sess.ctx, sess.cancel = context.WithCancel(withDelivery(s.all.ctx, d))
	timer := time.AfterFunc(s.all.o.ConnectTimeout, sess.cancel)
	left := context.AfterFunc(ctx, sess.cancel)
	err := sess.connect(d, sampling)
	inTime, awaited := timer.Stop(), left()
	if err == nil && (!inTime || !awaited) {
		_ = sess.cs.Close()
		err = context.Canceled
	}
	if err != nil {
		late := sess.ctx.Err() != nil && s.all.ctx.Err() == nil
		sess.cancel()
		if ctx.Err() != nil && s.all.ctx.Err() == nil {
			return nil, ctx.Err()
		}
		return nil, s.unreachable(err, d, late)
	}
	s.all.work.Go(func() {
		_ = sess.cs.Wait()
		_ = sess.cs.Close()
		sess.cancel()
	})
	return sess, nil
}

// connect tries the transports that the server may have.
func (s *session) connect(d *delivery, sampling bool) error {
	kind := s.server.transport()
	err := s.dial(kind, sampling)
	if kind != kindAuto {
		return err
	}
	if err == nil {
		s.server.remember(kindStreamable)
		return nil
	}
	// The specification's way to detect an older server.
	switch d.status.Load() {
	case 400, 404, 405:
	default:
		return err
	}
	if s.dial(kindSSE, sampling) != nil {
		return err
	}
	s.server.remember(kindSSE)
	return nil
}

func (s *session) dial(kind string, sampling bool) error {
	client := sdk.NewClient(
		&sdk.Implementation{Name: "p8", Version: s.server.all.o.Version},
		s.options(sampling))
	client.AddSendingMiddleware(observe)
	var o *sdk.ClientSessionOptions
	if sampling {
		// Since 2026-07-28 a server must not ask during a call; many do.
		o = &sdk.ClientSessionOptions{ProtocolVersion: lastWithQuestions}
	}
	cs, err := client.Connect(s.ctx, s.server.makeTransport(kind), o)
	if sampling && rpcError(err) != nil {
		cs, err = client.Connect(s.ctx, s.server.makeTransport(kind), nil)
	}
	if err != nil {
		return err
	}
	s.cs = cs
	return nil
}

func (s *session) options(sampling bool) *sdk.ClientOptions {
	o := &sdk.ClientOptions{
		Logger: slog.New(quiet{s.log.Handler()}),
		// No roots: p8 has no folders to show.
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{
			Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{},
		}},
		ElicitationHandler: s.elicit,
		// ask answers the questions that come instead of an answer, in order.
		MultiRoundTrip:         &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { s.changed.Add(1) },
		LoggingMessageHandler: func(_ context.Context, req *sdk.LoggingMessageRequest) {
			if s.logged.Add(1) <= maxLogLines && req.Params != nil {
				text := fmt.Sprint(req.Params.Data)
				s.log.Debug("an MCP server says", "level", string(req.Params.Level), "text", text[:min(len(text), maxLogLine)])
			}
		},
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { s.progressed(req.Params) },
		KeepAlive:                   pingEvery,
		KeepAliveFailureThreshold:   pingMisses,
	}
	if sampling {
		o.CreateMessageHandler = s.createMessage
	}
	return o
}

// over reports whether the connection has ended.
func (s *session) over() bool { return s.ctx.Err() != nil }

// during returns a context for one message, which also ends with the session.
func (s *session) during(ctx context.Context, d *delivery) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(withDelivery(ctx, d))
	stop := context.AfterFunc(s.server.all.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// watch calls f with the progress of the call that has the token.
func (s *session) watch(f func(*sdk.ProgressNotificationParams)) (token string, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token++
	token = strconv.Itoa(s.token)
	s.progress[token] = f
	return token, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.progress, token)
	}
}

// progressed passes progress on; late progress of an ended call is dropped.
func (s *session) progressed(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	s.mu.Lock()
	f := s.progress[fmt.Sprint(p.ProgressToken)]
	s.mu.Unlock()
	if f != nil {
		f(p)
	}
}

// quiet lowers the SDK's log to debug: p8 reports what matters itself.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, _ slog.Level) bool {
	return q.Handler.Enabled(ctx, slog.LevelDebug)
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return q.Handler.Handle(ctx, r)
}

func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }
func (q quiet) WithGroup(name string) slog.Handler       { return quiet{q.Handler.WithGroup(name)} }
