package report

import (
	"slices"

	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/internal/experiment/stats"
)

// Comparison is a score of a subject against the same cases of another one.
type Comparison struct {
	// Baseline: Before is of the baseline run, else of the same run.
	Baseline bool               `json:"baseline"`
	Before   experiment.Subject `json:"before"`
	After    experiment.Subject `json:"after"`
	Score    string             `json:"score"`
	stats.Change
}

// Verdict is better, worse, or "no clear change".
func (c *Comparison) Verdict() string {
	switch {
	case !c.Significant():
		return "no clear change"
	case c.Delta.Value > 0:
		return "better"
	}
	return "worse"
}

// Against adds the comparison with a baseline. Subjects are compared by their names; a single
// subject is compared with a single one of another name. A case is compared with that of the
// same id and input.
func (s *Summary) Against(base *Summary) {
	var list []Comparison
	s.Strange = s.strange(base)
	for i := range s.Subjects {
		x := &s.Subjects[i]
		j := slices.IndexFunc(base.Subjects, func(b Subject) bool { return b.Subject == x.Subject })
		if j < 0 && len(base.Subjects) == 1 && len(s.Subjects) == 1 {
			j = 0
		}
		if j >= 0 {
			list = append(list, compare(&base.Subjects[j], x, true)...)
		}
	}
	s.Comparisons = append(list, s.Comparisons...)
}

// strange counts the cases that the baseline does not have.
func (s *Summary) strange(base *Summary) (n int) {
	known, seen := map[[2]string]bool{}, map[string]bool{}
	for i := range base.Subjects {
		for id, t := range base.Subjects[i].tries {
			known[[2]string{id, t.input}] = true
		}
	}
	for i := range s.Subjects {
		for id, t := range s.Subjects[i].tries {
			if !seen[id] && !known[[2]string{id, t.input}] {
				n++
			}
			seen[id] = true
		}
	}
	return n
}

// compare compares the scores that both subjects have.
func compare(before, after *Subject, baseline bool) (list []Comparison) {
	names := after.names()
	if before.Pass != nil && after.Pass != nil {
		names = append([]string{PassName}, names...)
	}
	for _, name := range names {
		old, now := before.values(name), after.values(name)
		var pairs []stats.Pair
		for _, id := range after.cases {
			a, ok := old[id]
			b, has := now[id]
			if ok && has && before.tries[id].input == after.tries[id].input {
				pairs = append(pairs, stats.Pair{Before: a, After: b})
			}
		}
		if len(pairs) > 0 {
			list = append(list, Comparison{baseline, before.Subject, after.Subject, name, stats.Paired(pairs)})
		}
	}
	return list
}

// Worse returns the comparisons with the baseline that got significantly worse.
func (s *Summary) Worse() (list []Comparison) {
	for _, c := range s.Comparisons {
		if c.Baseline && c.Verdict() == "worse" {
			list = append(list, c)
		}
	}
	return list
}
