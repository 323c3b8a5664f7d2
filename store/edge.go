package store

import (
	"cmp"
	"encoding/json"
	"math"
)

// DefaultRelation is the relation of an edge that does not name one (p8).
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

func checkEdges(edges []Edge) error {
	if len(edges) > maxList {
		return invalidf("graph_edges has %d entries, more than %d", len(edges), maxList)
	}
	for i := range edges {
		e := &edges[i]
		if err := cleanTexts("an edge's target", &e.Target, "an edge's relation", &e.Relation, "an edge's reason", &e.Reason); err != nil {
			return err
		}
		if NormalizeKey(e.Target) == "" {
			return invalidf("graph_edges: the target %.64q of edge %d has no letter and no digit", e.Target, i+1)
		}
		if math.IsNaN(e.Weight) || math.IsInf(e.Weight, 0) {
			return invalidf("graph_edges: the weight of the edge to %.64q is not a number", e.Target)
		}
	}
	return nil
}
