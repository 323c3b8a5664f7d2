// Package wiretest has the tests that all clients of model providers share. A
// provider's package defines once how its models are made:
//
//	func kit() wiretest.Provider {
//		return wiretest.Provider{Key: key, New: func(t testing.TB, c *http.Client, retries int) llm.Model {
//			return model(t, mine.Options{HTTPClient: c, MaxRetries: retries})
//		}}
//	}
//
// and runs the common tests:
//
//	kit().Play(t, "testdata/*.txt") // recorded answers, whole and byte by byte
//	kit().Retries(t, []wiretest.Retry{…})
//	kit().Fuzz(f, good, …)
//	wiretest.NoLeaks(t, key, m, options)
//	wiretest.Allocations(t, new(reader), recording)
//
// For its other tests there are providers in memory ([Says], [Refusing], [Stalling], or
// a function with [Client] and [Answer]), [Sent] for requests, and [Collect], [Show] and
// [Outcome] for answers.
//
// Only tests import it.
package wiretest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
)

// Provider is a provider's package under test.
type Provider struct {
	// New makes a model with the client and Key; retries is its MaxRetries.
	New func(t testing.TB, c *http.Client, retries int) llm.Model
	// Key must be in no error.
	Key string
	// Line formats the provider's special chunks; "" for the others. It may be nil.
	Line func(llm.Chunk) string
	// Check checks further properties of this provider. It may be nil.
	Check func(t testing.TB, chunks []llm.Chunk)
}

// Hello returns the shortest request.
func Hello() *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hello"}}}
}

// Collect sends the request and returns the chunks and the error.
func Collect(ctx context.Context, m llm.Model, req *llm.Request) (chunks []llm.Chunk, err error) {
	for c, e := range m.Stream(ctx, req) {
		if e != nil {
			return chunks, e
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// Outcome returns the text of an answer, followed by the kind of its error.
func Outcome(chunks []llm.Chunk, err error) string {
	var words []string
	for _, c := range chunks {
		if c.Kind == llm.ChunkText {
			words = append(words, c.Text)
		}
	}
	var e *llm.Error
	if errors.As(err, &e) {
		words = append(words, string(e.Kind))
	}
	return strings.Join(words, " ")
}

var ownID = regexp.MustCompile(`^call_[A-Z2-7]{26}$`)

// Show formats chunks for people, one in each line, and the final error.
func Show(chunks []llm.Chunk, err error) string { return Provider{}.show(chunks, err) }

func (p Provider) show(chunks []llm.Chunk, err error) string {
	var b strings.Builder
	for _, c := range chunks {
		if p.Line != nil {
			if line := p.Line(c); line != "" {
				b.WriteString(line + "\n")
				continue
			}
		}
		b.WriteString(showChunk(c) + "\n")
	}
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		fmt.Fprintf(&b, "error %s", e.Kind)
		if e.RetryAfter != 0 {
			fmt.Fprintf(&b, " retry after %s", e.RetryAfter)
		}
		fmt.Fprintf(&b, "\n  %s\n", e)
	case err != nil:
		fmt.Fprintf(&b, "error %T\n", err)
	}
	return b.String()
}

func showChunk(c llm.Chunk) string {
	switch c.Kind {
	case llm.ChunkText:
		return fmt.Sprintf("text %q", c.Text)
	case llm.ChunkReasoning:
		return fmt.Sprintf("reasoning %q", c.Text)
	case llm.ChunkThought:
		return fmt.Sprintf("thought %+v", *c.Thought)
	case llm.ChunkToolCall:
		if c.ID == "" {
			return fmt.Sprintf("call %d %q", c.Call, c.Text)
		}
		return fmt.Sprintf("call %d %s %s %q", c.Call, ShowID(c.ID), c.Name, c.Text)
	case llm.ChunkUsage:
		return fmt.Sprintf("usage input=%d output=%d cached=%d reasoning=%d", c.Usage.Input, c.Usage.Output, c.Usage.Cached, c.Usage.Reasoning)
	case llm.ChunkFinish:
		return fmt.Sprintf("finish %s", c.Finish)
	case llm.ChunkWarning:
		return fmt.Sprintf("warning %s: %s", c.Name, c.Text)
	}
	return fmt.Sprintf("a chunk of the unknown kind %d", c.Kind)
}

// ShowID returns the id of a call, with one word for all ids that p8 made.
func ShowID(id string) string { return ownID.ReplaceAllString(id, "OWN-ID") }
