package report

import (
	"fmt"
	"io"
	"strings"
)

// head writes the page up to the answers. It is made without html/template, whose reflection
// would make the linker keep 4 MB of methods.
func (p *Page) head(w io.Writer) {
	fmt.Fprintf(w, `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta http-equiv="Content-Security-Policy" content="%s">
<link rel="icon" href="data:,"><title>%s</title><style>%s</style></head><body>
<a class="skip" href="#answers">Skip to the answers</a>
<header><h1>%s</h1><p>%s</p><dl>`, esc(policy()), esc(p.Name), pageStyle, esc(p.Name), esc(p.about()))
	for _, x := range [][2]string{{"Dataset", p.Plan.Dataset}, {"SHA-256", p.Plan.Hash}, {"Evaluation", p.ID}, {"Baseline", p.Baseline}} {
		if x[1] != "" {
			fmt.Fprintf(w, `<div><dt>%s</dt><dd>%s</dd></div>`, x[0], esc(x[1]))
		}
	}
	for _, a := range p.Plan.Agents {
		version := strings.TrimSpace(a.Version + " " + a.Hash)
		if version != "" {
			fmt.Fprintf(w, `<div><dt>%s</dt><dd>%s</dd></div>`, esc(a.Name), esc(version))
		}
	}
	io.WriteString(w, `</dl></header><main>`)
	p.summary(w)
	p.comparisons(w)
	io.WriteString(w, `<section class="plots" aria-label="Plots">`)
	for _, plot := range plots(p.Summary) {
		io.WriteString(w, plot)
	}
	io.WriteString(w, `</section><section id="answers"><h2>Answers</h2><noscript>The answers need JavaScript, which this page carries itself.</noscript>
<form id="filter"><label>Search <input id="text" type="search" placeholder="/" autocomplete="off"></label>
<label>Agent <select id="subject"><option value="">all</option>`)
	for i := range p.Summary.Subjects {
		fmt.Fprintf(w, `<option value="%d">%s</option>`, i, esc(p.Summary.Subjects[i].String()))
	}
	io.WriteString(w, `</select></label><label>Show <select id="state"><option value="">all</option><option value="fail">not passed</option><option value="pass">passed</option>
<option value="error">failed runs</option><option value="unjudged">not judged</option>`)
	if p.Before != nil {
		io.WriteString(w, `<option value="worse">worse than the baseline</option><option value="better">better than the baseline</option><option value="other">another answer than the baseline</option>`)
	}
	io.WriteString(w, `</select></label><label>Sort <select id="sort"><option value="">as in the dataset</option><option value="score">lowest score</option><option value="time">slowest</option><option value="tokens">most tokens</option></select></label>
<output id="count"></output></form>
<p class="keys"><kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>Enter</kbd> open, close · <kbd>n</kbd> <kbd>p</kbd> page · <kbd>/</kbd> search · <kbd>Esc</kbd> leave the search</p>
<div id="list" role="list" tabindex="0" aria-label="Answers"></div><nav id="pages" aria-label="Pages"></nav></section></main>
<script type="application/json" id="data">{"subjects":[`)
	for i := range p.Summary.Subjects {
		if i > 0 {
			io.WriteString(w, ",")
		}
		w.Write(inScript(p.Summary.Subjects[i].String()))
	}
	io.WriteString(w, "],\"rows\":[\n")
}

// tail ends the page.
func (p *Page) tail(w io.Writer) {
	fmt.Fprintf(w, "\n]}</script><script>%s</script></body></html>\n", pageScript)
}

// about says in a line what was run.
func (p *Page) about() string {
	s := fmt.Sprintf("%s · %d cases × %d agents × %d models", p.Created.UTC().Format("2 January 2006 15:04 UTC"), p.Plan.Cases, len(p.Plan.Agents), len(p.Plan.Models))
	if p.Plan.Repeats > 1 {
		s += fmt.Sprintf(" × %d repeats", p.Plan.Repeats)
	}
	return s
}

// summary writes the table of the subjects.
func (p *Page) summary(w io.Writer) {
	names := scoreNames(p.Summary)
	io.WriteString(w, `<section><h2>Summary</h2><div class="scroll"><table><thead><tr><th>Agent</th><th>Model</th>`)
	for _, name := range names {
		fmt.Fprintf(w, `<th class="n">%s</th>`, esc(name))
	}
	io.WriteString(w, `<th class="n">p50</th><th class="n">p95</th><th class="n">Tokens</th><th class="n">Cost</th><th class="n">Judging</th><th class="n">Failed</th><th class="n">Unjudged</th></tr></thead><tbody>`)
	for i := range p.Summary.Subjects {
		x := &p.Summary.Subjects[i]
		model := esc(x.Model)
		if len(x.Models) > 0 {
			model = strings.TrimSpace(model + ` <small>answered: ` + esc(strings.Join(x.Models, ", ")) + `</small>`)
		}
		fmt.Fprintf(w, `<tr class="c%d"><th scope="row"><i class="dot"></i>%s</th><td>%s</td>`, i%8, esc(x.Agent), model)
		for _, name := range names {
			v, ok := x.Value(name)
			switch {
			case !ok:
				io.WriteString(w, `<td class="n">–</td>`)
			case name == PassName:
				fmt.Fprintf(w, `<td class="n"><b>%.1f %%</b> <small>%.1f – %.1f</small></td>`, 100*v.Value, 100*v.Low, 100*v.High)
			default:
				fmt.Fprintf(w, `<td class="n"><b>%.3f</b> <small>%.3f – %.3f</small></td>`, v.Value, v.Low, v.High)
			}
		}
		fmt.Fprintf(w, `<td class="n">%s</td><td class="n">%s</td><td class="n">%d</td><td class="n">$%.4f</td><td class="n">$%.4f</td><td class="n">%d of %d</td><td class="n">%d</td></tr>`,
			seconds(x.Latency.P50), seconds(x.Latency.P95), x.InputTokens+x.OutputTokens, x.CostUSD, x.JudgeCostUSD, x.Failed, x.Answers, x.Unjudged)
	}
	fmt.Fprintf(w, `</tbody></table></div><p class="note">Intervals: %s. A failed run scores 0. Latency leaves out the waiting for a provider that refuses requests.</p>`, esc(strings.Join(p.Summary.methods(), "; ")))
	p.repeats(w)
	io.WriteString(w, `</section>`)
}

// repeats writes pass@k and pass^k.
func (p *Page) repeats(w io.Writer) {
	for i := range p.Summary.Subjects {
		x := &p.Summary.Subjects[i]
		if len(x.PassAt) < 2 {
			continue
		}
		fmt.Fprintf(w, `<div class="scroll"><table><caption>%s</caption><thead><tr><th>k</th>`, esc(x.String()))
		for k := range x.PassAt {
			fmt.Fprintf(w, `<th class="n">%d</th>`, k+1)
		}
		for _, row := range []struct {
			name   string
			values []float64
		}{{"pass@k: one of k passes", x.PassAt}, {"pass^k: all k pass", x.PassAll}} {
			fmt.Fprintf(w, `</tr><tr><th scope="row">%s</th>`, row.name)
			for _, v := range row.values {
				fmt.Fprintf(w, `<td class="n">%.3f</td>`, v)
			}
		}
		io.WriteString(w, `</tr></thead></table></div>`)
	}
}

// comparisons writes the table of what got better and worse.
func (p *Page) comparisons(w io.Writer) {
	if len(p.Summary.Comparisons) == 0 {
		return
	}
	io.WriteString(w, `<section><h2>Changes</h2><div class="scroll"><table><thead><tr><th>Agent</th><th>Against</th><th>Score</th><th></th><th class="n">Change</th><th class="n">Better</th><th class="n">Worse</th><th class="n">Cases</th><th class="n">p</th><th>Test</th></tr></thead><tbody>`)
	for i := range p.Summary.Comparisons {
		c := &p.Summary.Comparisons[i]
		against := c.Before.String()
		if c.Baseline {
			against = "the baseline, " + against
		}
		class := map[string]string{"better": "good", "worse": "bad"}[c.Verdict()]
		fmt.Fprintf(w, `<tr><th scope="row">%s</th><td>%s</td><td>%s</td><td class="%s">%s</td><td class="n">%+.3f <small>%+.3f – %+.3f</small></td><td class="n">%d</td><td class="n">%d</td><td class="n">%d</td><td class="n">%s</td><td>%s</td></tr>`,
			esc(c.After.String()), esc(against), esc(c.Score), class, c.Verdict(), c.Delta.Value, c.Delta.Low, c.Delta.High, c.Better, c.Worse, c.Cases, esc(chance(c.P)), esc(c.Test))
	}
	io.WriteString(w, `</tbody></table></div><p class="note">Better and worse count cases. A change with p below 0.05 is called better or worse; with many comparisons some are by chance.</p></section>`)
}

// chance prints a p value.
func chance(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}
