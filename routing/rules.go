package routing

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// The meaning of scores.
const (
	// matches is the least score of a match, surely the least score of a clear match.
	matches = 0.3
	surely  = 0.6
	// oneKeyword is the score of a message that has one of the keywords.
	oneKeyword = 0.7
	// maxMarks bounds the keywords, and the examples, that are read of one document.
	maxMarks = 200
)

// rules is a Classifier by the rules of the documents.
type rules struct{}

// Rules makes a Classifier that uses the keywords and examples of the documents (their
// routing), and no model. A keyword matches a word or phrase of the message, regardless of
// case and accents. An example scores by the words that it shares with the message; rare
// words weigh more. If two agents fit equally well, the first is chosen, with less
// confidence.
func Rules() Classifier { return rules{} }

// Classify chooses the agent whose rules fit best.
func (rules) Classify(_ context.Context, in Input) (Decision, error) {
	found := scores(in.Message, in.Agents)
	best, second := -1, 0.0
	for i, s := range found {
		switch {
		case best < 0 || s.value > found[best].value:
			if best >= 0 {
				second = max(second, found[best].value)
			}
			best = i
		default:
			second = max(second, s.value)
		}
	}
	if best < 0 || found[best].value < matches {
		return Decision{Reason: "no agent's keywords or examples fit"}, nil
	}
	top := found[best]
	// If two agents fit equally well, half of the confidence is left.
	return Decision{Agent: in.Agents[best].Name, Confidence: top.value * (1 - second/top.value/2), Reason: top.why}, nil
}

// shifted reports whether the message is clearly for another agent, and not for the
// active one.
func shifted(in Input) bool {
	other, own := 0.0, 0.0
	for i, s := range scores(in.Message, in.Agents) {
		if Same(in.Agents[i].Name, in.State.Active) {
			own = s.value
		} else {
			other = max(other, s.value)
		}
	}
	return other >= surely && own < matches
}

// score is how well an agent's rules fit, from 0 to 1, and why.
type score struct {
	value float64
	why   string
}

// scores returns the score of each candidate, in their order.
func scores(message string, agents []Candidate) []score {
	out := make([]score, len(agents))
	said := words(message)
	if len(said) == 0 {
		return out
	}
	asked, examples := bagOf(said), newExamples(agents)
	for i, c := range agents {
		if c.Routing == nil {
			continue
		}
		out[i] = byKeywords(said, c.Routing.Keywords)
		if like, at := examples.nearest(asked, i); like >= matches {
			if like > out[i].value {
				out[i].why = fmt.Sprintf("it is like the example %q", clip(c.Routing.Examples[at]))
			}
			out[i].value = 1 - (1-out[i].value)*(1-like)
		}
	}
	return out
}

// byKeywords scores by the number of keywords in the message: each further one halves the
// remaining doubt.
func byKeywords(said, keywords []string) score {
	doubt, hits := 2*(1-oneKeyword), []string(nil)
	var seen [][]string
	for _, k := range keywords[:min(len(keywords), maxMarks)] {
		phrase := words(k)
		if !contains(said, phrase) || slices.ContainsFunc(seen, func(s []string) bool { return slices.Equal(s, phrase) }) {
			continue
		}
		seen, hits = append(seen, phrase), append(hits, fmt.Sprintf("%q", clip(k)))
		doubt /= 2
	}
	switch len(hits) {
	case 0:
		return score{}
	case 1:
		return score{1 - doubt, "it has the keyword " + hits[0]}
	}
	return score{1 - doubt, "it has the keywords " + strings.Join(hits[:min(len(hits), 3)], ", ")}
}

// contains reports whether the words of phrase stand in said, one after the other.
func contains(said, phrase []string) bool {
	if len(phrase) == 0 {
		return false
	}
	for i := 0; i+len(phrase) <= len(said); i++ {
		if slices.Equal(said[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}
