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

// asking is a message to a server that may ask the user before it answers.
type asking struct {
	ctx   context.Context
	asker tool.Asker // nil: the user cannot be asked
	// repeats is true if the message may be sent twice, because it reads or is
	// idempotent.
	repeats bool

	mu sync.Mutex
	// failed is why there is no answer, usually tool.ErrPaused. again is true if the
	// message is sent once more, alone.
	failed error
	again  bool
}

// sending is one attempt to send a message.
type sending struct {
	*asking
	cancel context.CancelFunc
	over   chan struct{} // closed when it has ended
	// cancelled, which the session's lock guards, is true if it ended without an answer
	// because it was cancelled; stray if it was cancelled from outside; excused if a
	// question has already been attributed to it.
	cancelled, stray, excused bool
}

func newAsking(ctx context.Context, repeats bool) *asking {
	return &asking{ctx: ctx, asker: tool.AskerFrom(ctx), repeats: repeats}
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

// begin starts an attempt to send the message.
func (a *asking) begin(cancel context.CancelFunc) *sending {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.again = false
	return &sending{asking: a, cancel: cancel, over: make(chan struct{})}
}

// end ends the attempt.
func (m *sending) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancel()
	close(m.over)
}

// breakOff cancels the attempt, if it is under way, and waits until the server knows.
// With a nil reason the message is sent again.
func (m *sending) breakOff(ctx context.Context, reason error) {
	m.mu.Lock()
	select {
	case <-m.over:
	default:
		if m.failed == nil {
			m.failed, m.again = reason, reason == nil
		}
		m.cancel()
	}
	m.mu.Unlock()
	select {
	case <-m.over:
	case <-ctx.Done():
	}
}

// resend reports whether the message is sent once more.
func (a *asking) resend() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.again
}

// exchange sends one message to a server. It returns the answer, or else questions and a
// state that the server wants back with the responses.
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
	if s.server.alone.now() {
		select {
		case s.turn <- struct{}{}:
			defer func() { <-s.turn }()
		case <-ctx.Done():
			return nil, "", ctx.Err()
		}
	}
	outside := ctx
	ctx, cancel := context.WithCancel(ctx)
	m := a.begin(cancel)
	defer m.end()
	s.underWay(func() { s.asking = append(s.asking, m) })
	defer s.underWay(func() {
		m.cancelled, m.stray = ctx.Err() != nil, outside.Err() != nil
		s.stray = s.stray || m.stray && !m.excused
		s.asking = slices.DeleteFunc(s.asking, func(other *sending) bool { return m == other })
	})
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

// excuse reports whether one of the messages that may have asked was cancelled from
// outside. If only one was, the question is attributed to it, and the next question is
// not.
func (s *session) excuse(all, left []*sending) bool {
	strays := slices.DeleteFunc(slices.Clone(all), func(m *sending) bool {
		return !m.stray && !(m.ctx.Err() != nil && slices.Contains(left, m))
	})
	if len(strays) == 1 {
		strays[0].excused = true
		s.stray = s.stray && !strays[0].stray
	}
	return len(strays) > 0
}

// errNotAlone means that a question cannot be answered now: its call is made again.
var errNotAlone = errors.New("mcp: the question may belong to several calls")

// errStray means that a question may be that of a call that was cancelled from outside.
var errStray = errors.New("mcp: the call that asks may be cancelled")

// whose returns the message that a server's question belongs to, which the question does
// not name; nil if nobody can be asked. While other messages are under way, whose waits
// until each has ended or asked too; then all of them are sent again, one after the
// other. The remaining ones are also sent again if one of them was sent again or paused
// meanwhile.
//
// The first question after a call was cancelled from outside gets no answer, because it
// may belong to that call. The other messages may not have asked and may already have an
// effect: only those that may be sent twice are sent again, and ask again if they asked.
func (s *session) whose(ctx context.Context) (*sending, error) {
	var all []*sending // those that may have asked
	stray := false
	s.underWay(func() {
		s.questions++
		all = slices.Clone(s.asking)
		stray, s.stray = s.stray, false
	})
	defer s.underWay(func() { s.questions-- })
	s.server.alone.asked()
	for {
		s.mu.Lock()
		moved, waiting := s.moved, s.questions >= len(s.asking)
		cancelled := slices.ContainsFunc(all, func(m *sending) bool { return m.cancelled })
		left := slices.DeleteFunc(slices.Clone(all), func(m *sending) bool { return !slices.Contains(s.asking, m) })
		stray = s.excuse(all, left) || stray
		s.mu.Unlock()
		switch {
		case stray:
			for _, m := range left {
				if m.asker != nil && m.repeats {
					m.breakOff(ctx, nil)
				}
			}
			return nil, errStray
		case !slices.ContainsFunc(left, func(m *sending) bool { return m.asker != nil }):
			return nil, nil
		case len(left) == 1 && !cancelled:
			return left[0], nil
		case waiting || cancelled:
			s.server.alone.begin()
			for _, m := range left {
				m.breakOff(ctx, nil)
			}
			return nil, errNotAlone
		}
		s.server.alone.begin()
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
