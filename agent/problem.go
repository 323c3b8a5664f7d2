package agent

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/arrange"
)

// Severity is error, for problems that make a document unusable, or warning.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is one mistake in a document: what, where, and how to fix it.
type Problem struct {
	Severity Severity `json:"severity"`
	// File is the name that Parse was given.
	File string `json:"file,omitempty"`
	// Line and Column count from 1, in lines and characters; both are 0 in a document
	// that was built in Go.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Pointer is the JSON pointer of the value, "" for the whole document.
	Pointer string `json:"pointer,omitempty"`
	Message string `json:"message"`
	// Hint says how to fix it; may be empty.
	Hint string `json:"hint,omitempty"`
	// Snippet is the line with a caret below the column.
	Snippet string `json:"snippet,omitempty"`
}

// Error returns the problem in one line: "file:line:column: message (hint)".
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.place())
	if p.Severity == SeverityWarning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// Detail returns the problem in several lines: place and message, the snippet, the
// hint.
func (p Problem) Detail() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s: %s\n", p.place(), p.Severity, p.Message)
	b.WriteString(p.Snippet)
	if p.Hint != "" {
		b.WriteString("  hint: " + p.Hint + "\n")
	}
	return b.String()
}

func (p Problem) place() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d: ", cmp.Or(p.File, "document"), p.Line, p.Column)
	case p.Pointer != "":
		return fmt.Sprintf("%s: ", p.Pointer)
	case p.File != "":
		return p.File + ": "
	}
	return ""
}

// Problems are the mistakes in a document, in the order of the source. As an error
// (from [Parse]) it holds at least one of severity error.
type Problems []Problem

// Error returns each error in one line, without the warnings.
func (ps Problems) Error() string {
	var lines []string
	for _, p := range ps.Errors() {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// Errors returns the problems that make the document unusable.
func (ps Problems) Errors() Problems { return ps.only(SeverityError) }

// Warnings returns the problems that leave the document usable.
func (ps Problems) Warnings() Problems { return ps.only(SeverityWarning) }

// Err returns the problems as an error, nil if there are only warnings.
func (ps Problems) Err() error {
	if len(ps.Errors()) == 0 {
		return nil
	}
	return ps
}

// Detail returns every problem in several lines, for a person.
func (ps Problems) Detail() string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.Detail())
	}
	return b.String()
}

func (ps Problems) only(s Severity) Problems {
	var out Problems
	for _, p := range ps {
		if p.Severity == s {
			out = append(out, p)
		}
	}
	return out
}

func (ps Problems) sort() {
	arrange.By(ps, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
}

// maxProblems bounds the errors and, separately, the warnings of a report: a file
// that is no document has a problem in every line.
const maxProblems = 100

// report collects the problems of one source.
type report struct {
	file  string
	lines []string
	list  Problems
	count map[Severity]int
}

func newReport(file string, src []byte) *report {
	return &report{file: file, lines: strings.Split(string(src), "\n"), count: map[Severity]int{}}
}

func (r *report) add(s Severity, pos position, pointer, hint, format string, args ...any) {
	if r.count[s]++; r.count[s] > maxProblems {
		return
	}
	for _, p := range r.list { // a warning at the place of an error follows from it
		here := pos.Line > 0 && p.Line == int(pos.Line) && p.Column == int(pos.Column)
		if p.Severity == SeverityError && pointer != "" && (here || p.Pointer == pointer) {
			return
		}
	}
	r.list = append(r.list, Problem{
		Severity: s, File: r.file, Line: int(pos.Line), Column: int(pos.Column), Pointer: pointer,
		Message: fmt.Sprintf(format, args...), Hint: hint, Snippet: r.snippet(pos),
	})
}

func (r *report) errorf(pos position, pointer, hint, format string, args ...any) {
	r.add(SeverityError, pos, pointer, hint, format, args...)
}

func (r *report) warnf(pos position, pointer, hint, format string, args ...any) {
	r.add(SeverityWarning, pos, pointer, hint, format, args...)
}

// snippet returns the line with its number, the line before it, and a caret.
func (r *report) snippet(pos position) string {
	line := int(pos.Line)
	if line < 1 || line > len(r.lines) {
		return ""
	}
	const width = 100
	var b strings.Builder
	gutter := len(fmt.Sprint(line))
	if line > 1 && strings.TrimSpace(r.lines[line-2]) != "" {
		fmt.Fprintf(&b, "  %*d | %s\n", gutter, line-1, clip(r.lines[line-2], width))
	}
	src := []rune(strings.TrimRight(r.lines[line-1], "\r"))
	column := min(max(int(pos.Column), 1), len(src)+1)
	cut, ellipsis := 0, ""
	if column > width {
		cut, ellipsis = column-width/2, "…"
	}
	fmt.Fprintf(&b, "> %d | %s%s\n", line, ellipsis, clip(string(src[cut:]), width))
	pad := []rune(ellipsis + string(src[cut:column-1]))
	for i, c := range pad {
		if c != '\t' {
			pad[i] = ' '
		}
	}
	fmt.Fprintf(&b, "  %*s | %s^\n", gutter, "", string(pad))
	return b.String()
}

// clip cuts a line to n characters.
func clip(s string, n int) string {
	s = strings.TrimRight(s, "\r")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
