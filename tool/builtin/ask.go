package builtin

import (
	"context"
	"encoding/json"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/tool"
)

// Asker turns a question into a query and runs it. A *tool.Error means that the
// question is wrong.
type Asker interface {
	AskREM(ctx context.Context, question string, planOnly bool) (Answer, error)
}

// Answer is the query made from a question, with its results.
type Answer struct {
	Status     string          `json:"status"`
	QueryType  rem.Verb        `json:"query_type"`
	Parameters json.RawMessage `json:"parameters"`
	Query      string          `json:"query"`
	Confidence float64         `json:"confidence"`
	// Reasoning is set for a plan, and if the confidence was too low to run the query;
	// Warning says why nothing ran.
	Reasoning string    `json:"reasoning,omitempty"`
	Warning   string    `json:"warning,omitempty"`
	Executed  bool      `json:"executed"`
	Results   []rem.Row `json:"results"`
	Count     int       `json:"count"`
	Notes     []string  `json:"notes,omitempty"`
	Stages    []Stage   `json:"stages,omitempty"`
}

// Stage is one query of a plan; the results are those of the last.
type Stage struct {
	Stage   int    `json:"stage"`
	Name    string `json:"name,omitempty"`
	Query   string `json:"query"`
	Count   int    `json:"count"`
	Warning string `json:"warning,omitempty"`
}

const askDescription = `Answers a question in plain words from what is stored: it writes the REM query, runs it when it is sure enough, and gives the query, how sure it is, and the results. Use it when you do not know how to write the query for search; search is faster when you do.`

// askOutput is written by hand: a row of SQL is any object.
const askOutput = `{
	"type": "object",
	"properties": {
		"status": {"const": "success"},
		"query_type": {"type": "string", "description": "the verb of the query, empty where there is none"},
		"parameters": {"type": "object"},
		"query": {"type": "string"},
		"confidence": {"type": "number", "minimum": 0, "maximum": 1},
		"reasoning": {"type": "string"},
		"warning": {"type": "string", "description": "why nothing was run"},
		"executed": {"type": "boolean"},
		"results": {"type": "array", "items": {"type": "object"}},
		"count": {"type": "integer"},
		"notes": {"type": "array", "items": {"type": "string"}},
		"stages": {"type": "array", "items": {"type": "object"}}
	},
	"required": ["status", "query_type", "parameters", "query", "confidence", "executed", "results", "count"],
	"additionalProperties": false
}`

func newAsk(asker Asker) (tool.Tool, error) {
	type in struct {
		Question string `json:"question" jsonschema:"the question, in plain words"`
		PlanOnly bool   `json:"plan_only" default:"false" jsonschema:"give the query and do not run it"`
	}
	t, err := tool.New("ask_rem", askDescription, func(ctx context.Context, in in) (any, error) {
		answer, err := asker.AskREM(ctx, in.Question, in.PlanOnly)
		if err != nil {
			return nil, worded(err)
		}
		answer.Status = "success"
		if len(answer.Parameters) == 0 {
			answer.Parameters = json.RawMessage("{}")
		}
		var note string
		if answer.Results, note = trim(list(answer.Results), false, hintFor(answer.QueryType)); note != "" {
			answer.Notes = append(answer.Notes, note)
		}
		answer.Count = len(answer.Results)
		return answer, nil
	})
	if err != nil {
		return nil, err
	}
	return tool.Annotate(t, tool.Annotations{Title: "Ask the knowledge base", ReadOnly: true, Output: json.RawMessage(askOutput)})
}
