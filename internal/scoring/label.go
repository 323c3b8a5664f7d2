package scoring

import (
	"fmt"
	"strings"
)

// evaluated has one score for each of phoenix_config's evaluations.
func (p *Plan) evaluated(values map[string]any) ([]Score, error) {
	var scores []Score
	for i := range p.evaluations {
		s, err := p.evaluations[i].judge(values)
		if err != nil {
			return nil, fmt.Errorf("the evaluation %s: %w", p.evaluations[i].name, err)
		}
		scores = append(scores, s)
	}
	return scores, nil
}

func (e *evaluation) judge(values map[string]any) (s Score, err error) {
	s.Name = e.name
	if s.Label, err = e.ownLabel(values); err != nil {
		return s, err
	}
	switch {
	case e.score != nil:
		s.Value, err = e.score.Float(values)
	case e.scoreField != "":
		s.Value, err = toFloat(e.scoreField, values[e.scoreField])
	default:
		var known bool
		if s.Value, known = e.scores[s.Label]; !known {
			err = fmt.Errorf("score_logic has no score for the label %q", s.Label)
		}
	}
	if err == nil {
		s.Value, err = unit(e.name, s.Value)
	}
	if len(e.thresholds) > 0 {
		s.Label = e.threshold(s.Value)
	}
	if renamed, ok := e.transform[s.Label]; ok {
		s.Label = renamed
	}
	if e.explanation != "" {
		s.Explanation = sentence(values[e.explanation])
	}
	return s, err
}

// ownLabel returns the label that does not depend on the score, "" without one.
func (e *evaluation) ownLabel(values map[string]any) (string, error) {
	switch {
	case e.label != nil:
		v, err := e.label.Eval(values)
		return word(v), err
	case e.labelField != "":
		return word(values[e.labelField]), nil
	}
	return "", nil
}

// threshold returns the label of the first threshold that a score reaches.
func (e *evaluation) threshold(score float64) string {
	for _, t := range e.thresholds {
		if score > t.at || score == t.at && !t.above {
			return t.label
		}
	}
	return "unknown"
}

// word is a value as a label.
func word(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// sentence is a value as an explanation: a list with commas, an empty one as "None".
func sentence(v any) string {
	list, ok := v.([]any)
	switch {
	case !ok:
		return word(v)
	case len(list) == 0:
		return "None"
	}
	var parts []string
	for _, item := range list {
		parts = append(parts, word(item))
	}
	return strings.Join(parts, ", ")
}
