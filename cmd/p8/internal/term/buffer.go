package term

import "strings"

// buffer is a text with a cursor, an offset in bytes.
type buffer struct {
	text string
	at   int
}

func (b *buffer) set(text string) { b.text, b.at = text, len(text) }

func (b *buffer) insert(s string) {
	b.text = b.text[:b.at] + s + b.text[b.at:]
	b.at += len(s)
}

// before returns the beginning of the character before the cursor.
func (b *buffer) before() int {
	last := 0
	for from := range characters(b.text[:b.at]) {
		last = from
	}
	return last
}

// after returns the end of the character at the cursor.
func (b *buffer) after() int {
	for _, g := range characters(b.text[b.at:]) {
		return b.at + len(g.text)
	}
	return b.at
}

// cut removes the bytes between two offsets.
func (b *buffer) cut(from, to int) {
	b.text, b.at = b.text[:from]+b.text[to:], from
}

// lineStart and lineEnd bound the line of the cursor.
func (b *buffer) lineStart() int { return strings.LastIndexByte(b.text[:b.at], '\n') + 1 }

func (b *buffer) lineEnd() int {
	if n := strings.IndexByte(b.text[b.at:], '\n'); n >= 0 {
		return b.at + n
	}
	return len(b.text)
}

// wordLeft returns the beginning of the word before the cursor, wordRight the end of the
// one after it.
func (b *buffer) wordLeft() int {
	head := strings.TrimRight(b.text[:b.at], " \n")
	return strings.LastIndexAny(head, " \n") + 1
}

func (b *buffer) wordRight() int {
	rest := b.text[b.at:]
	begin := len(rest) - len(strings.TrimLeft(rest, " \n"))
	if n := strings.IndexAny(rest[begin:], " \n"); n >= 0 {
		return b.at + begin + n
	}
	return len(b.text)
}

// up and down move the cursor by a line; they return false on the first and last line.
func (b *buffer) up() bool {
	start := b.lineStart()
	if start == 0 {
		return false
	}
	column := Width(b.text[start:b.at])
	b.at = start - 1
	b.column(column)
	return true
}

func (b *buffer) down() bool {
	end := b.lineEnd()
	if end == len(b.text) {
		return false
	}
	column := Width(b.text[b.lineStart():b.at])
	b.at = end + 1
	b.column(column)
	return true
}

// column moves the cursor to a column of its line, or to the end of a shorter line.
func (b *buffer) column(n int) {
	start, end := b.lineStart(), b.lineEnd()
	b.at = end
	used := 0
	for from, g := range characters(b.text[start:end]) {
		if used >= n {
			b.at = start + from
			return
		}
		used += g.width
	}
}
