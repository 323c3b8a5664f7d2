package memory

import (
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// head returns the items before the rows, oldest first: the memory row and the moments
// whose messages are not shown. If they do not fit, it leaves out the oldest moments, then
// cuts the texts.
func (c *composer) head(room int) []item {
	var items []item
	total := 0
	add := func(it item) {
		items = append(items, it)
		total += it.tokens
	}
	if c.memory != nil {
		add(c.memoryItem(text(c.memory)))
	}
	first := len(items)
	for i := range c.moments {
		if v := &c.moments[i]; !c.shown(v.First) {
			add(c.momentItem(v, v.context(v.m.Summary)))
		}
	}
	for total > room && len(items) > first+1 {
		total -= items[first].tokens
		items = append(items[:first], items[first+1:]...)
	}
	if total <= room {
		return items
	}
	return c.cutHead(items, room)
}

// cutHead cuts the memory row, then the moment: each to half of the room, or to what the
// other leaves of it.
func (c *composer) cutHead(items []item, room int) []item {
	var out []item
	for i, it := range items {
		later := 0
		for j := range items[i+1:] {
			later += items[i+1+j].tokens
		}
		most := max(room/(len(items)-i), room-later)
		if it.tokens > most && !c.cut(&it, most) {
			continue
		}
		out = append(out, it)
		room -= it.tokens
	}
	return out
}

// memoryItem shows the row as contents writes it.
func (c *composer) memoryItem(text string) item {
	text = fenceContents(text)
	return item{
		kind: PartMemory, key: keyOf(c.memory.SessionID, c.memory.Seq), first: c.memory.Seq, last: c.memory.Seq, whole: true,
		tokens: store.MessageTokens + c.p.estimate(text), message: llm.Message{Role: llm.System, Content: text},
	}
}

// fenceContents fences the lines of a memory row that repeat what moments are
// about; its first and its last line are p8's own.
func fenceContents(text string) string {
	head, back := "", ""
	if rest, ok := strings.CutPrefix(text, contentsHead+"\n"); ok {
		head, text = contentsHead+"\n", rest
	}
	if at := strings.LastIndexByte(text, '\n') + 1; strings.HasPrefix(text[at:], contentsBack) {
		text, back = strings.TrimSuffix(text[:at], "\n"), text[at:]
	}
	switch {
	case text == "":
		return head + back
	case back != "":
		back = "\n" + back
	}
	return head + llm.Material("memory", text) + back
}

func (c *composer) momentItem(v *view, text string) item {
	return item{
		kind: PartMoment, key: v.key, first: v.First, last: v.Last, whole: true,
		tokens: store.MessageTokens + c.p.estimate(text), message: llm.Message{Role: llm.System, Content: text},
	}
}

// cut shortens an item to at most most tokens; it returns false if too little is left.
func (c *composer) cut(it *item, most int) bool {
	if it.kind == PartMemory {
		return c.cutMemory(it, most)
	}
	for i := range c.moments {
		if v := &c.moments[i]; v.key == it.key {
			return c.cutMoment(it, v, most)
		}
	}
	return false
}

// cutMemory leaves out whole lines, because each has a key: the oldest first, never the
// heading and the line that leads back.
func (c *composer) cutMemory(it *item, most int) bool {
	const least = 3 // the heading, the way back, and a line between them
	lines := strings.Split(text(c.memory), "\n")
	for len(lines) > least {
		lines = append(lines[:1], lines[2:]...)
		short := strings.Join(lines, "\n")
		if *it = c.memoryItem(short); it.tokens <= most {
			it.whole = false
			return true
		}
	}
	return false
}

// cutMoment cuts the summary, never the key.
func (c *composer) cutMoment(it *item, v *view, most int) bool {
	const least = 40 // characters of a summary that are worth showing
	summary := v.m.Summary
	over := it.tokens - most
	for over > 0 {
		keep := utf8.RuneCountInString(summary) - max(1, over*charsPerToken)
		if keep < least {
			return false
		}
		summary = firstChars(summary, keep)
		*it = c.momentItem(v, v.context(summary+"…"))
		it.whole = false
		over = it.tokens - most
	}
	return true
}

// charsPerToken is the number of characters of an estimated token (llm.EstimateTokens).
const charsPerToken = 4
