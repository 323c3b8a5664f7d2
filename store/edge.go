package store

import (
	"cmp"
	"encoding/json"
)

// DefaultRelation is that of an edge which names none (p8).
const DefaultRelation = "related"

// UnmarshalJSON reads an edge as any of REM, REMLight and p8 wrote it: dst is a
// target, rel_type and type are a relation. Without a relation it is
// [DefaultRelation], without a weight 1.
func (e *Edge) UnmarshalJSON(b []byte) error {
	var x struct {
		Target   string   `json:"target"`
		Dst      string   `json:"dst"`
		Relation string   `json:"relation"`
		RelType  string   `json:"rel_type"`
		Type     string   `json:"type"`
		Weight   *float64 `json:"weight"`
		Reason   string   `json:"reason"`
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	*e = Edge{
		Target: cmp.Or(x.Target, x.Dst), Relation: cmp.Or(x.Relation, x.RelType, x.Type, DefaultRelation),
		Weight: 1, Reason: x.Reason,
	}
	if x.Weight != nil {
		e.Weight = *x.Weight
	}
	return nil
}
