package scoring

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/p8-org/p8/internal/scoring/formula"
)

// Score scores an answer, decoded with or without json.Number. overall sums the scores up:
//
//   - the evaluation, the derived score or the field that is named overall (or overall_score),
//   - else the mean by evaluation_weights,
//   - else the mean of the numbers, or, if there are none, of the booleans.
//
// It passes if every score with a pass mark reaches it; without marks, if the boolean pass is
// true.
func (p *Plan) Score(answer map[string]any) (scores []Score, overall Score, err error) {
	values, _ := plain(answer).(map[string]any)
	if values == nil {
		values = map[string]any{}
	}
	for i := range p.derived {
		v, err := p.derived[i].value(values)
		if err != nil {
			return nil, Score{}, err
		}
		values[p.derived[i].name] = v
	}
	fields, err := p.plain(values)
	if err != nil {
		return nil, Score{}, err
	}
	if scores = fields; len(p.evaluations) > 0 {
		if scores, err = p.evaluated(values); err != nil {
			return nil, Score{}, err
		}
	}
	overall, err = p.overall(scores, fields, values)
	return scores, overall, err
}

// plain returns a value with float64 as numbers.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return nil
		}
		return f
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = plain(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = plain(item)
		}
		return out
	}
	return v
}

// value computes a derived score.
func (d *derived) value(values map[string]any) (any, error) {
	for _, a := range d.alternatives {
		if a.condition != nil {
			holds, err := a.condition.Eval(values)
			if err != nil {
				return nil, err
			}
			if holds != true {
				continue
			}
		}
		if a.expression != nil {
			return a.expression.Eval(values)
		}
		sum := 0.0
		for _, w := range a.weights {
			v, err := toFloat(w.field, values[w.field])
			if err != nil {
				return nil, err
			}
			sum += w.share * v
		}
		return sum, nil
	}
	return nil, fmt.Errorf("no condition of the derived score %s holds", d.name)
}

// toFloat returns the value of a field as a number; true is 1.
func toFloat(name string, v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case nil:
		return 0, fmt.Errorf("the answer has no %s", name)
	}
	return 0, fmt.Errorf("%s in the answer is not a number", name)
}

// plain has one score for each number and boolean, in the order of the properties, and for
// each derived score.
func (p *Plan) plain(values map[string]any) ([]Score, error) {
	var scores []Score
	for i := range p.fields {
		f := &p.fields[i]
		if s, ok := f.score(values[f.name]); ok {
			s.Explanation = reasonFor(f.name, values)
			scores = append(scores, s)
		}
	}
	for _, d := range p.derived {
		switch v := values[d.name].(type) {
		case bool:
			scores = append(scores, boolean(d.name, v))
		default:
			value, err := toFloat(d.name, v)
			if err == nil {
				value, err = unit(d.name, value)
			}
			if err != nil && len(p.evaluations) > 0 {
				continue // it may be a part of an evaluation
			}
			if err != nil {
				return nil, err
			}
			scores = append(scores, Score{Name: d.name, Value: value, Label: goodOrPoor(value)})
		}
	}
	return scores, nil
}

// score maps a number from its bounds to 0 to 1. An integer without a maximum is a count and no
// score, nor is a number without one outside of 0 to 1.
func (f *field) score(v any) (Score, bool) {
	switch v := v.(type) {
	case bool:
		return boolean(f.name, v), true
	case float64:
		if f.bounded {
			v = (v - f.low) / (f.high - f.low)
		}
		if v < 0 || v > 1 || f.count || f.typ != formula.Number && f.typ != formula.Any {
			return Score{}, false
		}
		return Score{Name: f.name, Value: v, Label: goodOrPoor(v)}, true
	}
	return Score{}, false
}

func boolean(name string, v bool) Score {
	s := Score{Name: name, Label: fmt.Sprint(v)}
	if v {
		s.Value = 1
	}
	if isPass(name) {
		s.Pass = new(v)
	}
	return s
}

func isPass(name string) bool { return name == "pass" || name == "passed" }

func goodOrPoor(v float64) string {
	if v >= 0.5 {
		return "good"
	}
	return "poor"
}

// unit refuses a score that is not between 0 and 1; errors of rounding are mended.
func unit(name string, v float64) (float64, error) {
	const rounding = 1e-9
	if math.IsNaN(v) || v < -rounding || v > 1+rounding {
		return 0, fmt.Errorf("the score %s is %v, not between 0 and 1", name, v)
	}
	return min(1, max(0, v)), nil
}

// reasonFor returns the explanation of one field: accuracy_reasoning for accuracy_score.
func reasonFor(name string, values map[string]any) string {
	base := strings.TrimSuffix(name, "_score")
	for _, ending := range []string{"_explanation", "_reasoning", "_reason", "_notes"} {
		if text, ok := values[base+ending].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// reason returns the explanation of the whole verdict.
func reason(values map[string]any) string {
	for _, name := range []string{"explanation", "reasoning", "rationale", "evaluation_notes", "grading_notes", "notes", "reason"} {
		if text, ok := values[name].(string); ok && text != "" {
			return text
		}
	}
	return ""
}
