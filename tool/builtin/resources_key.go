package builtin

import (
	"context"
	"encoding/json"
	"time"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// knowledge is a row of rem://resources/{key}.
type knowledge struct {
	ID        string          `json:"id"`
	Key       string          `json:"key"`
	Type      string          `json:"entity_type"`
	Name      string          `json:"name"`
	URI       string          `json:"uri,omitempty"`
	Category  string          `json:"category,omitempty"`
	Content   string          `json:"content"`
	Truncated bool            `json:"truncated"`
	Edges     json.RawMessage `json:"graph_edges,omitempty"`
	Tags      json.RawMessage `json:"tags,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// addKnowledge adds the rows of knowledge by their keys: what LOOKUP finds for the caller,
// a resource or else an ontology.
func (r *Resources) addKnowledge(s *store.Store) {
	r.add("rem://resources/{key}", "resource", "Resource", "A piece of knowledge, or a whole page, by the key that LOOKUP takes.", typeJSON,
		func(ctx context.Context, key string) (string, error) {
			found, err := s.Lookup(ctx, key)
			if err != nil {
				return "", err
			}
			for _, kind := range []string{store.TypeResource, store.TypeOntology} {
				for _, m := range found {
					if m.Type != kind {
						continue
					}
					row := knowledge{Key: m.Key, Type: m.Type}
					if err := json.Unmarshal(m.Data, &row); err != nil {
						return "", err
					}
					whole := row.Content
					row.Content = tool.Cut(whole, maxFileText)
					row.Truncated = len(row.Content) != len(whole)
					return encoded(row, nil)
				}
			}
			return "", unknown("resource", key, nil)
		}, nil)
}
