package chunk

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// packer fills chunks with units.
type packer struct {
	*Cutter
	text   string
	units  []unit // of the current chunk
	sum    int
	chunks []Chunk
	stack  []Block // the headings above the next chunk
	// prose is the beginning of the prose before the next chunk. No overlap goes beyond it.
	prose int
	// header is the last counted Repeat, with its tokens.
	header       string
	headerTokens int
}

// add adds a unit to the chunk, or to the next one if the chunk is full, or if a section
// begins and the chunk is large enough.
func (p *packer) add(u unit) {
	opens := u.first && u.Level > 0
	switch {
	case len(p.units) == 0:
	case p.sum+u.tokens > p.room() && !p.onlyHeadings(), p.sum+u.tokens > p.Max:
		keep := len(p.units)
		for keep > 1 && p.units[keep-1].Kind == Heading {
			keep--
		}
		p.flush(keep)
		if p.sum+u.tokens > p.Max {
			p.flush(len(p.units))
		}
	case opens && p.sum >= p.Target/4:
		p.flush(len(p.units))
	}
	p.units = append(p.units, u)
	p.sum += u.tokens
}

// room returns the target less the repeated header.
func (p *packer) room() int {
	r := p.units[0].Repeat
	if r == "" {
		return p.Target
	}
	if r != p.header {
		p.header, p.headerTokens = r, p.Count(r)
	}
	return max(p.Target-p.headerTokens, p.Target/2)
}

func (p *packer) onlyHeadings() bool {
	return !slices.ContainsFunc(p.units, func(u unit) bool { return u.Kind != Heading })
}

// flush makes a chunk of the first n units.
func (p *packer) flush(n int) {
	if n == 0 {
		return
	}
	units := p.units[:n]
	if p.join(units) {
		last := &p.chunks[len(p.chunks)-1]
		last.Headings = shared(last.Headings, p.pass(units))
	} else {
		p.emit(units)
	}
	p.units = slices.Clone(p.units[n:])
	p.sum = 0
	for _, u := range p.units {
		p.sum += u.tokens
	}
}

// pass updates the state for the units that follow, and returns the headings above all of
// the given ones.
func (p *packer) pass(units []unit) []string {
	common := titles(p.stack)
	for i, u := range units {
		if u.first && u.Level > 0 {
			p.stack = append(slices.Clone(p.above(u)), u.Block)
			if now := titles(p.stack); i == 0 {
				common = now
			} else {
				common = shared(common, now)
			}
		}
		switch {
		case u.Kind != Prose:
			p.prose = u.End
		case u.first && u.Level > 0:
			p.prose = u.Start
		}
	}
	return common
}

// maxTitle bounds a title as each chunk below it repeats it, in characters.
const maxTitle = 200

func titles(stack []Block) []string {
	var out []string
	for _, b := range stack {
		if b.Title != "" {
			out = append(out, CutTitle(b.Title))
		}
	}
	return out
}

// CutTitle cuts a title that every chunk repeats.
func CutTitle(title string) string {
	n := 0
	for i := range title {
		if n++; n > maxTitle {
			return title[:i] + "…"
		}
	}
	return title
}

// shared returns the common beginning of two lists.
func shared(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// above returns the open headings that u does not close.
func (p *packer) above(u unit) []Block {
	if u.Level == 0 {
		return p.stack
	}
	i := len(p.stack)
	for i > 0 && p.stack[i-1].Level >= u.Level {
		i--
	}
	return p.stack[:i]
}

// join adds a small rest of a section to the previous chunk.
func (p *packer) join(units []unit) bool {
	if len(p.chunks) == 0 || p.sum >= p.Target/4 || len(units) != len(p.units) || units[0].first && units[0].Level > 0 {
		return false
	}
	last := &p.chunks[len(p.chunks)-1]
	if last.Tokens+p.sum > p.Max {
		return false
	}
	prefix := last.Content[:len(last.Content)-len(trimRight(p.text[last.From:last.End]))]
	end := units[len(units)-1].End
	content := prefix + trimRight(p.text[last.From:end])
	tokens := p.Count(content)
	if tokens > p.Max {
		return false
	}
	last.Content, last.Tokens, last.End = content, tokens, end
	last.LastPage = units[len(units)-1].Page
	return true
}

// emit appends a chunk of the units, or several if the whole has more tokens than the sum of
// its parts.
func (p *packer) emit(units []unit) {
	first, last := units[0], units[len(units)-1]
	c := Chunk{Start: first.Start, From: first.Start, End: last.End, FirstPage: first.Page, LastPage: last.Page}
	body := trimRight(p.text[c.Start:c.End])
	c.Content, c.Tokens = body, p.Count(body)
	if c.Tokens > p.Max && len(units) > 1 {
		half := len(units) / 2
		p.emit(units[:half])
		p.emit(units[half:])
		return
	}
	switch {
	case body == "":
	case first.Repeat != "" && c.Start > 0:
		p.lead(&c, first.Repeat+body)
	case !(first.first && first.Level > 0) && first.Kind == Prose:
		if from := p.overlap(c.Start); from < c.Start && p.lead(&c, p.text[from:c.Start+len(body)]) {
			c.From = from
		}
	}
	c.Headings = p.pass(units)
	p.chunks = append(p.chunks, c)
}

// lead extends the content of the chunk backwards if it fits.
func (p *packer) lead(c *Chunk, content string) bool {
	n := p.Count(content)
	if n > p.Max {
		return false
	}
	c.Content, c.Tokens = content, n
	return true
}

// overlap returns the beginning of the repeated text: the earliest sentence within the
// overlap, or the earliest word; never before the previous chunk.
func (p *packer) overlap(start int) int {
	if p.Overlap == 0 {
		return start
	}
	low := max(p.prose, start-8*p.Overlap)
	if n := len(p.chunks); n > 0 {
		low = max(low, p.chunks[n-1].Start)
	}
	for low < start && !utf8.RuneStart(p.text[low]) {
		low++
	}
	best, word := start, start
	for at := low; at < start; at += sentence(p.text[at:start]) {
		if (at == p.prose || at > low) && p.Count(p.text[at:start]) <= p.Overlap {
			best = at
			break
		}
	}
	if best < start {
		return best
	}
	for i := start - 1; i > low; i-- {
		if p.text[i-1] == ' ' && p.text[i] != ' ' {
			if p.Count(p.text[i:start]) > p.Overlap {
				break
			}
			word = i
		}
	}
	return word
}

// locate computes lines and characters in one pass over the text.
func (p *packer) locate() {
	type mark struct{ at, line, char int }
	m := mark{0, 1, 0}
	to := func(m mark, at int) mark {
		s := p.text[m.at:at]
		return mark{at, m.line + strings.Count(s, "\n"), m.char + utf8.RuneCountInString(s)}
	}
	kept := p.chunks[:0]
	for _, c := range p.chunks {
		switch { // white space belongs to the chunk beside it
		case c.Content != "":
			if len(kept) == 0 {
				c.Start = p.chunks[0].Start
			}
			kept = append(kept, c)
		case len(kept) > 0:
			kept[len(kept)-1].End = c.End
		}
	}
	p.chunks = kept
	for i := range p.chunks {
		c := &p.chunks[i]
		m = to(m, c.From)
		body := trimLeft(p.text[c.From:c.End])
		lead := to(m, c.End-len(body))
		end := to(m, c.From+len(trimRight(p.text[c.From:c.End])))
		c.FirstLine, c.FirstChar, c.LastLine = lead.line, m.char, end.line
		c.LastChar = end.char
	}
}

func trimLeft(s string) string  { return strings.TrimLeftFunc(s, unicode.IsSpace) }
func trimRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }
