package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/event"
)

// status says what is going on.
func (v *view) status(width int) string {
	what := "answers"
	if !v.said || v.thinking {
		what = "thinks"
	}
	if n := len(v.children); n > 0 {
		what = "asked " + count(n, "agent")
	}
	line := strings.Join([]string{v.agent + " " + what, v.model, seconds(v.now().Sub(v.root.began).Truncate(time.Second)), "Ctrl-C stops"}, " · ")
	return v.pen.Paint(term.Dim, term.Cut(line, width))
}

// footer says who answered, and what it took.
func (v *view) footer() string {
	parts := []string{cmp.Or(oneLine(v.meta.RespondingAgent), v.agent), cmp.Or(oneLine(v.meta.ModelVersion), v.model)}
	if n := v.usage.InputTokens + v.usage.OutputTokens; n > 0 {
		parts = append(parts, thousands(n)+" tokens")
	}
	if v.usage.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", v.usage.CostUSD))
	}
	parts = append(parts, seconds(v.now().Sub(v.root.began)))
	if v.done != nil && v.done.Reason == event.ReasonCancelled {
		parts = append(parts, "stopped")
	}
	if v.done != nil && v.done.TransferTo != "" {
		parts = append(parts, "handed to "+oneLine(v.done.TransferTo))
	}
	if v.before > 0 {
		all := thousands(v.before+v.usage.InputTokens+v.usage.OutputTokens) + " tokens"
		if cost := v.cost + v.usage.CostUSD; cost > 0 {
			all += fmt.Sprintf(" $%.4f", cost)
		}
		parts = append(parts, "session "+all)
	}
	return strings.Join(parts, " · ")
}

// seconds is a duration as a person says it.
func seconds(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Second && d > 0:
		return strconv.FormatInt(max(1, d.Milliseconds()), 10) + "ms"
	case d < 10*time.Second && d%time.Second != 0:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}

// thousands is a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
