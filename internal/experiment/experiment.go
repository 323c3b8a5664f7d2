// Package experiment runs agents over the cases of a dataset, has the answers judged by
// evaluators, and keeps each result as it comes, so that an interrupted run continues where it
// was. A [Plan] says what is run, a [Runner] runs it, [Agents] asks the agents. A [Config] is an
// experiment as REM keeps it in a file.
//
// Package dataset reads the cases, pace spaces out requests to models, stats has the statistics,
// report shows what came out.
package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment/dataset"
)

// Plan says what an evaluation runs.
type Plan struct {
	// Dataset is the name of the dataset, Hash the SHA-256 of its text, Cases how many of its
	// cases are run.
	Dataset string `json:"dataset"`
	Hash    string `json:"dataset_hash,omitempty"`
	Cases   int    `json:"cases"`
	// Agents answer each case with each of Models; the model "" is the agent's own, or the
	// default.
	Agents     []Ref    `json:"agents"`
	Models     []string `json:"models"`
	Evaluators []Ref    `json:"evaluators"`
	// Repeats is how often each agent answers each case with each model.
	Repeats int `json:"repeats"`
}

// Ref names a document in one version.
type Ref struct {
	Name string `json:"name"`
	// Version is the document's, "" if it has none. Hash is that of its text.
	Version string `json:"version,omitempty"`
	Hash    string `json:"hash,omitempty"`
	// Pinned: the user asked for this version.
	Pinned bool `json:"pinned,omitempty"`
	// Source is what the user gave, from which the document is found again.
	Source string `json:"source,omitempty"`
}

// String returns the name, with the version if it is pinned.
func (r Ref) String() string {
	if r.Pinned {
		return r.Name + "@" + r.Version
	}
	return r.Name
}

// Subject is an agent with a model: a column of the report.
type Subject struct {
	Agent string `json:"agent"`
	Model string `json:"model,omitempty"`
}

// String returns the agent and the model.
func (s Subject) String() string {
	if s.Model == "" {
		return s.Agent
	}
	return s.Agent + " · " + s.Model
}

// Subjects returns each agent with each model.
func (p *Plan) Subjects() (all []Subject) {
	for _, a := range p.Agents {
		for _, m := range p.Models {
			all = append(all, Subject{a.String(), m})
		}
	}
	return all
}

// Tasks is the number of answers that the plan asks for.
func (p *Plan) Tasks() int64 {
	return int64(p.Cases) * int64(len(p.Agents)) * int64(len(p.Models)) * int64(p.Repeats)
}

// MaxTasks bounds the answers of one evaluation.
const MaxTasks = 1_000_000

// Check returns an error if the plan cannot be run.
func (p *Plan) Check() error {
	switch {
	case p.Cases == 0 || len(p.Agents) == 0 || len(p.Models) == 0 || p.Repeats < 1:
		return fmt.Errorf("an evaluation needs a case, an agent and a repeat")
	case p.Tasks() > MaxTasks:
		return fmt.Errorf("%d answers are too many; %d is the most: take fewer cases, agents, models or repeats", p.Tasks(), MaxTasks)
	}
	return nil
}

// Task is one answer to ask for.
type Task struct {
	// Seq numbers the tasks of a plan: case by case, so that all agents make progress alike.
	Seq    int64
	Case   dataset.Case
	Agent  Ref
	Model  string
	Repeat int
	// Round counts the earlier rounds of attempts, which failed.
	Round int
}

// task returns the task of a number.
func (p *Plan) task(seq int64, cases []dataset.Case) Task {
	t := Task{Seq: seq, Repeat: int(seq % int64(p.Repeats))}
	seq /= int64(p.Repeats)
	t.Model = p.Models[seq%int64(len(p.Models))]
	seq /= int64(len(p.Models))
	t.Agent = p.Agents[seq%int64(len(p.Agents))]
	t.Case = cases[seq/int64(len(p.Agents))]
	return t
}

// Result is what came of a task.
type Result struct {
	Seq    int64        `json:"seq"`
	Case   dataset.Case `json:"case"`
	Agent  string       `json:"agent"`
	Model  string       `json:"model,omitempty"`
	Repeat int          `json:"repeat,omitempty"`
	// Round is that of the task.
	Round int `json:"round,omitempty"`
	// Output is nil while there is no answer.
	Output   *evaluation.Output   `json:"output,omitempty"`
	Verdicts []evaluation.Verdict `json:"verdicts,omitempty"`
	// Unjudged says why an evaluator gave no verdict, by its name.
	Unjudged map[string]string `json:"unjudged,omitempty"`
}

// Subject returns the agent and the model.
func (r *Result) Subject() Subject { return Subject{r.Agent, r.Model} }

// Sample returns what evaluators judge.
func (r *Result) Sample() evaluation.Sample {
	return evaluation.Sample{Input: r.Case.Input, Expected: r.Case.Expected, Metadata: r.Case.Metadata, Output: *r.Output}
}

// answered reports whether the agent need not be asked again.
func (r *Result) answered() bool { return r.Output != nil && r.Output.Error == "" }

// verdict returns the verdict of an evaluator, nil for none.
func (r *Result) verdict(evaluator string) *evaluation.Verdict {
	i := slices.IndexFunc(r.Verdicts, func(v evaluation.Verdict) bool { return v.Evaluator == evaluator })
	if i < 0 {
		return nil
	}
	return &r.Verdicts[i]
}

// Missing counts the evaluators whose verdict on an answer is missing.
func (r *Result) Missing(evaluators []Ref) (n int) {
	for _, e := range evaluators {
		if r.answered() && r.verdict(e.Name) == nil {
			n++
		}
	}
	return n
}

// Done reports whether nothing is left to do of the result but what failed.
func (r *Result) Done(evaluators []Ref) bool {
	return r.answered() && r.Missing(evaluators) == 0
}

// Passed reports whether the answer passed: all evaluators with a pass mark say so. It is nil
// if none has one. A failed run did not pass.
func (r *Result) Passed() *bool {
	if r.Output == nil {
		return nil
	}
	if r.Output.Error != "" {
		return new(false)
	}
	var passed *bool
	for _, v := range r.Verdicts {
		if v.Overall.Pass != nil {
			passed = new(*v.Overall.Pass && (passed == nil || *passed))
		}
	}
	return passed
}

// ParseRef reads NAME or NAME@VERSION.
func ParseRef(text string) Ref {
	if name, version, ok := strings.Cut(text, "@"); ok && version != "" {
		return Ref{Name: name, Version: version, Pinned: true}
	}
	return Ref{Name: text}
}
