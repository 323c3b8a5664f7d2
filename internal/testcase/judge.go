package testcase

import (
	"context"
	"fmt"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/replay"
)

// judge compares what happened with what was expected.
func (s *Suite) judge(ctx context.Context, c *Case, turns []seen, drifts []replay.Drift, r *Result) {
	total := usage(turns)
	r.Requests, r.Tokens, r.CostUSD = total.Requests, total.InputTokens+total.OutputTokens, total.CostUSD
	for _, t := range turns {
		r.Recorded += t.took
	}
	r.drifted(c, drifts)
	for _, t := range turns {
		if e := t.result.Error; e != nil && !expectsError(t.turn, c) {
			r.fail(t.turn.Line, "", "", "the run failed: %s", e.Message)
		}
	}
	for i := range turns {
		t := &turns[i]
		r.expect(ctx, c, t.turn.Line, t.turn.Expect, t.turn.Say, turns[i:i+1])
		if problem := missing(t.turn.Events, t.events); problem != "" {
			r.fail(t.turn.Line, "", "", "%s", problem)
		}
	}
	r.expect(ctx, c, 0, c.Expect, c.input(), turns)
	if problem := missing(c.Events, allEvents(turns)); problem != "" {
		r.fail(0, "", "", "%s", problem)
	}
	r.bound(c.Limits, total)
	if c.Golden {
		s.golden(c, turns, r)
	}
}

// expectsError reports whether the case wants a run to fail.
func expectsError(t Turn, c *Case) bool {
	for _, list := range [][]Pattern{t.Events, c.Events} {
		for _, p := range list {
			if p.Type == event.Error {
				return true
			}
		}
	}
	for _, list := range [][]evaluation.Evaluator{t.Expect, c.Expect} {
		for _, e := range list {
			if e.Name() == "error" {
				return true
			}
		}
	}
	return false
}

// drifted reports what is different from the recording, with the next step after the last.
func (r *Result) drifted(c *Case, drifts []replay.Drift) {
	begin := len(r.Problems)
	for _, d := range drifts {
		for _, change := range d.Changes {
			r.fail(0, change.Diff, "", "not as recorded, %s: %s", d.Who, change.What)
		}
	}
	if len(r.Problems) > begin {
		r.Problems[len(r.Problems)-1].Next = fmt.Sprintf("p8 test --record %s asks the model again; --accept-drift keeps the recorded answers", c.File)
	}
}

// expect judges turns by checks.
func (r *Result) expect(ctx context.Context, c *Case, line int, checks []evaluation.Evaluator, input string, turns []seen) {
	if len(checks) == 0 {
		return
	}
	sample := evaluation.Sample{Input: input, Expected: c.Expected, Metadata: c.Metadata, Output: output(turns)}
	for _, e := range checks {
		v, err := e.Evaluate(ctx, sample)
		if err != nil {
			r.fail(line, "", "", "%v", err)
			continue
		}
		for _, score := range v.Scores {
			if score.Pass != nil && !*score.Pass {
				r.fail(line, "", "", "%s: %s", score.Name, score.Explanation)
			}
		}
	}
}

// bound compares the usage with the limits.
func (r *Result) bound(l Limits, u event.UsageData) {
	for _, x := range []struct {
		name        string
		limit, used int
	}{
		{"input tokens", l.InputTokens, u.InputTokens}, {"output tokens", l.OutputTokens, u.OutputTokens},
		{"tokens", l.TotalTokens, u.InputTokens + u.OutputTokens}, {"requests to models", l.Requests, u.Requests},
		{"tool calls", l.ToolCalls, u.ToolCalls},
	} {
		if x.limit > 0 && x.used > x.limit {
			r.fail(0, "", "", "%d %s, the limit is %d", x.used, x.name, x.limit)
		}
	}
	if l.CostUSD > 0 && u.CostUSD > l.CostUSD {
		r.fail(0, "", "", "$%.4f, the limit is $%.4f", u.CostUSD, l.CostUSD)
	}
	if l.Time > 0 && r.Recorded > l.Time {
		r.fail(0, "", "", "it took %s when it was recorded, the limit is %s", r.Recorded, l.Time)
	}
}
