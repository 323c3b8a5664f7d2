package turns

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/event"
)

// status returns the status line.
func (v *view) status(width int) string {
	what := "answers"
	if !v.said || v.thinking {
		what = "thinks"
	}
	if n := len(v.children); n > 0 {
		what = "asked " + show.Count(n, "agent")
	}
	line := strings.Join([]string{v.agent + " " + what, v.model, show.Seconds(v.now().Sub(v.root.began).Truncate(time.Second)), "Ctrl-C stops"}, " · ")
	return v.pen.Paint(term.Dim, term.Cut(line, width))
}

// footer returns the line about an answer: agent, model, tokens, cost, time.
func (v *view) footer() string {
	parts := []string{cmp.Or(show.OneLine(v.Meta.RespondingAgent), v.agent), cmp.Or(show.OneLine(v.Meta.ModelVersion), v.model)}
	if n := v.Usage.InputTokens + v.Usage.OutputTokens; n > 0 {
		parts = append(parts, show.Thousands(n)+" tokens")
	}
	if v.Usage.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", v.Usage.CostUSD))
	}
	parts = append(parts, show.Seconds(v.now().Sub(v.root.began)))
	if v.done != nil && v.done.Reason == event.ReasonCancelled {
		parts = append(parts, "stopped")
	}
	if v.done != nil && v.done.TransferTo != "" {
		parts = append(parts, "handed to "+show.OneLine(v.done.TransferTo))
	}
	if v.before > 0 {
		all := show.Thousands(v.before+v.Usage.InputTokens+v.Usage.OutputTokens) + " tokens"
		if cost := v.cost + v.Usage.CostUSD; cost > 0 {
			all += fmt.Sprintf(" $%.4f", cost)
		}
		parts = append(parts, "session "+all)
	}
	return strings.Join(parts, " · ")
}
