// Package show prints values for people: tables, numbers, times, and texts without
// the control characters that a terminal would obey.
package show

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Widest is the longest cell of a table on the terminal, in characters; longer ones are
// cut.
const Widest = 72

// Grid is a table of texts.
type Grid struct {
	Columns []string
	Rows    [][]string
}

// Table prints the grid in aligned columns, a line per row.
func (g Grid) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		head[i] = strings.ToUpper(strings.ReplaceAll(Flat(c), "_", " "))
	}
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, row := range g.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			if cells[i] = shorten(Flat(c), Widest); cells[i] == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// Markdown prints the grid as a table of GitHub's Markdown. It cuts nothing.
func (g Grid) Markdown(w io.Writer) error {
	line := func(cells []string) {
		var b strings.Builder
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(Flat(c), "|", `\|`) + " ")
		}
		fmt.Fprintln(w, b.String()+"|")
	}
	line(g.Columns)
	rule := make([]string, len(g.Columns))
	for i := range rule {
		rule[i] = "---"
	}
	line(rule)
	for _, row := range g.Rows {
		line(row)
	}
	return nil
}

// Lines returns the lines that Table prints.
func (g Grid) Lines() []string {
	var b strings.Builder
	_ = g.Table(&b)
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
