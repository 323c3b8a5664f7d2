package markdown

import (
	"strings"
	"unicode/utf8"
)

// Stream shows a text that is being written.
type Stream struct {
	Options
	// open is what belongs to the block that is not complete.
	open string
	// begun says that a block was given.
	begun bool
	// cut is the beginning of a character whose end is still to come.
	cut string
}

// Add takes the next piece of the text.
func (s *Stream) Add(piece string) {
	piece = s.cut + piece
	end := len(piece)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(piece[i]) && !utf8.FullRuneInString(piece[i:]) {
			end = i
		}
	}
	s.open += visible(piece[:end])
	s.cut = piece[end:]
}

// Empty reports whether nothing is open.
func (s *Stream) Empty() bool { return strings.TrimSpace(s.open) == "" }

// Lines are those of the blocks that are complete since the last call, and those of
// the block that is open.
func (s *Stream) Lines() (done, open []string) {
	if s.Empty() {
		return nil, nil
	}
	r, doc := parse(s.open, s.Options)
	if last := doc.LastChild(); last != nil && last.PreviousSibling() != nil {
		if at := strings.LastIndexByte(s.open[:last.Pos()], '\n') + 1; at > 0 {
			done = s.spaced(Render(s.open[:at], s.Options))
			s.open, s.begun = s.open[at:], true
			r, doc = parse(s.open, s.Options)
		}
	}
	return done, s.spaced(r.blocks(doc, r.Width, 0))
}

// End are the lines of what is open, which is complete now.
func (s *Stream) End() []string {
	if s.Empty() {
		s.open = ""
		return nil
	}
	lines := s.spaced(Render(s.open, s.Options))
	s.open, s.begun = "", true
	return lines
}

// spaced puts an empty line between a block and those before.
func (s *Stream) spaced(lines []string) []string {
	if s.begun && len(lines) > 0 {
		return append([]string{""}, lines...)
	}
	return lines
}
