package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/experiment"
)

// Page is the HTML report of an evaluation.
type Page struct {
	Name    string
	ID      string
	Created time.Time
	Plan    *experiment.Plan
	Summary *Summary
	// Baseline names the baseline, "" for none.
	Baseline string
	// Before are the baseline's answers; nil without one.
	Before iter.Seq2[experiment.Result, error]
}

var (
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

// The bounds of a page.
const (
	// maxRows bounds the answers in a page, maxText the bytes of each text.
	maxRows = 50_000
	maxText = 4000
)

// HTML writes one page that needs no network and no other file.
func (p *Page) HTML(w io.Writer, results iter.Seq2[experiment.Result, error]) error {
	out := bufio.NewWriterSize(w, 64<<10)
	subjects := map[experiment.Subject]int{}
	for i := range p.Summary.Subjects {
		subjects[p.Summary.Subjects[i].Subject] = i
	}
	p.head(out)
	if err := p.rows(out, subjects, results); err != nil {
		return err
	}
	p.tail(out)
	return out.Flush()
}

// policy lets only the page's own script run.
func policy() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// row is an answer in the page. Its short keys keep a page of many rows small.
type row struct {
	Case     string   `json:"c"`
	Subject  int      `json:"s"`
	Repeat   int      `json:"r,omitempty"`
	Input    string   `json:"i"`
	Expected string   `json:"x,omitempty"`
	Category string   `json:"k,omitempty"`
	Answer   string   `json:"a"`
	Error    string   `json:"e,omitempty"`
	Pass     *bool    `json:"p,omitempty"`
	Scores   [][3]any `json:"v,omitempty"`
	Unjudged string   `json:"u,omitempty"`
	Seconds  float64  `json:"t,omitempty"`
	Tokens   int      `json:"n,omitempty"`
	Model    string   `json:"m,omitempty"`
	Session  string   `json:"d,omitempty"`
	Tools    []string `json:"o,omitempty"`
	Before   *before  `json:"b,omitempty"`
}

// before is the baseline's answer to the same case.
type before struct {
	Answer string `json:"a"`
	Error  string `json:"e,omitempty"`
	Pass   *bool  `json:"p,omitempty"`
}

// rows writes the answers as JSON, one by one.
func (p *Page) rows(w *bufio.Writer, subjects map[experiment.Subject]int, results iter.Seq2[experiment.Result, error]) error {
	old, err := p.old(subjects)
	if err != nil {
		return err
	}
	n := 0
	for r, err := range results {
		if err != nil {
			return err
		}
		i, ok := subjects[r.Subject()]
		if r.Output == nil || !ok {
			continue
		}
		if n++; n > maxRows {
			break
		}
		text, err := json.Marshal(newRow(&r, i, old[place{i, r.Case.ID, r.Case.Input, r.Repeat}])) // with < as \u003c
		if err != nil {
			return err
		}
		if n > 1 {
			_, _ = w.WriteString(",\n")
		}
		_, _ = w.Write(text)
	}
	return nil
}

type place struct {
	subject int
	id      string
	input   string
	repeat  int
}

// old reads the baseline's answers.
func (p *Page) old(subjects map[experiment.Subject]int) (map[place]*before, error) {
	all := map[place]*before{}
	if p.Before == nil {
		return all, nil
	}
	for r, err := range p.Before {
		if err != nil {
			return nil, err
		}
		i, ok := subjects[r.Subject()]
		if !ok && len(subjects) == 1 {
			i, ok = 0, true
		}
		if ok && r.Output != nil && len(all) < maxRows {
			all[place{i, r.Case.ID, r.Case.Input, r.Repeat}] = &before{answer(&r), cut(r.Output.Error), r.Passed()}
		}
	}
	return all, nil
}

func newRow(r *experiment.Result, subject int, b *before) *row {
	o := r.Output
	x := &row{
		Case: r.Case.ID, Subject: subject, Repeat: r.Repeat, Input: cut(r.Case.Input), Expected: plain(r.Case.Expected), Answer: answer(r), Error: cut(o.Error),
		Pass: r.Passed(), Seconds: float64(o.Latency.Milliseconds()) / 1000, Tokens: o.InputTokens + o.OutputTokens, Model: o.Model, Session: o.SessionID, Before: b,
	}
	if k, ok := r.Case.Metadata["category"].(string); ok {
		x.Category = cut(k)
	}
	for _, c := range o.Calls {
		if len(x.Tools) < 50 {
			x.Tools = append(x.Tools, cut(c.Name))
		}
	}
	for _, v := range r.Verdicts {
		x.Scores = append(x.Scores, [3]any{v.Evaluator, v.Overall.Value, cut(v.Overall.Explanation)})
		for _, s := range parts(&v) {
			x.Scores = append(x.Scores, [3]any{v.Evaluator + "." + s.Name, s.Value, cut(s.Explanation)})
		}
	}
	for name, reason := range r.Unjudged {
		x.Unjudged += cut(name+": "+reason) + "\n"
	}
	return x
}

// answer returns the text of an answer, that of a structured one as JSON.
func answer(r *experiment.Result) string {
	if len(r.Output.Value) > 0 {
		return plain(r.Output.Value)
	}
	return cut(r.Output.Text)
}

// plain returns a text as it is, and another JSON value indented.
func plain(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return cut(s)
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	text, _ := json.MarshalIndent(v, "", "  ")
	return cut(string(text))
}

// cut bounds a text.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + fmt.Sprintf("… (%d more bytes)", len(s)-n)
}

// inScript returns a text as JSON that cannot end a script element.
func inScript(s string) []byte {
	text, _ := json.Marshal(s) // with < as \u003c
	return text
}
