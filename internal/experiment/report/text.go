package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/internal/experiment/stats"
)

// Table prints a summary for a terminal. clean makes a text safe to print.
func (s *Summary) Table(w io.Writer, clean func(string) string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	columns := []string{}
	for i := range s.Subjects {
		for _, score := range s.Subjects[i].Scores {
			if !strings.Contains(score.Name, ".") && !slices.Contains(columns, score.Name) {
				columns = append(columns, score.Name)
			}
		}
	}
	fmt.Fprint(t, "AGENT\tMODEL\tCASES\tPASS")
	for _, name := range columns {
		fmt.Fprint(t, "\t", strings.ToUpper(clean(name)))
	}
	fmt.Fprintln(t, "\tP50\tP95\tTOKENS\tCOST\tFAILED\tUNJUDGED")
	for i := range s.Subjects {
		x := &s.Subjects[i]
		model := x.Model
		if model == "" {
			model = strings.Join(x.Models, ", ")
		}
		if model == "" {
			model = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s", clean(x.Agent), clean(model), x.Cases, percent(x.Pass))
		for _, name := range columns {
			cell := "-"
			if v, ok := x.Value(name); ok {
				cell = fmt.Sprintf("%.3f [%.3f, %.3f]", v.Value, v.Low, v.High)
			}
			fmt.Fprint(t, "\t", cell)
		}
		fmt.Fprintf(t, "\t%s\t%s\t%d\t$%.4f\t%d\t%d\n", seconds(x.Latency.P50), seconds(x.Latency.P95), x.InputTokens+x.OutputTokens, x.CostUSD+x.JudgeCostUSD, x.Failed, x.Unjudged)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range s.Subjects {
		if x := &s.Subjects[i]; len(x.PassAt) > 1 {
			fmt.Fprintf(w, "%s: ", clean(x.String()))
			for k := range x.PassAt {
				fmt.Fprintf(w, " pass@%d %.3f  pass^%d %.3f ", k+1, x.PassAt[k], k+1, x.PassAll[k])
			}
			fmt.Fprintln(w)
		}
	}
	for _, c := range s.Comparisons {
		against := c.Before.String()
		if c.Baseline {
			against = "the baseline"
		}
		against = map[bool]string{true: "than ", false: "from "}[c.Significant()] + against
		fmt.Fprintf(w, "%s, %s: %s %s: %+.3f [%+.3f, %+.3f], %d better, %d worse of %d, p: %s (%s)\n", clean(c.After.String()), clean(c.Score), c.Verdict(), clean(against),
			c.Delta.Value, c.Delta.Low, c.Delta.High, c.Better, c.Worse, c.Cases, chance(c.P), c.Test)
	}
	if methods := s.methods(); len(methods) > 0 {
		_, err := fmt.Fprintf(w, "[low, high]: %s\n", strings.Join(methods, "; "))
		return err
	}
	return nil
}

// methods are the names of the intervals in the summary.
func (s *Summary) methods() (all []string) {
	add := func(i *stats.Interval) {
		if i != nil && i.N > 0 && !slices.Contains(all, i.Method) {
			all = append(all, i.Method)
		}
	}
	for i := range s.Subjects {
		add(s.Subjects[i].Pass)
		for k := range s.Subjects[i].Scores {
			add(&s.Subjects[i].Scores[k].Interval)
		}
	}
	return all
}

func percent(i *stats.Interval) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f%% [%.1f, %.1f]", 100*i.Value, 100*i.Low, 100*i.High)
}

type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		Suites  []*suite `xml:"testsuite"`
	}
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	testCase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"`
		Failure *problem `xml:"failure,omitempty"`
		Error   *problem `xml:"error,omitempty"`
		Skipped *problem `xml:"skipped,omitempty"`
	}
	problem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes results in the format of JUnit: a suite for each subject. A failed run is an
// error, an answer that did not pass a failure, one that nobody judged is skipped.
func JUnit(w io.Writer, name string, results iter.Seq2[experiment.Result, error]) error {
	all := suites{Name: name}
	for r, err := range results {
		if err != nil {
			return err
		}
		if r.Output == nil {
			continue
		}
		subject := r.Subject().String()
		i := slices.IndexFunc(all.Suites, func(s *suite) bool { return s.Name == subject })
		if i < 0 {
			i = len(all.Suites)
			all.Suites = append(all.Suites, &suite{Name: subject})
		}
		s := all.Suites[i]
		c := testCase{Name: r.Case.ID, Class: subject, Time: fmt.Sprintf("%.3f", r.Output.Latency.Seconds())}
		if r.Repeat > 0 {
			c.Name = fmt.Sprintf("%s #%d", r.Case.ID, r.Repeat+1)
		}
		s.Tests++
		switch passed := r.Passed(); {
		case r.Output.Error != "":
			s.Errors++
			c.Error = &problem{Message: r.Output.Error}
		case passed == nil:
			s.Skipped++
			c.Skipped = &problem{Message: "no verdict"}
		case !*passed:
			s.Failures++
			message, text := why(&r)
			c.Failure = &problem{message, text}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// why says which evaluators an answer failed.
func why(r *experiment.Result) (message, text string) {
	var failed, lines []string
	for _, v := range r.Verdicts {
		if v.Overall.Pass == nil || *v.Overall.Pass {
			continue
		}
		failed = append(failed, fmt.Sprintf("%s %.3f", v.Evaluator, v.Overall.Value))
		lines = append(lines, v.Evaluator+": "+v.Overall.Explanation)
	}
	return strings.Join(failed, ", "), strings.Join(lines, "\n") + "\nanswer: " + r.Output.Text
}
