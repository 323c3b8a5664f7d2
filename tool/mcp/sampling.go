//lint:file-ignore SA1019 servers of the revisions before 2026-07-28 ask and log this way, and will for years

package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// The bounds of the connections of calls with sampling.
const (
	maxSamplers    = 8
	keepSampler    = time.Minute
	maxAskMessages = 200
)

// pool has connections for one call at a time: a server's question does not name its
// call, so the connection must.
type pool struct {
	server *server
	slots  chan struct{}

	mu     sync.Mutex
	idle   []idleSession
	closed bool
}

type idleSession struct {
	*session
	timer *time.Timer
}

func (p *pool) init(s *server) {
	p.server, p.slots = s, make(chan struct{}, maxSamplers)
}

// on sends a message over the shared connection, or over one of its own if the context
// has a sampler.
func (s *server) on(ctx context.Context, e effect, send func(context.Context, *session) error) error {
	if sampler := tool.SamplerFrom(ctx); sampler != nil {
		return s.samplers.do(ctx, sampler, e, send)
	}
	return s.do(ctx, e, send)
}

// do is the server's do on a connection that only this call uses and whose questions
// go to the sampler.
func (p *pool) do(ctx context.Context, sampler tool.Sampler, e effect, send func(context.Context, *session) error) error {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for attempt := 0; ; attempt++ {
		sess, err := p.take(ctx)
		if err != nil {
			return err
		}
		d := &delivery{}
		err = p.server.once(ctx, sess, d, func(ctx context.Context, sess *session) error {
			sess.borrower.Store(&borrower{ctx, sampler})
			defer sess.borrower.Store(nil)
			return send(ctx, sess)
		})
		// The server of a cancelled call may still ask: the connection is not used
		// again.
		spoilt := err != nil && (ctx.Err() != nil || isLost(err, d, sess))
		p.give(sess, spoilt || sess.spoilt.Load())
		if attempt == 0 && ctx.Err() == nil && again(err, d, spoilt, e) {
			continue
		}
		return p.server.explain(ctx, err, d)
	}
}

// take returns an idle connection or a new one.
func (p *pool) take(ctx context.Context) (*session, error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		last := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if last.timer.Stop() && !last.over() {
			p.mu.Unlock()
			return last.session, nil
		}
		// Its idle time has just ended, and forget does not find it any more.
		p.server.all.work.Go(last.end)
	}
	p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := p.server.recently(); err != nil {
		return nil, err
	}
	since := time.Now()
	sess, err := p.server.open(ctx, true)
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	switch {
	case err == nil:
		p.server.failed, p.server.failures = nil, 0
	case ctx.Err() == nil:
		p.server.failedWith(err, since)
	}
	return sess, err
}

// give returns a connection to the pool.
func (p *pool) give(sess *session, spoilt bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if spoilt || p.closed || sess.over() {
		p.server.all.work.Go(sess.end)
		return
	}
	kept := idleSession{session: sess}
	kept.timer = time.AfterFunc(keepSampler, func() { p.forget(sess) })
	p.idle = append(p.idle, kept)
}

func (p *pool) forget(sess *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, kept := range p.idle {
		if kept.session == sess {
			p.idle = append(p.idle[:i:i], p.idle[i+1:]...)
			p.server.all.work.Go(sess.end)
			return
		}
	}
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, kept := range idle {
		kept.timer.Stop()
		kept.end()
	}
}

// recently returns the error of a recent failed attempt to connect.
func (s *server) recently() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return stopping()
	case s.failed != nil && time.Now().Before(s.until):
		return s.failed
	}
	return nil
}

// createMessage answers a server's question with the model of the call that has the
// connection.
func (s *session) createMessage(ctx context.Context, req *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	b := s.borrower.Load()
	if b == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the model may be asked during a tool call only"}
	}
	question, err := samplingRequest(req.Params)
	if err != nil {
		return nil, err
	}
	asked, cancel := context.WithCancel(b.ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	model, answer, finish, err := b.sampler.Sample(asked, question)
	if err != nil {
		return nil, s.noAnswer(ctx, err)
	}
	return &sdk.CreateMessageResult{
		Model: model, Role: "assistant", StopReason: stopReason(finish),
		Content: &sdk.TextContent{Text: answer.Content},
	}, nil
}

// noAnswer hides the model's error from the server.
func (s *session) noAnswer(ctx context.Context, err error) error {
	s.log.WarnContext(ctx, "the model did not answer an MCP server", "error", err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the model gave no answer"}
}

func stopReason(f llm.Finish) string {
	switch f {
	case llm.FinishLength:
		return "maxTokens"
	case llm.FinishToolCalls:
		return "toolUse"
	}
	return "endTurn"
}

// samplingRequest converts a server's question to a request to the model. The server
// does not choose the model.
func samplingRequest(p *sdk.CreateMessageParams) (*llm.Request, error) {
	if p == nil || len(p.Messages) == 0 || len(p.Messages) > maxAskMessages {
		return nil, invalid("a question has 1 to 200 messages")
	}
	req := &llm.Request{}
	if p.SystemPrompt != "" {
		req.Messages = append(req.Messages, llm.Message{Role: llm.System, Content: p.SystemPrompt})
	}
	for _, m := range p.Messages {
		if m == nil {
			return nil, invalid("a message is null")
		}
		message := llm.Message{Role: llm.User}
		if m.Role == "assistant" {
			message.Role = llm.Assistant
		}
		switch c := m.Content.(type) {
		case *sdk.TextContent:
			message.Content = c.Text
		case *sdk.ImageContent:
			message.Parts = []llm.Part{{Kind: llm.Image, MediaType: c.MIMEType, Data: c.Data}}
		default:
			return nil, invalid("a message holds something else than text or an image")
		}
		req.Messages = append(req.Messages, message)
	}
	// On the wire, a temperature of 0 cannot be told from none.
	if p.Temperature != 0 {
		req.Settings.Temperature = &p.Temperature
	}
	req.Settings.MaxTokens = int(max(p.MaxTokens, 0))
	req.Settings.Stop = p.StopSequences
	return req, nil
}

func invalid(text string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}
