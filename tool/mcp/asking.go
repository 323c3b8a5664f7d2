package mcp

import (
	"context"
	"errors"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/tool"
)

// maxRounds bounds the rounds of questions of one call.
const maxRounds = 10

// asking is a message to a server, which may ask the user before it answers.
type asking struct {
	ctx   context.Context
	asker tool.Asker // nil: the user cannot be asked

	mu sync.Mutex
	// cancel cancels the message while it is under way; over is closed when it has
	// ended.
	cancel context.CancelFunc
	over   chan struct{}
	// failed is why there is no answer, usually tool.ErrPaused. again means that the
	// message is sent once more, alone.
	failed error
	again  bool
}

func newAsking(ctx context.Context) *asking {
	return &asking{ctx: ctx, asker: tool.AskerFrom(ctx)}
}

// why returns why there is no answer, nil if there is one.
func (a *asking) why() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed
}

// answered drops a question that came too late: the server has answered.
func (a *asking) answered() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = nil
}

// fail records why there is no answer; the first reason counts.
func (a *asking) fail(reason error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.failed = reason
	}
}

// breakOff cancels the message, if it is under way, and waits until its server knows;
// a nil reason sends it again.
func (a *asking) breakOff(ctx context.Context, reason error) {
	a.mu.Lock()
	over := a.over
	if a.cancel != nil {
		if a.failed == nil {
			a.failed, a.again = reason, reason == nil
		}
		a.cancel()
	}
	a.mu.Unlock()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// begin and end mark the time that the message is under way.
func (a *asking) begin(cancel context.CancelFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cancel, a.over, a.again = cancel, make(chan struct{}), false
}

func (a *asking) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cancel()
	a.cancel = nil
	close(a.over)
}

// resend reports whether the message is sent once more.
func (a *asking) resend() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.again
}

// exchange is one message to a server: its answer, or its questions instead of one
// with the state that it wants back.
type exchange func(ctx context.Context, responses sdk.InputResponseMap, state string) (requests sdk.InputRequestMap, next string, err error)

// ask sends a message and answers the server's questions until the server answers. If
// the user has not answered yet, ask ends without an error and a.why says so.
func (s *session) ask(ctx context.Context, a *asking, send exchange) error {
	var responses sdk.InputResponseMap
	state, signedIn := "", false
	for range maxRounds {
		requests, next, err := s.once(ctx, a, responses, state, send)
		switch {
		case err == nil && requests == nil:
			a.answered()
			return nil
		case err != nil && a.why() != nil:
			s.spoilt.Store(true)
			return nil
		case err != nil && a.resend() && ctx.Err() == nil:
			responses, state = nil, ""
			continue
		case err != nil && !signedIn && s.signIn(a, err):
			signedIn = true
			continue
		case err != nil && a.why() != nil:
			return nil
		case err != nil:
			return err
		}
		if responses, err = s.respond(ctx, a, requests); err != nil || a.why() != nil {
			return err
		}
		state = next
	}
	return s.server.errorf("asks again and again")
}

// once sends a message, which breakOff may cancel.
func (s *session) once(ctx context.Context, a *asking, responses sdk.InputResponseMap, state string, send exchange) (sdk.InputRequestMap, string, error) {
	if s.server.alone.Load() {
		select {
		case s.turn <- struct{}{}:
			defer func() { <-s.turn }()
		case <-ctx.Done():
			return nil, "", ctx.Err()
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	a.begin(cancel)
	defer a.end()
	s.underWay(func() { s.asking = append(s.asking, a) })
	defer s.underWay(func() { s.asking = slices.DeleteFunc(s.asking, func(b *asking) bool { return a == b }) })
	return send(ctx, responses, state)
}

// underWay changes the set of messages under way, and wakes those that wait for a
// change.
func (s *session) underWay(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.moved)
	s.moved = make(chan struct{})
}

// errNotAlone means that a question cannot be answered now: its call is made again.
var errNotAlone = errors.New("mcp: nobody can tell which call asks")

// whose returns the message that a question of the server belongs to; nil if nobody
// can be asked. The question does not name it. While others are under way, whose waits
// until they end or ask too; then all of them are sent again, one after the other.
func (s *session) whose(ctx context.Context) (*asking, error) {
	s.underWay(func() { s.questions++ })
	defer s.underWay(func() { s.questions-- })
	for {
		s.mu.Lock()
		moved, others := s.moved, len(s.asking)
		switch {
		case !slices.ContainsFunc(s.asking, func(a *asking) bool { return a.asker != nil }):
			s.mu.Unlock()
			return nil, nil
		case others == 1:
			a := s.asking[0]
			s.mu.Unlock()
			return a, nil
		case s.questions >= others:
			all := slices.Clone(s.asking)
			s.mu.Unlock()
			s.server.alone.Store(true)
			for _, a := range all {
				a.breakOff(ctx, nil)
			}
			return nil, errNotAlone
		}
		s.mu.Unlock()
		s.server.alone.Store(true)
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
