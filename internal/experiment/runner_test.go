package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment/dataset"
)

// judge passes answers with a word.
type judge struct {
	name, word string
	fails      func(s evaluation.Sample) bool
}

func (j judge) Name() string { return j.name }

func (j judge) Evaluate(_ context.Context, s evaluation.Sample) (evaluation.Verdict, error) {
	if j.fails != nil && j.fails(s) {
		return evaluation.Verdict{}, errors.New("the judge\nis away")
	}
	score := evaluation.Score{Name: j.name, Pass: new(strings.Contains(s.Output.Text, j.word))}
	if *score.Pass {
		score.Value = 1
	}
	return evaluation.Verdict{Scores: []evaluation.Score{score}, Overall: score, CostUSD: 0.5}, nil
}

// kept keeps results in memory, and counts what was asked.
type kept struct {
	mu    sync.Mutex
	rows  map[int64]Result
	asked map[int64]int
	// answer answers; nil repeats the question.
	answer func(t Task) (evaluation.Output, error)
}

func (k *kept) Answer(_ context.Context, t Task) (evaluation.Output, error) {
	k.mu.Lock()
	k.asked[t.Seq]++
	k.mu.Unlock()
	if k.answer != nil {
		return k.answer(t)
	}
	return evaluation.Output{Text: t.Case.Input, CostUSD: 1}, nil
}

func (k *kept) Keep(_ context.Context, r Result) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows[r.Seq] = r
	return nil
}

func newKept() *kept { return &kept{rows: map[int64]Result{}, asked: map[int64]int{}} }

func plan(cases int, evaluators ...evaluation.Evaluator) (*Plan, []dataset.Case) {
	p := &Plan{Dataset: "d", Cases: cases, Agents: []Ref{{Name: "a"}, {Name: "b", Version: "1", Pinned: true}}, Models: []string{"", "m"}, Repeats: 2}
	for _, e := range evaluators {
		p.Evaluators = append(p.Evaluators, Ref{Name: e.Name()})
	}
	var list []dataset.Case
	for i := range cases {
		list = append(list, dataset.Case{ID: fmt.Sprint(i), Input: fmt.Sprint("good ", i)})
	}
	return p, list
}

func TestRun(t *testing.T) {
	k, j := newKept(), judge{name: "j", word: "good"}
	p, cases := plan(3, j)
	r := Runner{Answer: k.Answer, Keep: k.Keep, Evaluators: []evaluation.Evaluator{j}, Concurrency: 4}
	got, err := r.Run(t.Context(), p, cases, nil)
	if err != nil || got.Done != 24 || got.Tasks != 24 || got.Failed+got.Unjudged != 0 || got.CostUSD != 36 {
		t.Fatalf("%+v %v", got, err)
	}
	seen := map[string]bool{}
	for seq, x := range k.rows {
		seen[fmt.Sprint(x.Case.ID, x.Agent, x.Model, x.Repeat)] = true
		if k.asked[seq] != 1 || len(x.Verdicts) != 1 || x.Passed() == nil || !*x.Passed() {
			t.Errorf("%+v", x)
		}
	}
	if len(seen) != 24 || !seen["2b@1m1"] {
		t.Errorf("%v", seen)
	}
}

// TestResume: nothing that was answered or judged is done again, what failed is.
func TestResume(t *testing.T) {
	away := true
	k, j := newKept(), judge{name: "j", word: "good", fails: func(s evaluation.Sample) bool { return away && s.Input == "good 1" }}
	second := judge{name: "k", word: "0"}
	p, cases := plan(3, j, second)
	k.answer = func(t Task) (evaluation.Output, error) {
		if away && t.Case.ID == "2" && t.Agent.Name == "a" {
			return evaluation.Output{Error: "refused"}, nil
		}
		if away && t.Case.ID == "2" && t.Agent.Name == "b" {
			return evaluation.Output{}, errors.New("the store is gone")
		}
		return evaluation.Output{Text: t.Case.Input}, nil
	}
	r := Runner{Answer: k.Answer, Keep: k.Keep, Evaluators: []evaluation.Evaluator{j, second}}
	if _, err := r.Run(t.Context(), p, cases, nil); err == nil || err.Error() != "the store is gone" {
		t.Fatal(err)
	}
	if x := k.rows[8]; x.Unjudged["j"] != "the judge is away" || len(x.Verdicts) != 1 {
		t.Errorf("%+v", x)
	}
	away = false
	have := map[int64]Result{}
	for seq, x := range k.rows {
		have[seq] = x
	}
	got, err := r.Run(t.Context(), p, cases, have)
	if err != nil || got.Done != 24 || got.Kept != 8 || got.Failed+got.Unjudged != 0 {
		t.Fatalf("%+v %v", got, err)
	}
	for seq := range int64(24) {
		want := 1
		if seq >= 16 && seq <= 20 { // those that failed
			want = 2
		}
		if x := k.rows[seq]; k.asked[seq] != want || len(x.Verdicts) != 2 || x.Unjudged != nil || x.Output.Error != "" {
			t.Errorf("%d: asked %d times, %+v", seq, k.asked[seq], x)
		}
	}
}

func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	k := newKept()
	k.answer = func(t Task) (evaluation.Output, error) {
		if t.Seq == 5 {
			stop()
		}
		return evaluation.Output{Text: "x"}, nil
	}
	p, cases := plan(3)
	r := Runner{Answer: k.Answer, Keep: k.Keep}
	if got, err := r.Run(ctx, p, cases, nil); !errors.Is(err, context.Canceled) || got.Done != 5 || len(k.rows) != 5 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestPlan(t *testing.T) {
	p, _ := plan(1)
	if p.Check() != nil {
		t.Error(p.Check())
	}
	p.Repeats = MaxTasks
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "4000000 answers are too many") {
		t.Error(err)
	}
	if err := new(Plan).Check(); err == nil {
		t.Error("an empty plan")
	}
	for text, want := range map[string]string{"a": "a", "a@1.0.0": "a@1.0.0", "a@": "a@"} {
		if got := ParseRef(text).String(); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestConfig(t *testing.T) {
	const text = `name: greetings
task: general
agent_schema_ref: {name: general, version: 1.0.0}
evaluator_schema_ref: {name: accuracy}
datasets:
  ground_truth: {path: cases.yaml}
results: {save_traces: false}
tags: [Nightly]
`
	c, err := ParseConfig("experiment.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if c.Status != Draft || c.Tags[0] != "nightly" || c.Agent.Ref().String() != "general@1.0.0" || c.Results.SaveTraces || c.Results.MetricsFile != "metrics.json" || c.Datasets[GroundTruth].Location != "git" {
		t.Errorf("%+v", c)
	}
	again, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if d, err := ParseConfig("experiment.yaml", again); err != nil || d.Agent != c.Agent || d.Results != c.Results {
		t.Errorf("%v\n%s", err, again)
	}
	for name, x := range map[string]struct{ old, new, want string }{
		"a name":       {"name: greetings", "name: Greetings!", `experiment.yaml: name is "Greetings!": give 1-100 lower-case letters, digits and hyphens`},
		"an agent":     {"name: general,", "name: '',", "agent_schema_ref.name is missing"},
		"a dataset":    {"path: cases.yaml", "path: ''", "datasets.ground_truth.path is missing"},
		"S3":           {"path: cases.yaml", "path: x, location: s3", `datasets.ground_truth.location is "s3"`},
		"a state":      {"task: general", "status: done", `status is "done": give one of draft, ready`},
		"a way out":    {"save_traces: false", "base_path: ../..", `results.base_path is "../..": give a path inside`},
		"an odd key":   {"task: general", "tsk: general", "experiment.yaml:2:1: unknown field"},
		"a wrong type": {"tags: [Nightly]", "tags: {a: 1}", "experiment.yaml:8:"},
	} {
		if _, err := ParseConfig("experiment.yaml", []byte(strings.Replace(text, x.old, x.new, 1))); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
