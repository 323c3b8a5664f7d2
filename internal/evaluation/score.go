package evaluation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// score reads the scores from the fields of an answer.
func (d *document) score(v *Verdict, raw json.RawMessage) error {
	answer, err := decode(raw)
	fields, ok := answer.(map[string]any)
	if err != nil || !ok {
		return fmt.Errorf("%s: the answer is no JSON object", d.agent.Name)
	}
	sum, count := 0.0, 0.0
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch f := fields[name].(type) {
		case bool:
			s := Score{Name: name, Label: fmt.Sprint(f), Pass: new(f)}
			if f {
				s.Value = 1
			}
			v.Scores = append(v.Scores, s)
		case json.Number:
			s := Score{Name: name}
			if s.Value, ok = toNumber(f); ok && s.Value >= 0 && s.Value <= 1 {
				v.Scores = append(v.Scores, s)
				sum, count = sum+s.Value, count+1
			}
		}
	}
	v.Overall = Score{Name: "overall", Value: sum / max(1, count)}
	return nil
}
