package runs

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/internal/trace"
	"github.com/p8-org/p8/store"
)

// drawing draws traces for a terminal of some width.
type drawing struct {
	w     io.Writer
	pen   term.Pen
	width int
	// bar and label are the columns of the bars, 0 for none, and of the tree.
	bar, label int
	whole      int64 // milliseconds of the turn
}

// The columns beside the tree: start, duration, tokens, money, with the spaces between them.
const (
	timesWidth  = 17
	tokensWidth = 15
	moneyWidth  = 10
	leastLabel  = 30
	mostBar     = 40
)

func (d *drawing) draw(t *trace.Trace) error {
	if t.Earlier {
		fmt.Fprintln(d.w, d.pen.Paint(term.Dim, "(earlier turns are left out: --turns shows more)"))
	}
	d.bar = max(0, min(mostBar, (d.width-leastLabel-timesWidth-tokensWidth-moneyWidth)/2))
	if d.bar < 8 {
		d.bar = 0
	}
	d.label = max(12, d.width-timesWidth-d.bar-1)
	if d.wide() {
		d.label -= tokensWidth + moneyWidth
	}
	for i, n := range t.Turns {
		if i > 0 {
			fmt.Fprintln(d.w)
		}
		d.whole = max(1, n.DurationMS)
		for _, c := range n.Children {
			d.whole = max(d.whole, c.StartMS+c.DurationMS)
		}
		if err := d.node(n, "", ""); err != nil {
			return err
		}
	}
	return nil
}

// wide reports whether there is room for tokens and money.
func (d *drawing) wide() bool { return d.width >= leastLabel+timesWidth+tokensWidth+moneyWidth }

// node draws a node and those below it. first is before its line, rest before those below.
func (d *drawing) node(n *trace.Node, first, rest string) error {
	if _, err := fmt.Fprintln(d.w, strings.TrimRight(d.line(n, first), " ")); err != nil {
		return err
	}
	for i, c := range n.Children {
		branch, below := "├─ ", "│  "
		if i == len(n.Children)-1 {
			branch, below = "└─ ", "   "
		}
		if err := d.node(c, rest+branch, rest+below); err != nil {
			return err
		}
	}
	return nil
}

func (d *drawing) line(n *trace.Node, first string) string {
	style := styleOf(n)
	name, detail := nameOf(n), show.Flat(n.Detail)
	room := d.label - term.Width(first)
	if room < 8 { // too deep for the terminal
		first = term.Cut(first, max(0, d.label-8))
		room = d.label - term.Width(first)
	}
	name = term.Cut(name, room)
	line := d.pen.Paint(term.Dim, first) + d.pen.Paint(style, name)
	room -= term.Width(name)
	if room > 6 && detail != "" {
		detail = term.Cut(" "+detail, room)
		detailStyle := term.Dim
		if n.Status == trace.Failed {
			detailStyle = term.Red
		}
		line += d.pen.Paint(detailStyle, detail)
		room -= term.Width(detail)
	}
	line += strings.Repeat(" ", max(0, room))
	start, took := "", ""
	if n.StartMS >= 0 {
		start, took = "+"+show.Seconds(time.Duration(n.StartMS)*time.Millisecond), show.Seconds(time.Duration(n.DurationMS)*time.Millisecond)
	}
	if n.Kind == trace.Turn {
		start = show.Local(n.StartedAt)[len("2006-01-02 "):]
	}
	line += d.pen.Paint(term.Dim, fmt.Sprintf(" %8s", start)) + fmt.Sprintf(" %7s", took)
	if d.bar > 0 {
		line += " " + d.pen.Paint(style&^term.Bold, d.drawBar(n))
	}
	if d.wide() {
		tokens := ""
		if n.InputTokens+n.OutputTokens > 0 {
			tokens = short(n.InputTokens) + " → " + short(n.OutputTokens)
		}
		line += fmt.Sprintf(" %14s", tokens) + fmt.Sprintf(" %9s", show.Money(n.CostUSD))
	}
	return line
}

// drawBar draws when a node was under way.
func (d *drawing) drawBar(n *trace.Node) string {
	if n.StartMS < 0 {
		return strings.Repeat(" ", d.bar)
	}
	from := min(int(n.StartMS*int64(d.bar)/d.whole), d.bar-1)
	length := max(1, int((n.DurationMS*int64(d.bar)+d.whole-1)/d.whole))
	if n.Kind == trace.Turn {
		from = 0
	}
	length = min(length, d.bar-from)
	mark := "█"
	switch {
	case n.DurationMS == 0:
		mark = "▏"
	case n.Kind == trace.Wait || n.Count > 1:
		mark = "░"
	case n.Kind == trace.Agent || n.Kind == trace.Turn:
		mark = "━"
	}
	return strings.Repeat(" ", from) + strings.Repeat(mark, length) + strings.Repeat(" ", d.bar-from-length)
}

func styleOf(n *trace.Node) term.Style {
	switch {
	case n.Status == trace.Failed, n.Status == store.RequestDeclined:
		return term.Red
	case n.Kind == trace.Turn:
		return term.Bold
	case n.Kind == trace.Agent:
		return term.Cyan
	case n.Kind == trace.Model:
		return term.Blue
	case n.Kind == trace.Tool:
		return term.Green
	case n.Kind == trace.Wait:
		return term.Yellow
	}
	return term.Dim
}

func nameOf(n *trace.Node) string {
	name := show.OneLine(n.Name)
	switch n.Kind {
	case trace.More:
		return "… " + show.Count(n.Count, "more step")
	case trace.Agent:
		name = "◆ " + name
	case trace.Turn:
		name = "● " + cmp.Or(name, "?")
	case trace.Wait:
		name = "waits for " + name
	}
	if n.Count > 1 {
		name += " ×" + strconv.Itoa(n.Count)
	}
	if s := n.Status; s != "" && s != store.RequestAccepted {
		name += " [" + show.OneLine(s) + "]"
	}
	return name
}

// short formats a number of tokens in at most five characters.
func short(n int) string {
	switch {
	case n < 10_000:
		return strconv.Itoa(n)
	case n < 1_000_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
}
