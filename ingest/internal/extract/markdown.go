package extract

import (
	"regexp"
	"strings"

	"p8/ingest/internal/chunk"
)

var (
	atxHeading   = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*[ \t]*$`)
	fenceOpen    = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
	underline    = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	tableRule    = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
	inlineMarkup = regexp.MustCompile("!?\\[([^\\]]*)\\]\\([^)]*\\)|[`*]+")
)

// scanner goes through the lines of a text.
type scanner struct {
	text string
	at   int
	out  []chunk.Block
}

// line is the line at an offset without its end, and where the next begins.
func (s *scanner) line(at int) (string, int) {
	next := len(s.text)
	if i := strings.IndexByte(s.text[at:], '\n'); i >= 0 {
		next = at + i + 1
	}
	return strings.TrimRight(s.text[at:next], "\r\n"), next
}

// close ends a block behind the empty lines that follow it.
func (s *scanner) close(b chunk.Block, end int) {
	for end < len(s.text) {
		line, next := s.line(end)
		if strings.TrimSpace(line) != "" {
			break
		}
		end = next
	}
	b.Start, b.End = s.at, end
	s.out = append(s.out, b)
	s.at = end
}

// MarkdownBlocks are the blocks of a Markdown text from an offset on.
func MarkdownBlocks(text string, from int) []chunk.Block {
	s := &scanner{text: text, at: from}
	for s.at < len(text) {
		line, next := s.line(s.at)
		switch m := atxHeading.FindStringSubmatch(line); {
		case m != nil:
			s.close(chunk.Block{Kind: chunk.Heading, Level: len(m[1]), Title: plain(m[2])}, next)
		case fenceOpen.MatchString(line):
			s.close(chunk.Block{Kind: chunk.Verbatim}, s.fence(line, next))
		case strings.Contains(line, "|") && s.table(next):
		case s.setext(line, next):
		default:
			s.close(chunk.Block{}, s.paragraph(next))
		}
	}
	return s.out
}

// fence is where a fenced block ends: behind its closing fence, else with the
// text.
func (s *scanner) fence(open string, at int) int {
	mark := fenceOpen.FindStringSubmatch(open)[1]
	for at < len(s.text) {
		line, next := s.line(at)
		at = next
		if t := strings.TrimSpace(line); strings.HasPrefix(t, mark) && strings.Trim(t, mark[:1]) == "" {
			break
		}
	}
	return at
}

// table takes a table whose header ends at an offset, a block a row.
func (s *scanner) table(at int) bool {
	if at >= len(s.text) {
		return false
	}
	rule, body := s.line(at)
	if !tableRule.MatchString(rule) || !strings.Contains(rule, "|") {
		return false
	}
	header := s.text[s.at:body]
	s.close(chunk.Block{Kind: chunk.Verbatim}, body)
	for s.at == body && s.at < len(s.text) {
		line, next := s.line(s.at)
		if !strings.Contains(line, "|") {
			break
		}
		body = next
		s.close(chunk.Block{Kind: chunk.Verbatim, Repeat: header}, next)
	}
	return true
}

// setext takes a heading that is underlined.
func (s *scanner) setext(line string, next int) bool {
	if strings.TrimSpace(line) == "" || next >= len(s.text) || listLine(line) {
		return false
	}
	below, end := s.line(next)
	m := underline.FindStringSubmatch(below)
	if m == nil {
		return false
	}
	level := 1
	if m[1][0] == '-' {
		level = 2
	}
	s.close(chunk.Block{Kind: chunk.Heading, Level: level, Title: plain(line)}, end)
	return true
}

// paragraph is where a paragraph (a list, a quotation) ends: at an empty line, a
// heading, or a fence.
func (s *scanner) paragraph(at int) int {
	for at < len(s.text) {
		line, next := s.line(at)
		if strings.TrimSpace(line) == "" || atxHeading.MatchString(line) || fenceOpen.MatchString(line) {
			break
		}
		at = next
	}
	return at
}

func listLine(line string) bool {
	t := strings.TrimSpace(line)
	return strings.HasPrefix(t, "- ") || strings.HasPrefix(t, "* ") || strings.HasPrefix(t, ">")
}

// plain is a heading's text without markup.
func plain(s string) string {
	return strings.TrimSpace(inlineMarkup.ReplaceAllString(s, "$1"))
}
