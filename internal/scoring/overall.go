package scoring

import (
	"errors"
	"fmt"
	"slices"
)

// overall sums up the scores, and sets Pass of those that have a mark. fields are the scores
// of fields, which are scores too unless there are evaluations.
func (p *Plan) overall(scores, fields []Score, values map[string]any) (Score, error) {
	passed, marked := true, false
	for name, mark := range p.marks {
		if name == Overall {
			continue
		}
		s := find(name, scores, fields)
		if s == nil {
			return Score{}, fmt.Errorf("the answer has no score %s, which has a pass mark", name)
		}
		s.Pass = new(s.Value >= mark)
		passed, marked = passed && *s.Pass, true
	}
	o := Score{Name: Overall}
	if s := sumOf(scores); s != nil {
		o.Value, o.Label, o.Explanation = s.Value, s.Label, s.Explanation
	} else {
		var err error
		if o.Value, err = p.mean(scores, fields, values); err != nil {
			return o, err
		}
	}
	if o.Explanation == "" {
		o.Explanation = reason(values)
	}
	if mark, ok := p.marks[Overall]; ok {
		passed, marked = passed && o.Value >= mark, true
	}
	if marked {
		o.Pass = new(passed)
	} else if i := slices.IndexFunc(fields, func(s Score) bool { return isPass(s.Name) && s.Pass != nil }); i >= 0 {
		o.Pass = new(*fields[i].Pass)
	}
	if o.Label == "" || o.Label == goodOrPoor(o.Value) {
		o.Label = verdict(o)
	}
	return o, nil
}

// verdict is pass or fail, or good or poor without a pass mark.
func verdict(o Score) string {
	switch {
	case o.Pass == nil:
		return goodOrPoor(o.Value)
	case *o.Pass:
		return "pass"
	}
	return "fail"
}

// sumOf returns the score that sums up the others by its name, nil for none.
func sumOf(scores []Score) *Score {
	for _, name := range []string{Overall, "overall_score"} {
		if s := find(name, scores); s != nil {
			return s
		}
	}
	return nil
}

// find returns the first score with a name, nil for none.
func find(name string, lists ...[]Score) *Score {
	for _, scores := range lists {
		if i := slices.IndexFunc(scores, func(s Score) bool { return s.Name == name }); i >= 0 {
			return &scores[i]
		}
	}
	return nil
}

// mean is the weighted mean of fields, or the mean of the numbers, or that of the booleans.
func (p *Plan) mean(scores, fields []Score, values map[string]any) (float64, error) {
	sum, total := 0.0, 0.0
	for _, w := range p.weights {
		s := find(w.field, fields)
		if s == nil {
			return 0, fmt.Errorf("the answer has no score %s, which has a weight", w.field)
		}
		sum, total = sum+w.share*s.Value, total+w.share
	}
	if total > 0 {
		return sum / total, nil
	}
	for _, booleans := range []bool{false, true} {
		for _, s := range scores {
			if _, isBoolean := values[s.Name].(bool); isBoolean == booleans {
				sum, total = sum+s.Value, total+1
			}
		}
		if total > 0 {
			return sum / total, nil
		}
	}
	return 0, errors.New("the answer has no score: no number between 0 and 1, and no boolean")
}
