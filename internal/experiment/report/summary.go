// Package report sums an evaluation up and shows it: as a table, JUnit, and one HTML file.
package report

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/internal/experiment/stats"
)

// Summary is what came out of an evaluation.
type Summary struct {
	Subjects []Subject `json:"subjects"`
	// Comparisons are with the baseline, and of the subjects with the first one.
	Comparisons []Comparison `json:"comparisons,omitempty"`
	// Strange counts the cases that the baseline does not have with the same id and input.
	Strange int `json:"strange,omitempty"`
}

// Subject is what came out of an agent with a model.
type Subject struct {
	experiment.Subject
	// Models are those that answered, if they are not Model.
	Models []string `json:"models,omitempty"`
	Cases  int      `json:"cases"`
	// Answers counts the runs, Asked those of the plan, Failed those without an answer, Unjudged
	// missing verdicts.
	Answers  int `json:"answers"`
	Asked    int `json:"asked"`
	Failed   int `json:"failed"`
	Unjudged int `json:"unjudged"`
	// Pass is the share of answers that passed, nil if no evaluator has a pass mark.
	Pass *stats.Interval `json:"pass,omitempty"`
	// PassAt and PassAll are pass@k and pass^k for k from 1, if answers were repeated.
	PassAt  []float64 `json:"pass_at,omitempty"`
	PassAll []float64 `json:"pass_all,omitempty"`
	// Scores are means over the cases. A failed run scores 0.
	Scores       []Score `json:"scores,omitempty"`
	Latency      Latency `json:"latency"`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd"`
	JudgeCostUSD float64 `json:"judge_cost_usd"`

	cases []string
	tries map[string]*tries
	times []float64
}

// Score is the mean of a score. Name is the evaluator's for its overall score, else
// evaluator.score.
type Score struct {
	Name string `json:"name"`
	stats.Interval
}

// Latency is how long answers took, in seconds, without the waiting for a provider.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	Max  float64 `json:"max"`
}

// tries are the answers to one case.
type tries struct {
	input                     string
	n, failed, judged, passed int
	scores                    map[string]*average
}

type average struct {
	sum float64
	n   int
}

// Summarize reads results in any order.
func Summarize(p *experiment.Plan, results iter.Seq2[experiment.Result, error]) (*Summary, error) {
	s := &Summary{}
	index := map[experiment.Subject]*Subject{}
	for _, x := range p.Subjects() {
		if index[x] == nil {
			index[x] = &Subject{Subject: x, Asked: p.Cases * p.Repeats, tries: map[string]*tries{}}
		}
	}
	for r, err := range results {
		if err != nil {
			return nil, err
		}
		if x := index[r.Subject()]; x != nil && r.Output != nil {
			x.Unjudged += max(r.Missing(p.Evaluators), len(r.Unjudged))
			x.add(&r)
		}
	}
	for _, x := range p.Subjects() {
		if index[x] != nil {
			index[x].finish()
			s.Subjects = append(s.Subjects, *index[x])
			delete(index, x)
		}
	}
	for i := 1; i < len(s.Subjects); i++ {
		s.Comparisons = append(s.Comparisons, compare(&s.Subjects[0], &s.Subjects[i], false)...)
	}
	return s, nil
}

func (x *Subject) add(r *experiment.Result) {
	t := x.tries[r.Case.ID]
	if t == nil {
		t = &tries{input: r.Case.Input, scores: map[string]*average{}}
		x.tries[r.Case.ID] = t
		x.cases = append(x.cases, r.Case.ID)
	}
	o := r.Output
	t.n++
	x.Answers++
	x.InputTokens += o.InputTokens
	x.OutputTokens += o.OutputTokens
	x.CostUSD += o.CostUSD
	if o.Model != "" && !same(o.Model, x.Model) && !slices.Contains(x.Models, o.Model) {
		x.Models = append(x.Models, o.Model)
	}
	if passed := r.Passed(); passed != nil {
		t.judged++
		if *passed {
			t.passed++
		}
	}
	if o.Error != "" {
		t.failed++
		x.Failed++
		return
	}
	x.times = append(x.times, o.Latency.Seconds())
	for _, v := range r.Verdicts {
		x.JudgeCostUSD += v.CostUSD
		t.add(v.Evaluator, v.Overall.Value)
		for _, score := range parts(&v) {
			t.add(v.Evaluator+"."+score.Name, score.Value)
		}
	}
}

// same reports whether a model that answered is the one that was asked for: providers answer
// with a dated name, or without the provider.
func same(answered, asked string) bool {
	_, bare, _ := strings.Cut(asked, ":")
	return asked == "" || answered == asked || bare != "" && strings.HasPrefix(answered[strings.IndexByte(answered, ':')+1:], bare)
}

// parts are the scores of a verdict that are not its overall score under another name.
func parts(v *evaluation.Verdict) []evaluation.Score {
	if len(v.Scores) == 1 && v.Scores[0].Name == v.Evaluator {
		return nil
	}
	return v.Scores
}

func (t *tries) add(name string, value float64) {
	a := t.scores[name]
	if a == nil {
		a = &average{}
		t.scores[name] = a
	}
	a.sum += value
	a.n++
}

// PassName is the name of the pass rate beside those of scores.
const PassName = "pass"

// values returns the value of a score for each case that has one.
func (x *Subject) values(name string) map[string]float64 {
	all := map[string]float64{}
	for id, t := range x.tries {
		switch a := t.scores[name]; {
		case name == PassName && t.judged > 0:
			all[id] = float64(t.passed) / float64(t.judged)
		case name == PassName:
		case a != nil:
			all[id] = a.sum / float64(a.n+t.failed)
		case t.failed > 0:
			all[id] = 0
		}
	}
	return all
}

// names are the names of the scores.
func (x *Subject) names() (all []string) {
	for _, t := range x.tries {
		for name := range t.scores {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return all
}

func (x *Subject) finish() {
	x.Cases = len(x.cases)
	slices.Sort(x.cases) // the bootstrap must not depend on the order of the answers
	for _, name := range x.names() {
		x.Scores = append(x.Scores, Score{name, stats.Mean(x.ordered(x.values(name)))})
	}
	x.pass()
	slices.Sort(x.times)
	if n := len(x.times); n > 0 {
		sum := 0.0
		for _, t := range x.times {
			sum += t
		}
		x.Latency = Latency{sum / float64(n), stats.Quantile(x.times, 0.5), stats.Quantile(x.times, 0.95), x.times[n-1]}
	}
	slices.Sort(x.Models)
}

func (x *Subject) ordered(values map[string]float64) []float64 {
	list := make([]float64, 0, len(values))
	for _, id := range x.cases {
		if v, ok := values[id]; ok {
			list = append(list, v)
		}
	}
	return list
}

// pass sets the pass rate, pass@k and pass^k.
func (x *Subject) pass() {
	judged, passed, cases, least, most, marked := 0, 0, 0, 0, 0, false
	for _, t := range x.tries {
		judged += t.judged
		passed += t.passed
		marked = marked || t.judged > t.failed
		if t.judged == 0 {
			continue
		}
		if cases++; least == 0 || t.judged < least {
			least = t.judged
		}
		most = max(most, t.judged)
	}
	if !marked { // failed runs did not pass, but nothing says what passing is
		return
	}
	if most == 1 { // one answer a case
		x.Pass = new(stats.Proportion(passed, judged))
		return
	}
	x.Pass = new(stats.Mean(x.ordered(x.values(PassName))))
	for k := 1; k <= least; k++ {
		at, all := 0.0, 0.0
		for _, t := range x.tries {
			if t.judged > 0 {
				at += stats.PassAt(t.judged, t.passed, k)
				all += stats.PassAll(t.judged, t.passed, k)
			}
		}
		n := float64(cases)
		x.PassAt, x.PassAll = append(x.PassAt, at/n), append(x.PassAll, all/n)
	}
}

// Value returns a score of a subject by its name, or by the part after the evaluator's if that
// is one alone; ok is false if the subject has no such score.
func (x *Subject) Value(name string) (v stats.Interval, ok bool) {
	if (name == PassName || name == "pass_rate") && x.Pass != nil {
		return *x.Pass, true
	}
	found := 0
	for _, s := range x.Scores {
		if s.Name == name {
			return s.Interval, true
		}
		if strings.HasSuffix(s.Name, "."+name) {
			v = s.Interval
			found++
		}
	}
	return v, found == 1
}

// seconds prints a duration for people.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	return d.Round(cmp.Or(map[bool]time.Duration{true: time.Millisecond}[d < time.Second], 10*time.Millisecond)).String()
}
