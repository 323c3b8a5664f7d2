package markdown

import (
	"strings"
	"unicode/utf8"
)

// Stream renders a text while it arrives.
type Stream struct {
	Options
	// open is the source of the incomplete block.
	open string
	// begun: a block was returned.
	begun bool
	// cut is the beginning of an incomplete character.
	cut string
}

// Add adds the next piece of the text.
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

// Empty reports whether there is no incomplete block.
func (s *Stream) Empty() bool { return strings.TrimSpace(s.open) == "" }

// Lines returns the lines of the blocks completed since the last call, and those of the
// incomplete block.
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

// End completes the last block and returns its lines.
func (s *Stream) End() []string {
	if s.Empty() {
		s.open = ""
		return nil
	}
	lines := s.spaced(Render(s.open, s.Options))
	s.open, s.begun = "", true
	return lines
}

// spaced puts an empty line between a block and the previous one.
func (s *Stream) spaced(lines []string) []string {
	if s.begun && len(lines) > 0 {
		return append([]string{""}, lines...)
	}
	return lines
}
