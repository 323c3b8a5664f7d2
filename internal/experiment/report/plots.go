package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/experiment/stats"
)

// plots draws a summary as SVG.
func plots(s *Summary) []string {
	var all []string
	for _, name := range scoreNames(s) {
		var lines []line
		for i := range s.Subjects {
			if v, ok := s.Subjects[i].Value(name); ok {
				lines = append(lines, line{s.Subjects[i].String(), v, fmt.Sprintf("%.3f", v.Value), fmt.Sprint("c", i%8)})
			}
		}
		all = append(all, intervals(name, lines, 0, 1))
	}
	for _, baseline := range []bool{true, false} {
		if plot := changes(s, baseline); plot != "" {
			all = append(all, plot)
		}
	}
	return append(all, latencies(s))
}

// changes draws the comparisons with the baseline, or those with the first subject; "" for none.
func changes(s *Summary, baseline bool) string {
	var lines []line
	title, reach := "Change against the baseline", 0.05
	for i := range s.Comparisons {
		c := &s.Comparisons[i]
		if c.Baseline != baseline {
			continue
		}
		if !baseline {
			title = "Change against " + c.Before.String()
		}
		reach = max(reach, math.Abs(c.Delta.Low), math.Abs(c.Delta.High))
		colour := map[string]string{"better": "better", "worse": "worse"}[c.Verdict()]
		lines = append(lines, line{c.After.String() + ", " + c.Score, c.Delta, fmt.Sprintf("%+.3f", c.Delta.Value), colour})
	}
	if len(lines) == 0 {
		return ""
	}
	return intervals(title, lines, -reach, reach)
}

// scoreNames are those that are plotted: the pass rate and the overall scores.
func scoreNames(s *Summary) (names []string) {
	for i := range s.Subjects {
		if s.Subjects[i].Pass != nil && !slices.Contains(names, PassName) {
			names = append([]string{PassName}, names...)
		}
		for _, x := range s.Subjects[i].Scores {
			if !strings.Contains(x.Name, ".") && !slices.Contains(names, x.Name) {
				names = append(names, x.Name)
			}
		}
	}
	return names
}

// line is one line of a plot: a dot with its interval.
type line struct {
	label string
	value stats.Interval
	text  string
	// colour is a class of the style.
	colour string
}

const (
	plotWidth, plotLeft, plotRight = 620, 236, 76
	plotLine                       = 28
)

// intervals draws dots with whiskers between two bounds.
func intervals(title string, lines []line, low, high float64) string {
	var b strings.Builder
	height := plotLine*len(lines) + 34
	x := func(v float64) float64 {
		return plotLeft + (plotWidth-plotLeft-plotRight)*(min(max(v, low), high)-low)/(high-low)
	}
	fmt.Fprintf(&b, `<figure><figcaption>%s</figcaption><svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, esc(title), plotWidth, height, esc(title))
	for k := range 5 {
		v := low + (high-low)*float64(k)/4
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="4" y2="%d"/><text class="tick" x="%.1f" y="%d">%.2g</text>`, x(v), x(v), height-22, x(v), height-6, v)
	}
	for i, l := range lines {
		y := plotLine*i + plotLine/2 + 4
		fmt.Fprintf(&b, `<g class="%s"><title>%s: %.3f, from %.3f to %.3f (%s, n = %d)</title><text class="label" x="%d" y="%d">%s</text>`,
			l.colour, esc(l.label), l.value.Value, l.value.Low, l.value.High, esc(l.value.Method), l.value.N, plotLeft-12, y+4, esc(clip(l.label, 36)))
		fmt.Fprintf(&b, `<line class="whisker" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><line class="whisker" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><line class="whisker" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`,
			x(l.value.Low), x(l.value.High), y, y, x(l.value.Low), x(l.value.Low), y-5, y+5, x(l.value.High), x(l.value.High), y-5, y+5)
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%d" r="5"/><text class="value" x="%d" y="%d">%s</text></g>`, x(l.value.Value), y, plotWidth-plotRight+14, y+4, esc(l.text))
	}
	b.WriteString(`</svg></figure>`)
	return b.String()
}

// latencies draws how the times of each subject are spread: from the 5th to the 95th percentile,
// with the middle half and the median.
func latencies(s *Summary) string {
	most := 0.001
	for i := range s.Subjects {
		most = max(most, stats.Quantile(s.Subjects[i].times, 0.95))
	}
	var b strings.Builder
	height := plotLine*len(s.Subjects) + 34
	x := func(v float64) float64 { return plotLeft + (plotWidth-plotLeft-plotRight)*min(v/most, 1) }
	fmt.Fprintf(&b, `<figure><figcaption>Latency: 5 %% to 95 %% of the answers, the middle half, the median</figcaption><svg viewBox="0 0 %d %d" role="img" aria-label="Latency">`, plotWidth, height)
	for k := range 5 {
		v := most * float64(k) / 4
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="4" y2="%d"/><text class="tick" x="%.1f" y="%d">%s</text>`, x(v), x(v), height-22, x(v), height-6, seconds(v))
	}
	for i := range s.Subjects {
		t, y := s.Subjects[i].times, plotLine*i+plotLine/2+4
		q := func(p float64) float64 { return x(stats.Quantile(t, p)) }
		fmt.Fprintf(&b, `<g class="c%d"><text class="label" x="%d" y="%d">%s</text><line class="whisker" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><rect x="%.1f" y="%d" width="%.1f" height="14" rx="2"/><line class="median" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text class="value" x="%d" y="%d">%s</text></g>`,
			i%8, plotLeft-12, y+4, esc(clip(s.Subjects[i].String(), 36)), q(0.05), q(0.95), y, y, q(0.25), y-7, max(q(0.75)-q(0.25), 1), q(0.5), q(0.5), y-9, y+9, plotWidth-plotRight+14, y+4, seconds(s.Subjects[i].Latency.P50))
	}
	b.WriteString(`</svg></figure>`)
	return b.String()
}

func esc(s string) string { return html.EscapeString(s) }

// clip shortens a label in its middle, so that agent and model stay readable.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n/2]) + "…" + string(r[len(r)-n/2+1:])
}
