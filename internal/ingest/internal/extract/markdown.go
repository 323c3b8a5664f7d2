package extract

import (
	"context"
	"iter"
	"regexp"
	"strings"

	"github.com/p8-org/p8/internal/ingest/internal/chunk"
)

var (
	atxHeading   = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*[ \t]*$`)
	fenceOpen    = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
	underline    = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	tableRule    = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
	inlineMarkup = regexp.MustCompile("!?\\[([^\\]]*)\\]\\([^)]*\\)|[`*]+")
)

// scanner reads the lines of a text up to end and yields its blocks.
type scanner struct {
	ctx     context.Context
	text    string
	at, end int
	yield   func(chunk.Block) bool
	stopped bool
	lines   int
}

// looks is the number of lines between two checks of the context.
const looks = 4096

// scan yields the blocks from an offset. Each call of next yields one or more.
func scan(ctx context.Context, text string, from, end int, next func(*scanner)) iter.Seq[chunk.Block] {
	return func(yield func(chunk.Block) bool) {
		s := &scanner{ctx: ctx, text: text, at: from, end: end, yield: yield}
		for s.at < s.end && !s.stopped {
			next(s)
		}
	}
}

// line returns the line at an offset without its line break, and the offset of the next. If
// the context has ended, there is no next line.
func (s *scanner) line(at int) (string, int) {
	if s.lines++; s.lines%looks == 0 && s.ctx.Err() != nil {
		s.stopped = true
		return "", s.end
	}
	next := s.end
	if i := strings.IndexByte(s.text[at:s.end], '\n'); i >= 0 {
		next = at + i + 1
	}
	return strings.TrimRight(s.text[at:next], "\r\n"), next
}

// close yields a block, which includes the empty lines after end.
func (s *scanner) close(b chunk.Block, end int) {
	for end < s.end {
		line, next := s.line(end)
		if strings.TrimSpace(line) != "" {
			break
		}
		end = next
	}
	b.Start, b.End = s.at, end
	s.at = end
	s.stopped = s.stopped || !s.yield(b)
}

// MarkdownBlocks returns the blocks of a Markdown text from an offset.
func MarkdownBlocks(ctx context.Context, text string, from int) iter.Seq[chunk.Block] {
	return scan(ctx, text, from, len(text), func(s *scanner) {
		line, next := s.line(s.at)
		switch level, title := heading(line); {
		case level > 0:
			s.close(chunk.Block{Kind: chunk.Heading, Level: level, Title: plain(title)}, next)
		case isFence(line):
			s.close(chunk.Block{Kind: chunk.Verbatim}, s.fence(line, next))
		case strings.Contains(line, "|") && s.table(next):
		case s.setext(line, next):
		default:
			s.close(chunk.Block{}, s.paragraph(next))
		}
	})
}

// longestMarkup bounds the lines that are matched with a pattern, in bytes. Headings, fences
// and rules of tables are shorter, and patterns are slow on lines of megabytes.
const longestMarkup = 4 << 10

// heading returns the level and the text of a heading that begins with #; level is 0 for
// other lines.
func heading(line string) (level int, title string) {
	if !begins(line, "#") {
		return 0, ""
	}
	m := atxHeading.FindStringSubmatch(line)
	if m == nil {
		return 0, ""
	}
	return len(m[1]), m[2]
}

func isFence(line string) bool { return begins(line, "`~") && fenceOpen.MatchString(line) }

// begins reports whether a line of at most longestMarkup bytes begins with one of the
// characters, after at most three blanks.
func begins(line, chars string) bool {
	const indent = 3
	t := strings.TrimLeft(line[:min(len(line), indent+1)], " ")
	return t != "" && strings.IndexByte(chars, t[0]) >= 0 && len(line) <= longestMarkup
}

// fence returns the end of a fenced block: after its closing fence, or the end of the text.
func (s *scanner) fence(open string, at int) int {
	mark := fenceOpen.FindStringSubmatch(open)[1]
	for at < s.end {
		line, next := s.line(at)
		at = next
		if t := strings.TrimSpace(line); strings.HasPrefix(t, mark) && strings.Trim(t, mark[:1]) == "" {
			break
		}
	}
	return at
}

// table yields a table whose header ends at an offset, one block per row.
func (s *scanner) table(at int) bool {
	if at >= s.end {
		return false
	}
	rule, body := s.line(at)
	if len(rule) > longestMarkup || !strings.Contains(rule, "|") || !tableRule.MatchString(rule) {
		return false
	}
	header := s.text[s.at:body]
	s.close(chunk.Block{Kind: chunk.Verbatim}, body)
	for s.at == body && s.at < s.end && !s.stopped {
		line, next := s.line(s.at)
		if !strings.Contains(line, "|") {
			break
		}
		body = next
		s.close(chunk.Block{Kind: chunk.Verbatim, Repeat: header}, next)
	}
	return true
}

// setext yields an underlined heading.
func (s *scanner) setext(line string, next int) bool {
	if strings.TrimSpace(line) == "" || next >= s.end || listLine(line) {
		return false
	}
	below, end := s.line(next)
	if !begins(below, "=-") {
		return false
	}
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

// paragraph returns the end of a paragraph (a list, a quotation): an empty line, a heading or
// a fence.
func (s *scanner) paragraph(at int) int {
	for at < s.end {
		line, next := s.line(at)
		if level, _ := heading(line); level > 0 || strings.TrimSpace(line) == "" || isFence(line) {
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

// plain returns a heading's text without markup.
func plain(s string) string {
	if len(s) > longestMarkup { // only underlined headings are so long
		return signature(s)
	}
	return strings.TrimSpace(inlineMarkup.ReplaceAllString(s, "$1"))
}
