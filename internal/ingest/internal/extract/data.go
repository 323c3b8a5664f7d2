package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/ingest/internal/chunk"
)

// dataBlocks returns the blocks of JSON or YAML. They begin at the keys of the first levels,
// which are the headings.
func dataBlocks(ctx context.Context, text string) iter.Seq[chunk.Block] {
	return func(yield func(chunk.Block) bool) {
		s := &scanner{ctx: ctx, text: text, end: len(text), yield: yield}
		var indents []int
		b, end := chunk.Block{Kind: chunk.Verbatim}, 0
		for end < s.end && !s.stopped {
			line, next := s.line(end)
			if m := dataKey.FindStringSubmatch(line[:min(len(line), longestMarkup)]); m != nil {
				indent := len(m[1])
				for len(indents) > 0 && indents[len(indents)-1] >= indent {
					indents = indents[:len(indents)-1]
				}
				indents = append(indents, indent)
				if len(indents) <= dataDepth {
					if end > s.at {
						s.close(b, end)
					}
					b = chunk.Block{Kind: chunk.Verbatim, Level: len(indents), Title: signature(m[2] + m[3] + m[4])}
				}
			}
			end = next
		}
		if s.end > s.at && !s.stopped {
			s.close(b, s.end)
		}
	}
}

// longLine is the length of a line, in bytes, above which JSON counts as machine-written
// and is indented.
const longLine = 400

func jsonText(ctx context.Context, s string) (chunk.Text, error) {
	data := []byte(s)
	var syntax *json.SyntaxError
	if !json.Valid(data) && errors.As(json.Unmarshal(data, new(json.RawMessage)), &syntax) {
		at := min(max(int(syntax.Offset)-1, 0), len(s))
		return chunk.Text{}, fmt.Errorf("%d:%d: not JSON: %w", 1+strings.Count(s[:at], "\n"),
			1+utf8.RuneCountInString(s[strings.LastIndexByte(s[:at], '\n')+1:at]), syntax)
	}
	for line := range strings.Lines(s) {
		if len(line) <= longLine {
			continue
		}
		// With deep nesting, indentation grows with the square of the text.
		if n := indented(s); n <= MaxText && n < 16*len(s) {
			var b bytes.Buffer
			b.Grow(n)
			if json.Indent(&b, data, "", " ") == nil {
				s = b.String()
			}
		}
		break
	}
	return chunk.Text{Content: s, Blocks: dataBlocks(ctx, s)}, nil
}

// indented returns an upper bound of the length of a JSON text indented by one blank per
// level.
func indented(s string) int {
	n, depth, quoted := len(s), 0, false
	for i := 0; i < len(s) && n >= 0; i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
			n += depth + 1
		case c == '}', c == ']':
			depth--
			n += depth + 1
		case c == ',':
			n += depth + 1
		case c == ':':
			n++
		}
	}
	return n
}
