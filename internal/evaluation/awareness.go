package evaluation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/near"
)

// SelfAwareness returns questions to an agent about itself, made of its document: its name,
// fields and tools, and the date. Each expects the texts that the check self_awareness looks
// for; a list of texts stands for any one of them.
func SelfAwareness(d *agent.Document, now time.Time) []Sample {
	var list []Sample
	ask := func(about, question string, expected ...any) {
		if len(expected) == 0 {
			return
		}
		raw, err := json.Marshal(expected)
		if err != nil {
			return // texts can be written
		}
		list = append(list, Sample{Input: question, Expected: raw, Metadata: map[string]any{"category": about}})
	}
	ask("identity", "What is your name?", d.Key())
	ask("structure", "Which fields does your answer have, or do you think in? List their names.", fieldsOf(d)...)
	var tools []any
	for _, t := range d.Tools {
		tools = append(tools, t.Name)
	}
	ask("tools", "Which tools can you call? List their names.", tools...)
	ask("context", "What is the date today? Write it with the name of the month.",
		[]string{now.Format("January 2, 2006"), now.Format("2 January 2006"), now.Format(time.DateOnly)})
	return list
}

// fieldsOf returns the names of the properties, in their order.
func fieldsOf(d *agent.Document) []any {
	var schema struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(d.OutputSchema(false), &schema) != nil || len(schema.Properties) == 0 {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(string(schema.Properties)))
	var names []any
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		var skipped json.RawMessage
		if err != nil || dec.Decode(&skipped) != nil {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// selfAwareness looks for expected texts in any spelling: case, dashes, underscores and spaces
// do not count. All of them score 1, some 0.5, none 0.
func selfAwareness(s *spec) judge {
	own := s.value("value")
	return ofAnswer(func(_ context.Context, s *Sample) (float64, string, error) {
		want, err := reference(own, s)
		if err != nil {
			return 0, "", err
		}
		items, many := want.([]any)
		if !many {
			items = []any{want}
		}
		text := near.Fold(s.Output.text())
		var lacks []string
		for _, item := range items {
			if !mentions(text, item) {
				lacks = append(lacks, fmt.Sprint(item))
			}
		}
		switch {
		case len(items) == 0:
			return 0, "", errNoReference
		case len(lacks) == 0:
			return 1, "", nil
		case len(lacks) == len(items):
			return yes(false, "the answer has none of %s: %s", list(lacks), quote(s.Output.text()))
		}
		return 0.5, fmt.Sprintf("the answer lacks %s: %s", list(lacks), quote(s.Output.text())), nil
	})
}

// mentions reports whether a folded text has an expected one, or any one of a list.
func mentions(text string, want any) bool {
	alternatives, many := want.([]any)
	if !many {
		alternatives = []any{want}
	}
	for _, a := range alternatives {
		if folded := near.Fold(fmt.Sprint(a)); folded != "" && strings.Contains(text, folded) {
			return true
		}
	}
	return false
}
