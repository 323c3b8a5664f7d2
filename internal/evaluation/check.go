package evaluation

import (
	"context"
	"fmt"
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// judge returns a score from 0 to 1 and, if it is below 1, the reason.
type judge func(ctx context.Context, s *Sample) (value float64, why string, err error)

// check is an evaluator without a model.
type check struct {
	name  string
	mark  float64
	judge judge
}

func (c *check) Name() string { return c.name }

// Evaluate scores a failed run 0, because it has no answer to judge.
func (c *check) Evaluate(ctx context.Context, s Sample) (Verdict, error) {
	value, why, err := c.judge(ctx, &s)
	if err != nil {
		return Verdict{}, fmt.Errorf("%s: %w", c.name, err)
	}
	score := Score{Name: c.name, Value: value, Pass: new(value >= c.mark), Explanation: why}
	score.Label = "fail"
	if *score.Pass {
		score.Label = "pass"
	}
	return Verdict{Evaluator: c.name, Scores: []Score{score}, Overall: score}, nil
}

// ofAnswer is for checks of the answer: a failed run has none.
func ofAnswer(j judge) judge {
	return func(ctx context.Context, s *Sample) (float64, string, error) {
		if s.Output.Error != "" {
			return 0, "the run failed: " + brief(s.Output.Error), nil
		}
		return j(ctx, s)
	}
}

// yes scores a condition.
func yes(ok bool, format string, args ...any) (float64, string, error) {
	if ok {
		return 1, "", nil
	}
	return 0, fmt.Sprintf(format, args...), nil
}

// maxBrief bounds the texts that explanations repeat, in characters.
const maxBrief = 120

// brief shortens a text to one line.
func brief(s string) string { return tree.Clip(strings.Join(strings.Fields(s), " "), maxBrief) }

// quote shortens a text to one line in quotes.
func quote(s string) string { return `"` + brief(s) + `"` }
