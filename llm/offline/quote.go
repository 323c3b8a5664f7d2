package offline

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/arrange"
)

// Bounds of an answer, in characters.
const (
	maxQuotes  = 1200 // together
	maxPassage = 700
	minPassage = 120 // shorter is not worth a quotation
	maxHeading = 120
	maxRows    = 3
	maxTable   = 500 // bytes of a table that is quoted whole
)

// passage is a piece of a row that can be quoted alone.
type passage struct {
	row     *row
	at      int // its place in the row
	heading string
	text    string
	score   float64
}

// quotes returns the passages that share most with the question, each under its key,
// best first.
func (t *turn) quotes() []string {
	best := t.best()
	var out []string
	room := maxQuotes
	for _, p := range best {
		text := cut(p.text, min(maxPassage, room))
		room -= utf8.RuneCountInString(text)
		head := "[" + cut(p.row.key, maxKey) + "]"
		if p.heading != "" && strings.Join(wordsOf(p.heading), "-") != p.row.key {
			head += " " + cut(p.heading, maxHeading)
		}
		out = append(out, head+"\n"+quoteLines(text))
		if room < minPassage {
			break
		}
	}
	return out
}

func quoteLines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimRight("> "+line, " ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// best returns at most two passages of the best row and one of each other row, if
// their scores are near the best.
func (t *turn) best() []passage {
	var all []passage
	for i := range t.rows {
		r := &t.rows[i]
		if r.content == "" && t.hasContent() {
			continue // not read
		}
		all = append(all, passages(r)...)
	}
	t.weigh(all)
	arrange.By(all, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
	var best []passage
	taken := map[string]int{}
	for _, p := range all {
		if p.score <= 0 || p.score < all[0].score*0.6 {
			break
		}
		allowed := 1
		if p.row == all[0].row {
			allowed = 2
		}
		if taken[p.row.key] == allowed || taken[p.row.key] == 0 && len(taken) == maxRows {
			continue
		}
		taken[p.row.key]++
		best = append(best, p)
	}
	return best
}

func (t *turn) hasContent() bool {
	return slices.ContainsFunc(t.rows, func(r row) bool { return r.content != "" })
}

// weigh scores the passages by the words they share with the question. Rare words
// count more; a word counts again if it is in the key, and half again in the heading.
// A row whose key is in the message scores even without a shared word, its beginning
// first.
func (t *turn) weigh(all []passage) {
	words := stems(t.words)
	in := map[string]int{}
	bodies := make([]map[string]bool, len(all))
	for i, p := range all {
		bodies[i] = stems(wordsOf(p.text))
		for w := range words {
			if bodies[i][w] {
				in[w]++
			}
		}
	}
	for i := range all {
		p := &all[i]
		key, heading := stems(wordsOf(p.row.key)), stems(wordsOf(p.heading))
		for w := range words {
			weight := math.Log(1 + float64(len(all))/float64(1+in[w]))
			if bodies[i][w] {
				p.score += weight
			}
			if key[w] {
				p.score += weight
			} else if heading[w] {
				p.score += weight / 2
			}
		}
		if strings.HasPrefix(p.text, "```") {
			p.score /= 2 // code without a word about it
		}
		if slices.Contains(t.keys, p.row.key) || t.query != "" || p.score > 0 && p.at == 0 {
			// The beginning of a text describes its subject.
			p.score += 1 / float64(1+p.at)
		}
		if strings.HasPrefix(p.row.kind, "schema") && !slices.Contains(t.keys, p.row.key) {
			p.score /= 4
		}
	}
}

// passages cuts a row at its empty lines. A fenced block stays whole and with the
// paragraph before it, and so does a block after a colon. A heading belongs to the
// following passages. Each line of a long table is a passage.
func passages(r *row) []passage {
	var out []passage
	heading := ""
	glue := false
	for _, block := range blocks(first(r.content, r.summary)) {
		if title, ok := headingOf(block); ok {
			heading, glue = title, false
			continue
		}
		if lines := strings.Split(block, "\n"); strings.HasPrefix(block, "|") && len(block) > maxTable {
			for _, line := range lines[min(2, len(lines)):] {
				out = append(out, passage{row: r, at: len(out), heading: heading, text: lines[0] + "\n" + lines[1] + "\n" + line})
			}
			continue
		}
		fence := strings.HasPrefix(block, "```")
		if n := len(out) - 1; n >= 0 && (glue || fence) && out[n].heading == heading && utf8.RuneCountInString(out[n].text)+utf8.RuneCountInString(block) < maxPassage {
			out[n].text += "\n\n" + block
		} else {
			out = append(out, passage{row: r, at: len(out), heading: heading, text: block})
		}
		glue = strings.HasSuffix(block, ":")
	}
	return out
}

// blocks returns the parts between empty lines; fenced blocks and headings are
// separate.
func blocks(text string) []string {
	var out, block []string
	fenced := false
	flush := func() {
		if len(block) > 0 {
			out = append(out, strings.Join(block, "\n"))
			block = nil
		}
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line = strings.TrimRight(line, " \t")
		_, isHeading := headingOf(line)
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			if !fenced {
				flush()
			}
			block = append(block, line)
			if fenced {
				flush()
			}
			fenced = !fenced
		case fenced:
			block = append(block, line)
		case line == "", strings.HasPrefix(line, "<!--") && strings.HasSuffix(line, "-->"):
			flush()
		case isHeading:
			flush()
			block = append(block, line)
			flush()
		default:
			block = append(block, line)
		}
	}
	flush()
	return out
}

func headingOf(block string) (title string, ok bool) {
	title = strings.TrimLeft(block, "#")
	level := len(block) - len(title)
	if level == 0 || level > 6 || !strings.HasPrefix(title, " ") || strings.Contains(title, "\n") {
		return "", false
	}
	return strings.TrimSpace(title), true
}

// cut shortens a text to about n characters, at the end of a line, a sentence
// or a word. A fenced block that it opens is closed.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	short := string(runes[:n])
	end := -1
	for _, mark := range [...]string{"\n", ". ", " "} {
		if end = strings.LastIndex(short, mark); end > len(short)/2 {
			short = short[:end+len(mark)-1]
			break
		}
	}
	short = strings.TrimRight(short, " \n") + " …"
	if strings.Count(short, "```")%2 == 1 {
		short += "\n```"
	}
	return short
}
