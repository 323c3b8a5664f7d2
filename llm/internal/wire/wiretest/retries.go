package wiretest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// Retry is a list of a provider's answers and the expected outcome.
type Retry struct {
	Name string
	// Replies are the answers, in order; nil is a connection that is refused.
	Replies []*http.Response
	// Retries is the model's MaxRetries, Deadline the caller's if it has one, Once
	// the request's.
	Retries  int
	Deadline time.Duration
	Once     bool
	// Want is the expected Outcome, after so many requests and so much time.
	Want     string
	Calls    int
	Min, Max time.Duration
}

// Retries plays each list of answers and checks the outcome and the time. Every try must
// send the same body. The time is synctest's, from the year 2000 on.
func (p Provider) Retries(t *testing.T, tests []Retry) {
	for _, tt := range tests {
		t.Run(tt.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls, first := 0, ""
				m := p.New(t, Client(func(r *http.Request) (*http.Response, error) {
					sent, _ := io.ReadAll(r.Body)
					if calls == 0 {
						first = string(sent)
					}
					if string(sent) != first {
						t.Errorf("try %d sent another body", calls+1)
					}
					calls++
					if reply := tt.Replies[calls-1]; reply != nil {
						return reply, nil
					}
					return nil, errors.New("connection refused")
				}), tt.Retries)
				req, ctx, start := Hello(), Within(t, tt.Deadline), time.Now()
				req.Once = tt.Once
				chunks, err := Collect(ctx, m, req)
				took := time.Since(start)
				if got := Outcome(chunks, err); got != tt.Want || calls != tt.Calls || took < tt.Min || took > tt.Max {
					t.Errorf("got %q (%v) with %d calls after %v; want %q with %d calls after %v to %v", got, err, calls, took, tt.Want, tt.Calls, tt.Min, tt.Max)
				}
			})
		})
	}
}

// Within returns the test's context with a deadline, unless it is 0.
func Within(t testing.TB, deadline time.Duration) context.Context {
	if deadline == 0 {
		return t.Context()
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	return ctx
}
