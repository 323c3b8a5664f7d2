package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/internal/experiment/dataset"
	"github.com/p8-org/p8/internal/experiment/report"
	"github.com/p8-org/p8/store"
)

// outputs are the flags about reports and thresholds.
type outputs struct {
	JSON        bool     `help:"Print the summary as JSON."`
	HTML        string   `name:"html" placeholder:"FILE" help:"Write a report that needs no network and no other file."`
	JUnit       string   `name:"junit" placeholder:"FILE" help:"Write the results in JUnit's format."`
	Baseline    string   `placeholder:"ID" help:"Compare with this evaluation of the same cases."`
	FailUnder   []string `placeholder:"SCORE=VALUE" help:"Exit with code 1 if a mean score is lower, such as accuracy=0.8 or pass=0.9; may be repeated."`
	FailIfWorse bool     `help:"Exit with code 1 if a score is significantly worse than the baseline's."`

	limits []limit
}

// limit is a threshold of a score.
type limit struct {
	score string
	least float64
}

// check reads the thresholds.
func (o *outputs) check() error {
	for _, text := range o.FailUnder {
		name, value, _ := strings.Cut(text, "=")
		least, err := strconv.ParseFloat(value, 64)
		if name == "" || err != nil || !(least >= 0 && least <= 1) {
			return command.Usage("--fail-under is %q: give a score and a number from 0 to 1, such as accuracy=0.8", text)
		}
		o.limits = append(o.limits, limit{name, least})
	}
	if o.FailIfWorse && o.Baseline == "" {
		return command.Usage("--fail-if-worse needs --baseline: give the id of an evaluation")
	}
	return nil
}

// resolve checks, before anything is paid for, that the files can be written, and finds the
// baseline: an evaluation that begins may not be its own. The last one is that of the
// experiment, if there is one.
func (o *outputs) resolve(ctx context.Context, s *store.Store, experiment string) error {
	for _, path := range []string{o.HTML, o.JUnit} {
		if path == "" {
			continue
		}
		f, err := os.Create(path + ".part")
		if err != nil {
			return unwritable(path)
		}
		if err := errors.Join(f.Close(), os.Remove(path+".part")); err != nil {
			return unwritable(path)
		}
	}
	if o.Baseline == "" {
		return nil
	}
	base, err := find(ctx, s, o.Baseline, experiment)
	if err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	o.Baseline = base.ID
	return nil
}

// comparable returns an error if the baseline has none of the cases that are to be run.
func (o *outputs) comparable(j *job) error {
	if o.Baseline == "" {
		return nil
	}
	known := map[[2]string]bool{}
	for r, err := range resultsOf(j.ctx, j.Store, o.Baseline) {
		if err != nil {
			return err
		}
		known[[2]string{r.Case.ID, r.Case.Input}] = true
	}
	if slices.ContainsFunc(j.cases, func(c dataset.Case) bool { return known[[2]string{c.ID, c.Input}] }) {
		return nil
	}
	return fmt.Errorf("--baseline: no case of %s is in the evaluation %s with the same id and input: give one of the same dataset", show.OneLine(j.current.Dataset), o.Baseline)
}

// summarize sums an evaluation up, and compares it with the baseline.
func (o *outputs) summarize(ctx context.Context, s *store.Store, x *store.Evaluation) (*report.Summary, *report.Page, error) {
	plan, err := planOf(x)
	if err != nil {
		return nil, nil, err
	}
	sum, err := report.Summarize(plan, resultsOf(ctx, s, x.ID))
	if err != nil {
		return nil, nil, err
	}
	page := &report.Page{Name: x.Name, ID: x.ID, Created: x.CreatedAt, Plan: plan, Summary: sum}
	if o.Baseline == "" {
		return sum, page, nil
	}
	base, err := find(ctx, s, o.Baseline, "")
	if err != nil {
		return nil, nil, fmt.Errorf("--baseline: %w", err)
	}
	old, err := planOf(&base)
	if err != nil {
		return nil, nil, err
	}
	before, err := report.Summarize(old, resultsOf(ctx, s, base.ID))
	if err != nil {
		return nil, nil, err
	}
	page.Baseline, page.Before = strings.TrimSpace(base.Name+" "+base.ID), resultsOf(ctx, s, base.ID)
	sum.Against(before)
	if len(sum.Comparisons) == 0 {
		return nil, nil, errors.New("--baseline: the two evaluations have no case in common: give one of the same dataset, agents and evaluators")
	}
	return sum, page, nil
}

// write writes the reports of an evaluation and checks the thresholds.
func (o *outputs) write(ctx context.Context, a *command.App, s *store.Store, x *store.Evaluation) error {
	sum, page, err := o.summarize(ctx, s, x)
	if err != nil {
		return err
	}
	if err := o.files(ctx, s, x, page); err != nil {
		return err
	}
	if o.JSON {
		err = show.JSON(a.Stdout, struct {
			ID     string           `json:"id"`
			Name   string           `json:"name"`
			Status string           `json:"status"`
			Plan   *experiment.Plan `json:"plan"`
			*report.Summary
		}{x.ID, x.Name, x.Status, page.Plan, sum})
	} else {
		err = sum.Table(a.Stdout, show.OneLine)
	}
	if err != nil {
		return err
	}
	if sum.Strange > 0 {
		a.Say("--baseline: %s in it with the same id and input; only the others are compared", isNot(sum.Strange))
	}
	return o.judge(a, sum)
}

func (o *outputs) files(ctx context.Context, s *store.Store, x *store.Evaluation, page *report.Page) error {
	if o.HTML != "" {
		if err := writeFile(o.HTML, func(f *os.File) error { return page.HTML(f, resultsOf(ctx, s, x.ID)) }); err != nil {
			return err
		}
	}
	if o.JUnit != "" {
		return writeFile(o.JUnit, func(f *os.File) error { return report.JUnit(f, x.Name, resultsOf(ctx, s, x.ID)) })
	}
	return nil
}

// writeFile writes a file, or leaves the one that is there.
func writeFile(path string, fill func(*os.File) error) error {
	part := path + ".part"
	f, err := os.Create(part)
	if err != nil {
		return unwritable(path)
	}
	err = fill(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}

func unwritable(path string) error {
	return fmt.Errorf("%s cannot be written: look at the folder and its permissions", show.OneLine(path))
}

// judge returns an error if a threshold is not reached.
func (o *outputs) judge(a *command.App, sum *report.Summary) error {
	failed := false
	if len(o.limits) > 0 || o.FailIfWorse {
		failed = incomplete(a, sum)
	}
	for _, l := range o.limits {
		for i := range sum.Subjects {
			x := &sum.Subjects[i]
			switch v, ok := x.Value(l.score); {
			case !ok:
				a.Say("--fail-under: %s has no score %s; it has %s", show.OneLine(x.String()), show.OneLine(l.score), scores(x))
				failed = true
			case v.Value < l.least:
				a.Say("%s: %s is %.3f, below %g", show.OneLine(x.String()), show.OneLine(l.score), v.Value, l.least)
				failed = true
			}
		}
	}
	if o.FailIfWorse {
		for _, c := range sum.Worse() {
			a.Say("%s: %s is worse than the baseline by %.3f (p = %.3g)", show.OneLine(c.After.String()), show.OneLine(c.Score), -c.Delta.Value, c.P)
			failed = true
		}
	}
	if failed {
		return command.ErrSilent
	}
	return nil
}

// incomplete says what is missing for a comparison with a threshold.
func incomplete(a *command.App, sum *report.Summary) (missing bool) {
	for i := range sum.Subjects {
		x := &sum.Subjects[i]
		if n := x.Asked - x.Answers; n > 0 {
			a.Say("%s: %d of %s missing: a threshold needs all of them", show.OneLine(x.String()), n, show.Count(x.Asked, "answer"))
			missing = true
		}
		if x.Unjudged > 0 {
			a.Say("%s: %s missing: a threshold needs all of them", show.OneLine(x.String()), show.Count(x.Unjudged, "verdict"))
			missing = true
		}
	}
	return missing
}

// isNot says that a number of cases is not there.
func isNot(cases int) string {
	if cases == 1 {
		return "1 case is not"
	}
	return fmt.Sprintf("%d cases are not", cases)
}

// scores lists the names of a subject's scores.
func scores(x *report.Subject) string {
	var names []string
	if x.Pass != nil {
		names = append(names, report.PassName)
	}
	for _, s := range x.Scores {
		names = append(names, show.OneLine(s.Name))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// encode returns a value that can always be encoded as JSON.
func encode(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}
