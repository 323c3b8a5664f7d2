package testcase

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// Title returns the name of a case with that of its file.
func (c *Case) Title() string {
	base := stem(c.File)
	if i := strings.LastIndexAny(base, `/\`); i >= 0 {
		base = base[i+1:]
	}
	return base + ": " + c.Name
}

// At returns where a problem is: file:line:column of the case, or the line of a turn.
func (r *Result) at(p *Problem) string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", r.Case.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", r.Case.File, r.Case.Line, r.Case.Column)
}

// detail returns the problems as lines.
func (r *Result) detail() string {
	var b strings.Builder
	for i := range r.Problems {
		p := &r.Problems[i]
		fmt.Fprintf(&b, "%s: %s\n", r.at(p), p.Text)
		for line := range strings.Lines(p.Diff) {
			b.WriteString("  " + line)
		}
		if p.Next != "" {
			b.WriteString("  next: " + p.Next + "\n")
		}
	}
	return b.String()
}

// summary returns what a case used.
func (r *Result) summary() string {
	s := fmt.Sprintf("%s, %s, %d tokens", count(r.Turns, "turn"), count(r.Requests, "request"), r.Tokens)
	if r.CostUSD > 0 {
		s += fmt.Sprintf(", $%.4f", r.CostUSD)
	}
	if r.Recorded > 0 {
		s += ", recorded in " + r.Recorded.Round(time.Millisecond).String()
	}
	return s
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// WriteText writes a result for a person: failures, notes, and with verbose everything.
func (r *Result) WriteText(w io.Writer, verbose bool) error {
	var b strings.Builder
	switch {
	case len(r.Problems) > 0:
		b.WriteString("FAIL  " + r.Case.Title() + "\n" + indented(r.detail(), "      "))
	case verbose:
		fmt.Fprintf(&b, "ok    %s (%s)\n", r.Case.Title(), r.summary())
	}
	for _, n := range r.Notes {
		b.WriteString("      " + n + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func indented(s, pad string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(pad + line)
	}
	return b.String()
}

// WriteTAP writes results as TAP 14.
func WriteTAP(w io.Writer, results []Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n", len(results))
	for i := range results {
		r := &results[i]
		status := "ok"
		if len(r.Problems) > 0 {
			status = "not ok"
		}
		// A # in a name would begin a directive.
		fmt.Fprintf(&b, "%s %d - %s\n", status, i+1, strings.NewReplacer(`\`, `\\`, "#", `\#`, "\n", " ").Replace(r.Case.Title()))
		if len(r.Problems) > 0 {
			b.WriteString("  ---\n  message: |\n" + indented(r.detail(), "    ") + "  ...\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The elements of JUnit's XML.
type (
	junit struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes results as JUnit's XML, a suite for each file.
func WriteJUnit(w io.Writer, results []Result) error {
	var doc junit
	var all time.Duration
	var took []time.Duration
	for i := range results {
		r := &results[i]
		n := len(doc.Suites) - 1
		if n < 0 || doc.Suites[n].Name != r.Case.File {
			doc.Suites, took = append(doc.Suites, junitSuite{Name: r.Case.File}), append(took, 0)
			n++
		}
		s := &doc.Suites[n]
		x := junitCase{Name: r.Case.Name, Class: stem(r.Case.File), File: r.Case.File, Line: r.Case.Line, Time: seconds(r.Took)}
		if len(r.Problems) > 0 {
			x.Failure = &junitFailure{r.Problems[0].Text, r.detail()}
			s.Failures, doc.Failures = s.Failures+1, doc.Failures+1
		}
		s.Tests, doc.Tests = s.Tests+1, doc.Tests+1
		took[n], all = took[n]+r.Took, all+r.Took
		s.Time, doc.Time = seconds(took[n]), seconds(all)
		s.Cases = append(s.Cases, x)
	}
	text, err := xml.MarshalIndent(&doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// Line is a result as JSON.
type Line struct {
	File     string    `json:"file"`
	Line     int       `json:"line"`
	Case     string    `json:"case"`
	Passed   bool      `json:"passed"`
	Problems []Problem `json:"problems,omitempty"`
	Requests int       `json:"requests"`
	Tokens   int       `json:"tokens"`
	CostUSD  float64   `json:"cost_usd,omitempty"`
	// RecordedMS is how long the turns took when they were recorded.
	RecordedMS int64 `json:"recorded_ms,omitempty"`
}

// Report returns results as JSON.
func Report(results []Result) []Line {
	out := []Line{}
	for _, r := range results {
		out = append(out, Line{
			r.Case.File, r.Case.Line, r.Case.Name, len(r.Problems) == 0, r.Problems, r.Requests, r.Tokens, r.CostUSD, r.Recorded.Milliseconds(),
		})
	}
	return out
}
