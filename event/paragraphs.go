package event

import "strings"

// Paragraphs separates the paragraphs of a text that is written piece by piece. The zero
// value is an empty text.
type Paragraphs struct {
	begun bool
	lines int // line breaks at the end
}

// blankLine is two line breaks.
const blankLine = "\n\n"

// Next returns the piece as it must be written: before one that begins a paragraph come the
// line breaks that are missing for a blank line.
func (p *Paragraphs) Next(piece string, begins bool) string {
	rest := strings.TrimRight(piece, "\n")
	if begins && p.begun {
		first := len(piece) - len(strings.TrimLeft(piece, "\n"))
		if lacks := len(blankLine) - p.lines - first; lacks > 0 {
			piece = blankLine[:lacks] + piece
		}
	}
	switch {
	case rest != "":
		p.begun, p.lines = true, len(piece)-len(strings.TrimRight(piece, "\n"))
	case p.begun:
		p.lines += len(piece)
	}
	return piece
}
