package mcp

import (
	"context"
	"errors"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/tool"
)

// maxRounds bounds how often one call is answered with questions.
const maxRounds = 10

// asking is a message to a server that may ask the user before it answers.
type asking struct {
	ctx   context.Context
	asker tool.Asker // nil: nobody can be asked

	mu sync.Mutex
	// cancel breaks the message off while it is under way; over is closed then.
	cancel context.CancelFunc
	over   chan struct{}
	// failed is why there is no answer: tool.ErrPaused, as a rule. again says that
	// the message is to be sent once more, alone.
	failed error
	again  bool
}

func newAsking(ctx context.Context) *asking {
	return &asking{ctx: ctx, asker: tool.AskerFrom(ctx)}
}

// why is why there is no answer, nil when there is nothing to wait for.
func (a *asking) why() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed
}

// answered forgets a question that came too late: the server did not wait.
func (a *asking) answered() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = nil
}

// fail says why there is no answer; the first reason counts.
func (a *asking) fail(reason error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.failed = reason
	}
}

// breakOff ends the message, if it is still under way, and waits until its server
// has been told; a nil reason sends it again.
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

// begin and end are around the time that the message is under way.
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

// resend reports whether the message is to be sent once more.
func (a *asking) resend() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.again
}

// exchange is one message to a server: the server's answer, or what it asks
// instead of one and the state it wants back.
type exchange func(ctx context.Context, responses sdk.InputResponseMap, state string) (requests sdk.InputRequestMap, next string, err error)

// ask sends a message until the server has answered, and answers what it asks
// meanwhile. Where the user has not answered yet, it ends without an error, and
// a.why says it.
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
	return s.server.says("asks again and again")
}

// once sends a message, which may be broken off while it is under way.
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

// underWay changes what is under way, and tells those who wait for that.
func (s *session) underWay(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.moved)
	s.moved = make(chan struct{})
}

// errNotAlone says that a question cannot be answered now: its call is made
// again.
var errNotAlone = errors.New("mcp: nobody can tell which call asks")

// whose is the message that a question of the server belongs to; nil when nobody
// can be asked. A question does not say that itself. While there are others under
// way it waits until they are over, or ask too; then all of them are sent again,
// one after the other.
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
