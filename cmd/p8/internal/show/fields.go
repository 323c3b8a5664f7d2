package show

import (
	"fmt"
	"io"
	"time"
)

// Fields prints the fields of one thing, a line each, with their texts in a column.
type Fields struct {
	W io.Writer
	// Width is the width of the names.
	Width int
}

// Line prints a field on one line, or nothing if the text is empty.
func (f Fields) Line(name, text string) {
	if text = OneLine(text); text != "" {
		f.print(name, text)
	}
}

// Time prints a time in the local time zone, or nothing if it is zero.
func (f Fields) Time(name string, t time.Time) {
	if !t.IsZero() {
		f.print(name, Local(t))
	}
}

// Whole prints a text without cutting it, or nothing if it is empty.
func (f Fields) Whole(name, text string) {
	if text != "" {
		f.print(name, Visible(text))
	}
}

func (f Fields) print(name, text string) { fmt.Fprintf(f.W, "%-*s %s\n", f.Width, name, text) }
