package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/internal/experiment/dataset"
)

const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(1)>`

// results are those of n cases, of which some pass.
func results(n, repeats int, passes func(id, repeat int) bool, failed ...int) iter.Seq2[experiment.Result, error] {
	return func(yield func(experiment.Result, error) bool) {
		for i := range n * repeats {
			id := i / repeats
			r := experiment.Result{Seq: int64(i), Case: dataset.Case{ID: fmt.Sprint(id), Input: "question " + hostile, Expected: json.RawMessage(`"x"`)}, Agent: "a", Model: "m", Repeat: i % repeats}
			r.Output = &evaluation.Output{Text: "answer " + hostile, InputTokens: 2, OutputTokens: 1, CostUSD: 0.5, Latency: time.Duration(id) * time.Second}
			score := evaluation.Score{Name: "is", Pass: new(passes(id, i%repeats)), Explanation: hostile}
			if *score.Pass {
				score.Value = 1
			}
			r.Verdicts = []evaluation.Verdict{{Evaluator: "j", Overall: score, Scores: []evaluation.Score{score, {Name: "half", Value: 0.5}}}}
			for _, f := range failed {
				if f == id {
					r.Output, r.Verdicts = &evaluation.Output{Error: "gone"}, nil
				}
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func plan(cases, repeats int) *experiment.Plan {
	return &experiment.Plan{Dataset: hostile, Cases: cases, Agents: []experiment.Ref{{Name: "a"}}, Models: []string{"m"}, Repeats: repeats}
}

func summary(t *testing.T, n, repeats int, passes func(id, repeat int) bool, failed ...int) *Summary {
	t.Helper()
	s, err := Summarize(plan(n, repeats), results(n, repeats, passes, failed...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSummarize(t *testing.T) {
	s := summary(t, 10, 1, func(id, _ int) bool { return id < 6 }, 0)
	x := s.Subjects[0]
	if x.Cases != 10 || x.Failed != 1 || x.Pass.Value != 0.5 || x.Pass.Method != "Wilson score interval, 95 %" || x.Latency.Max != 9 || x.CostUSD != 4.5 || x.InputTokens != 18 {
		t.Errorf("%+v", x)
	}
	for name, want := range map[string]float64{"j": 0.5, "j.is": 0.5, "half": 0.45, "pass_rate": 0.5} {
		if v, ok := x.Value(name); !ok || v.Value != want {
			t.Errorf("%s: %v %v", name, v, ok)
		}
	}
	if _, ok := x.Value("nothing"); ok {
		t.Error("a score that is not there")
	}
	repeated := summary(t, 4, 3, func(id, repeat int) bool { return id == 0 || id == 1 && repeat == 0 }).Subjects[0]
	if got := fmt.Sprintf("%.3f %.3f %.3f", repeated.Pass.Value, repeated.PassAt, repeated.PassAll); got != "0.333 [0.333 0.417 0.500] [0.333 0.250 0.250]" {
		t.Error(got)
	}
	if s := summary(t, 2, 1, func(int, int) bool { return true }, 0, 1).Subjects[0]; s.Pass != nil || s.Failed != 2 {
		t.Errorf("all failed: %+v", s)
	}
}

func TestBaseline(t *testing.T) {
	before, after := func(id, _ int) bool { return id < 20 }, func(id, _ int) bool { return id < 10 }
	s := summary(t, 30, 1, after)
	s.Against(summary(t, 30, 1, before))
	worse := s.Worse()
	if len(worse) != 3 || worse[0].Score != "pass" || worse[0].Verdict() != "worse" || worse[0].Worse != 10 || worse[0].Better != 0 {
		t.Errorf("%+v", worse)
	}
	s = summary(t, 30, 1, before)
	s.Against(summary(t, 30, 1, after))
	if len(s.Worse()) != 0 || s.Comparisons[0].Verdict() != "better" {
		t.Errorf("%+v", s.Comparisons)
	}
}

// TestHTML: the page needs nothing else, and no text of an answer becomes a part of it.
func TestHTML(t *testing.T) {
	const rows = 200
	s := summary(t, rows, 1, func(id, _ int) bool { return id%3 > 0 })
	s.Against(summary(t, rows, 1, func(id, _ int) bool { return id%2 > 0 }))
	p := Page{Name: hostile, ID: "id", Plan: plan(rows, 1), Summary: s, Baseline: "before", Before: results(rows, 1, func(id, _ int) bool { return id%2 > 0 })}
	var b bytes.Buffer
	if err := p.HTML(&b, results(rows, 1, func(id, _ int) bool { return id%3 > 0 })); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for what, found := range map[string]bool{
		"another page": strings.Contains(page, "http://") || strings.Contains(page, "https://"), "a tag of an answer": strings.Contains(page, "<img"),
		"a script of an answer": strings.Count(page, "<script") != 2 || strings.Count(page, "</script>") != 2,
	} {
		if found {
			t.Error(what)
		}
	}
	_, data, _ := strings.Cut(page, `<script type="application/json" id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	var got struct {
		Subjects []string
		Rows     []row
	}
	if err := json.Unmarshal([]byte(data), &got); err != nil || len(got.Rows) != rows || got.Subjects[0] != "a · m" {
		t.Fatalf("%v: %d rows", err, len(got.Rows))
	}
	if r := got.Rows[1]; r.Answer != "answer "+hostile || *r.Pass != true || *r.Before.Pass != true || r.Scores[0][2] != hostile {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(page, strings.ReplaceAll(policy(), "'", "&#39;")) || !strings.Contains(page, "prefers-color-scheme:dark") {
		t.Error("no policy, or no dark colours")
	}
}

func TestTable(t *testing.T) {
	s := summary(t, 10, 1, func(id, _ int) bool { return id < 6 }, 0)
	var b bytes.Buffer
	if err := s.Table(&b, func(s string) string { return s }); err != nil {
		t.Fatal(err)
	}
	const want = `AGENT  MODEL  CASES  PASS                J                     P50  P95   TOKENS  COST     FAILED  UNJUDGED
a      m      10     50.0% [23.7, 76.3]  0.500 [0.200, 0.800]  5s   8.6s  27      $4.5000  1       0
[low, high]: Wilson score interval, 95 %; percentile bootstrap over cases, 95 %
`
	if b.String() != want {
		t.Error(b.String())
	}
}

func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := JUnit(&b, "run", results(3, 1, func(id, _ int) bool { return id == 1 }, 0)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<testsuite name="a · m" tests="3" failures="1" errors="1" skipped="0">`, `<error message="gone">`, `<testcase name="1" classname="a · m" time="1.000"></testcase>`, `<failure message="j 0.000">`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is missing in\n%s", want, b.String())
		}
	}
}

// TestMissing: what is missing is counted, and the pass rate is of the cases that were judged.
func TestMissing(t *testing.T) {
	p := plan(6, 1)
	p.Evaluators = []experiment.Ref{{Name: "j"}}
	s, err := Summarize(p, func(yield func(experiment.Result, error) bool) {
		for r := range results(4, 1, func(int, int) bool { return true }) {
			if r.Seq > 0 {
				r.Verdicts = nil
			}
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if x := s.Subjects[0]; x.Asked != 6 || x.Answers != 4 || x.Unjudged != 3 || x.Pass == nil || x.Pass.Method != "Wilson score interval, 95 %" || x.Pass.Low > 0.3 {
		t.Errorf("%+v %+v", x, x.Pass)
	}
}

// TestOtherInput: the same id with another question is another case.
func TestOtherInput(t *testing.T) {
	s := summary(t, 3, 1, func(int, int) bool { return true })
	base, err := Summarize(plan(3, 1), func(yield func(experiment.Result, error) bool) {
		for r := range results(3, 1, func(int, int) bool { return true }) {
			if r.Seq > 0 {
				r.Case.Input = "another question"
			}
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Against(base); s.Strange != 2 || s.Comparisons[0].Cases != 1 {
		t.Errorf("%+v", s)
	}
}
