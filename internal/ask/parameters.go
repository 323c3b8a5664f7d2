package ask

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/p8-org/p8/rem"
)

// Parameters are the parts of a query, by REM's names; each verb sets some of them.
type Parameters struct {
	// EntityKey is the key of a LOOKUP, or the start of a TRAVERSE.
	EntityKey Keys `json:"entity_key,omitempty"`
	// QueryText is the text of a FUZZY or SEARCH.
	QueryText string `json:"query_text,omitempty"`
	// TableName is the table of a SEARCH, or several with commas.
	TableName string `json:"table_name,omitempty"`
	FieldName string `json:"field_name,omitempty"`
	Where     string `json:"where_clause,omitempty"`
	Category  string `json:"category,omitempty"`
	// RawQuery is the SELECT of an SQL.
	RawQuery string `json:"raw_query,omitempty"`
	// InitialQuery finds the start of a TRAVERSE … WITH.
	InitialQuery string   `json:"initial_query,omitempty"`
	EdgeTypes    []string `json:"edge_types,omitempty"`
	// Direction is in or both; "" is out.
	Direction     rem.Direction `json:"direction,omitempty"`
	MaxDepth      *int          `json:"max_depth,omitempty"`
	Threshold     float64       `json:"threshold,omitempty"`
	MinSimilarity *float64      `json:"min_similarity,omitempty"`
	Limit         int           `json:"limit,omitempty"`
}

// Keys are one key or several; in JSON a string or a list of them.
type Keys []string

// MarshalJSON writes one key as a string.
func (k Keys) MarshalJSON() ([]byte, error) {
	if len(k) == 1 {
		return json.Marshal(k[0])
	}
	return json.Marshal([]string(k))
}

// parametersOf returns the parameters of a query, with its defaults.
func parametersOf(query rem.Query) Parameters {
	switch q := query.(type) {
	case rem.Lookup:
		return Parameters{EntityKey: q.Keys}
	case rem.Fuzzy:
		return Parameters{QueryText: q.Text, Threshold: cmp.Or(q.Threshold, rem.DefaultThreshold), Limit: cmp.Or(q.Limit, rem.DefaultLimit)}
	case rem.Search:
		return Parameters{
			QueryText: q.Text, TableName: cmp.Or(strings.Join(q.Tables, ", "), rem.DefaultTable), FieldName: q.Field, Where: q.Where,
			Category: q.Category, MinSimilarity: q.MinSimilarity, Limit: cmp.Or(q.Limit, rem.DefaultLimit),
		}
	case rem.Traverse:
		depth := cmp.Or(q.Depth, rem.DefaultDepth)
		if q.Plan {
			depth = 0
		}
		p := Parameters{EntityKey: q.Keys, EdgeTypes: q.Types, Direction: q.Direction, MaxDepth: &depth, Limit: cmp.Or(q.Limit, rem.DefaultNodes)}
		if q.With != nil {
			p.InitialQuery = q.With.String()
		}
		return p
	case rem.Select:
		return Parameters{RawQuery: q.Text}
	case rem.Explain:
		return parametersOf(q.Query)
	}
	return Parameters{}
}
