package tree

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of a source.
const (
	// MaxSource is the default of Reader.Max.
	MaxSource = 256 << 10
	// MaxDepth bounds the levels of a document.
	MaxDepth = 64
	// maxWeight bounds a document written out; aliases count each time they are used.
	maxWeight = 1 << 20
)

// Reader reads a source into a tree.
type Reader struct {
	// File is the name of the source; one that ends in .json is JSON.
	File string
	// Max bounds the source in bytes; MaxSource if 0.
	Max int
	// Report takes each problem with its place, which is zero if unknown, and a hint.
	Report func(at Position, hint, message string)
	// Hints say what the document should be instead.
	Hints Hints

	src string
}

// Hints are how to fix problems that depend on what the document is for.
type Hints struct {
	// Long is for a source that is too large, Several for one with several documents, Begin
	// for one that is empty or no mapping.
	Long, Several, Begin string
}

func (r *Reader) errorf(at Position, hint, format string, args ...any) {
	r.Report(at, hint, fmt.Sprintf(format, args...))
}

// line returns a line of the source by its number from 1, "" if there is none.
func (r *Reader) line(number int32) string {
	n := int32(0)
	for line := range strings.SplitSeq(r.src, "\n") {
		if n++; n == number {
			return line
		}
	}
	return ""
}

func (r *Reader) max() int { return cmp.Or(r.Max, MaxSource) }

// Clip cuts a text to n characters.
func Clip(s string, n int) string {
	s = strings.TrimRight(s, "\r")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
