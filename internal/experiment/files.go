package experiment

import (
	"encoding/json"
	"time"
)

// Metrics is the text of metrics.json: REM's fields, then p8's summary.
type Metrics struct {
	ExperimentID string    `json:"experiment_id"`
	Name         string    `json:"name"`
	Agent        string    `json:"agent"`
	Evaluator    string    `json:"evaluator"`
	DatasetSize  int       `json:"dataset_size"`
	CompletedAt  time.Time `json:"completed_at"`
	// PhoenixURL is nil without Phoenix.
	PhoenixURL *string `json:"phoenix_url"`
	TaskRuns   int     `json:"task_runs"`
	Summary    any     `json:"summary,omitempty"`
}

// Vibe is a line of vibes-results.jsonl: an answer for people to judge.
type Vibe struct {
	ID          string `json:"id"`
	Input       string `json:"input"`
	GroundTruth any    `json:"ground_truth"`
	Category    string `json:"category"`
	AgentOutput any    `json:"agent_output"`
	Status      string `json:"status"`
}

// NewVibe returns the line of a result.
func NewVibe(r *Result) Vibe {
	v := Vibe{ID: r.Case.ID, Input: r.Case.Input, AgentOutput: r.Output.Text, Status: "success"}
	v.Category, _ = r.Case.Metadata["category"].(string)
	if len(r.Case.Expected) > 0 {
		v.GroundTruth = r.Case.Expected
	}
	if len(r.Output.Value) > 0 {
		v.AgentOutput = json.RawMessage(r.Output.Value)
	}
	if r.Output.Error != "" {
		v.Status = "error: " + r.Output.Error
	}
	return v
}
