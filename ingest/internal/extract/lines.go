package extract

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"p8/ingest/internal/chunk"
)

// textBlocks are the paragraphs of a plain text.
func textBlocks(text string, page int) []chunk.Block {
	s := &scanner{text: text}
	for s.at < len(text) {
		_, end := s.line(s.at)
		for end < len(text) {
			line, next := s.line(end)
			if strings.TrimSpace(line) == "" {
				break
			}
			end = next
		}
		s.close(chunk.Block{Page: page}, end)
	}
	return s.out
}

// declaration is a line that names what a part of a source file is about.
var declaration = regexp.MustCompile(`^(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|async|abstract|final|sealed|data|open|unsafe|extern) )*` +
	`(?:func|def|class|function|fn|type|interface|struct|enum|impl|trait|module|namespace|message|service|package|(?i:create (?:or replace )?(?:table|view|function|index)))\b.*`)

// codeBlocks are the parts of a source file between empty lines, of which each
// next begins without indentation.
func codeBlocks(text string) []chunk.Block {
	s := &scanner{text: text}
	for s.at < len(text) {
		b := chunk.Block{Kind: chunk.Verbatim}
		end, blank := s.at, false
		for end < len(text) {
			line, next := s.line(end)
			empty := strings.TrimSpace(line) == ""
			if blank && !empty && line[0] != ' ' && line[0] != '\t' && line[0] != '}' && line[0] != ')' {
				break
			}
			if b.Title == "" && declaration.MatchString(line) {
				b.Level, b.Title = 1, signature(line)
			}
			blank, end = empty, next
		}
		s.close(b, end)
	}
	return s.out
}

// signature is a declaration in a few words.
func signature(line string) string {
	line = strings.TrimRight(line, " \t{:(")
	if utf8.RuneCountInString(line) > 100 {
		line = string([]rune(line)[:100]) + "…"
	}
	return line
}

// dataKey is a line of JSON or YAML that begins with a key.
var dataKey = regexp.MustCompile(`^([ \t]*(?:- +)*)(?:"((?:[^"\\]|\\.)+)"|'([^']+)'|([^\s"'#{}\[\],&*!|>%@-][^"'#{}\[\]:]*?))[ \t]*:(?:[ \t]|$)`)

// dataDepth is how deep the keys of data are its headings.
const dataDepth = 3

// dataBlocks are JSON or YAML, cut before the keys of the first levels, which
// are its headings.
func dataBlocks(text string) []chunk.Block {
	s := &scanner{text: text}
	var indents []int
	b, end := chunk.Block{Kind: chunk.Verbatim}, 0
	for end < len(text) {
		line, next := s.line(end)
		if m := dataKey.FindStringSubmatch(line); m != nil {
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
	if end > s.at {
		s.close(b, end)
	}
	return s.out
}

// longLine is what nobody wrote by hand: JSON with such lines is indented.
const longLine = 400

func jsonText(s string) (chunk.Text, error) {
	var syntax *json.SyntaxError
	if err := json.Unmarshal([]byte(s), new(json.RawMessage)); errors.As(err, &syntax) {
		at := min(max(int(syntax.Offset)-1, 0), len(s))
		return chunk.Text{}, fmt.Errorf("%d:%d: not JSON: %w", 1+strings.Count(s[:at], "\n"),
			1+utf8.RuneCountInString(s[strings.LastIndexByte(s[:at], '\n')+1:at]), err)
	}
	for line := range strings.Lines(s) {
		if len(line) <= longLine {
			continue
		}
		var b bytes.Buffer
		// Deep nesting makes indentation the square of the text.
		if json.Indent(&b, []byte(s), "", " ") == nil && b.Len() <= maxText && b.Len() < 16*len(s) {
			s = b.String()
		}
		break
	}
	return chunk.Text{Content: s, Blocks: dataBlocks(s)}, nil
}

// csvText is a table whose first record is the header of every chunk.
func csvText(s string) (chunk.Text, error) {
	r := csv.NewReader(strings.NewReader(s))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = separator(s), -1, true, true
	t := chunk.Text{Content: s}
	header, at := "", 0
	for at < len(s) {
		_, err := r.Read()
		end := int(r.InputOffset())
		if err != nil || end >= len(s) {
			end = len(s)
		}
		if end > at {
			t.Blocks = append(t.Blocks, chunk.Block{Start: at, End: end, Kind: chunk.Verbatim, Repeat: header})
		}
		if at == 0 {
			if header = s[:end]; !strings.HasSuffix(header, "\n") {
				header += "\n"
			}
		}
		at = end
	}
	return t, nil
}

// separator is the one of , ; tab and | that the first line has most of.
func separator(s string) rune {
	first, _, _ := strings.Cut(s, "\n")
	best, most := ',', strings.Count(first, ",")
	for _, c := range ";\t|" {
		if n := strings.Count(first, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}
