package evaluation

import (
	"context"
	"math"
	"strings"
	"time"
)

// latency bounds the time of a run.
func latency(s *spec) judge {
	most := s.duration("max")
	return ofAnswer(func(_ context.Context, s *Sample) (float64, string, error) {
		return yes(s.Output.Latency <= most, "the run took %v; at most %v is allowed", s.Output.Latency.Round(time.Millisecond), most)
	})
}

// cost bounds the cost of a run in US dollars.
func cost(s *spec) judge {
	most, given := s.number("max", 0, math.Inf(1))
	if !given && s.node.Get("max") == nil {
		s.fail("max", "add max: 0.01", "max is missing")
	}
	return ofAnswer(func(_ context.Context, s *Sample) (float64, string, error) {
		return yes(s.Output.CostUSD <= most, "the run cost $%.6g; at most $%.6g is allowed", s.Output.CostUSD, most)
	})
}

// tokens bounds the tokens of a run.
func tokens(s *spec) judge {
	most, given := s.whole("max", 0)
	if !given && s.node.Get("max") == nil {
		s.fail("max", "add max: 1000", "max is missing")
	}
	of := s.choice("of", "total", "input", "output")
	return ofAnswer(func(_ context.Context, s *Sample) (float64, string, error) {
		o := &s.Output
		used := map[string]int{"total": o.InputTokens + o.OutputTokens, "input": o.InputTokens, "output": o.OutputTokens}[of]
		return yes(used <= most, "the run used %d tokens (%s); at most %d are allowed", used, of, most)
	})
}

// failure requires that the run failed, perhaps with a text in the error.
func failure(s *spec) judge {
	part := s.text("contains")
	return func(_ context.Context, s *Sample) (float64, string, error) {
		switch {
		case s.Output.Error == "":
			return yes(false, "the run did not fail; it answered %s", quote(s.Output.text()))
		case part != "":
			return yes(strings.Contains(s.Output.Error, part), "the error lacks %s: %s", quote(part), brief(s.Output.Error))
		}
		return 1, "", nil
	}
}
