package routing

import (
	"context"
	"errors"
)

// Bar is the confidence with which a decision of a [Chain] counts.
const Bar = 0.6

// Fixed always chooses the agent of that name.
func Fixed(name string) Classifier { return fixed(name) }

type fixed string

// Classify chooses the agent of the name.
func (f fixed) Classify(context.Context, Input) (Decision, error) {
	return Decision{Agent: string(f), Confidence: 1, Reason: "it is always this one"}, nil
}

// Chain asks one classifier after the other until a decision is sure enough ([Bar]). If no
// decision is, the surest one counts. A classifier that fails is skipped; its error is
// returned beside the decision.
func Chain(first Classifier, then ...Classifier) Classifier {
	return chain(append([]Classifier{first}, then...))
}

type chain []Classifier

// Classify returns the first decision that is sure enough, else the surest.
func (c chain) Classify(ctx context.Context, in Input) (Decision, error) {
	var best Decision
	var failed error
	for _, next := range c {
		d, err := next.Classify(ctx, in)
		failed = errors.Join(failed, err)
		switch {
		case d.Confidence >= Bar:
			return d, failed
		case best == (Decision{}), d.Agent != "" && d.Confidence > best.Confidence:
			best = d
		}
		if ctx.Err() != nil {
			break
		}
	}
	return best, failed
}
