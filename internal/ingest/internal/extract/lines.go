package extract

import (
	"context"
	"iter"
	"regexp"
	"strings"

	"github.com/p8-org/p8/internal/ingest/internal/chunk"
)

// textBlocks returns the paragraphs of a plain text between two offsets.
func textBlocks(ctx context.Context, text string, from, end, page int) iter.Seq[chunk.Block] {
	return scan(ctx, text, from, end, func(s *scanner) {
		_, end := s.line(s.at)
		for end < s.end {
			line, next := s.line(end)
			if strings.TrimSpace(line) == "" {
				break
			}
			end = next
		}
		s.close(chunk.Block{Page: page}, end)
	})
}

// declaration matches a line that declares a function, a type or the like.
var declaration = regexp.MustCompile(`^(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|async|abstract|final|sealed|data|open|unsafe|extern) )*` +
	`(?:func|def|class|function|fn|type|interface|struct|enum|impl|trait|module|namespace|message|service|package|(?i:create (?:or replace )?(?:table|view|function|index)))\b.*`)

// codeBlocks returns the parts of a source file, separated by empty lines before lines
// without indentation.
func codeBlocks(ctx context.Context, text string) iter.Seq[chunk.Block] {
	return scan(ctx, text, 0, len(text), func(s *scanner) {
		const looked = 1000 // lines that are searched for a title
		b := chunk.Block{Kind: chunk.Verbatim}
		end, blank := s.at, false
		for n := 0; end < s.end; n++ {
			line, next := s.line(end)
			empty := strings.TrimSpace(line) == ""
			if blank && !empty && line[0] != ' ' && line[0] != '\t' && line[0] != '}' && line[0] != ')' {
				break
			}
			if b.Title == "" && n < looked && len(line) <= longestMarkup && declaration.MatchString(line) {
				b.Level, b.Title = 1, signature(line)
			}
			blank, end = empty, next
		}
		s.close(b, end)
	})
}

// signature shortens a declaration to a title.
func signature(line string) string {
	const most = 100 // characters
	line = strings.TrimRight(line, " \t{:(")
	n := 0
	for i := range line {
		if n++; n > most {
			return line[:i] + "…"
		}
	}
	return line
}

// dataKey matches a line of JSON or YAML that begins with a key.
var dataKey = regexp.MustCompile(`^([ \t]*(?:- +)*)(?:"((?:[^"\\]|\\.)+)"|'([^']+)'|([^\s"'#{}\[\],&*!|>%@-][^"'#{}\[\]:]*?))[ \t]*:(?:[ \t]|$)`)

// dataDepth is the number of levels whose keys are headings.
const dataDepth = 3
