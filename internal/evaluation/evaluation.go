// Package evaluation judges what agents did. An Evaluator reads a Sample (a question, what was
// expected, what the agent answered and did) and returns a Verdict: scores from 0 to 1, each
// with a label and a reason. Some evaluators are documents, which a model fills in like any
// agent's; the others are plain checks that need no model.
package evaluation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/p8-org/p8/internal/scoring"
)

// Sample is one thing to judge.
type Sample struct {
	// Input is the question, the last message of the user.
	Input string `json:"input"`
	// Expected is the reference: a text or any other JSON value; nil without one.
	Expected json.RawMessage `json:"expected,omitempty"`
	// Metadata is the case's own, such as a category, and what retrieval should have found.
	Metadata map[string]any `json:"metadata,omitempty"`
	Output   Output         `json:"output"`
}

// Output is what an agent answered and did.
type Output struct {
	Text string `json:"text"`
	// Value is the structured answer, nil if the agent answers with text.
	Value json.RawMessage `json:"value,omitempty"`
	// Calls are the calls of tools in their order, those of asked agents included.
	Calls []Call `json:"calls,omitempty"`
	// Error says why the run failed; "" if it did not.
	Error        string        `json:"error,omitempty"`
	Model        string        `json:"model,omitempty"`
	InputTokens  int           `json:"input_tokens,omitempty"`
	OutputTokens int           `json:"output_tokens,omitempty"`
	CostUSD      float64       `json:"cost_usd,omitempty"`
	Latency      time.Duration `json:"latency,omitempty"`
	SessionID    string        `json:"session_id,omitempty"`
	RunID        string        `json:"run_id,omitempty"`
	TraceID      string        `json:"trace_id,omitempty"`
	SpanID       string        `json:"span_id,omitempty"`
}

// Call is one call of a tool.
type Call struct {
	Agent     string          `json:"agent,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Failed    bool            `json:"failed,omitempty"`
}

// Score is one judgement: its Value is between 0 and 1, Pass nil if it has no pass mark.
type Score = scoring.Score

// Verdict is what one evaluator says of one sample.
type Verdict struct {
	Evaluator string  `json:"evaluator"`
	Scores    []Score `json:"scores"`
	// Overall sums the scores up.
	Overall Score `json:"overall"`
	// What a judging model used.
	InputTokens  int     `json:"input_tokens,omitempty"`
	OutputTokens int     `json:"output_tokens,omitempty"`
	CostUSD      float64 `json:"cost_usd,omitempty"`
}

// Evaluator judges samples. It is safe for concurrent use.
type Evaluator interface {
	Name() string
	// Evaluate returns an error if the sample could not be judged, which is not the same as a
	// low score.
	Evaluate(ctx context.Context, s Sample) (Verdict, error)
}
