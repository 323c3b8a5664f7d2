package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/goccy/go-yaml"
)

// The formats of an answer.
const (
	formatTable    = "table"
	formatJSON     = "json"
	formatYAML     = "yaml"
	formatMarkdown = "markdown"
)

// widest is where a cell of a table on the terminal is cut, in characters.
const widest = 72

// grid is an answer as rows of texts.
type grid struct {
	columns []string
	rows    [][]string
}

// table prints aligned columns, each row a line.
func (g grid) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := make([]string, len(g.columns))
	for i, c := range g.columns {
		head[i] = strings.ToUpper(strings.ReplaceAll(flat(c), "_", " "))
	}
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, row := range g.rows {
		cells := make([]string, len(row))
		for i, c := range row {
			if cells[i] = shorten(flat(c), widest); cells[i] == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// markdown prints a table of GitHub's Markdown, nothing cut.
func (g grid) markdown(w io.Writer) error {
	line := func(cells []string) {
		var b strings.Builder
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(flat(c), "|", `\|`) + " ")
		}
		fmt.Fprintln(w, b.String()+"|")
	}
	line(g.columns)
	rule := make([]string, len(g.columns))
	for i := range rule {
		rule[i] = "---"
	}
	line(rule)
	for _, row := range g.rows {
		line(row)
	}
	return nil
}

// flat is a text on one line, whole.
func flat(s string) string { return strings.Join(strings.Fields(visible(s)), " ") }

// shorten cuts a text to n characters, the last of them an ellipsis.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// cell is a value as text: texts as they are, everything else as JSON.
func cell(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case json.RawMessage:
		var s string
		if json.Unmarshal(x, &s) == nil {
			return s
		}
		if string(x) == "null" {
			return ""
		}
		return string(x)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// writeYAML prints a value as YAML with the names and the order of its JSON.
func writeYAML(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if b, err = yaml.JSONToYAML(b); err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
