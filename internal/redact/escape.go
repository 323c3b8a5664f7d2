package redact

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape is an escape sequence of JSON: the bytes from start to end of a text. It stands for
// length bytes of the unescaped text, from the byte at on.
type escape struct{ start, end, at, length int }

// unescaped returns a text with what its escape sequences stand for, and the sequences. A
// sequence may be escaped itself, as in JSON within JSON: any number of backslashes and an n
// are a line break.
func unescaped(s string) (string, []escape) {
	at := strings.IndexByte(s, '\\')
	if at < 0 {
		return s, nil
	}
	var b strings.Builder
	var all []escape
	done := 0
	for at >= 0 {
		b.WriteString(s[done:at])
		e := escape{start: at, at: b.Len()}
		for at < len(s) && s[at] == '\\' {
			at++
		}
		meant, n := escaped(s[at:])
		b.WriteString(meant)
		e.end, e.length = at+n, len(meant)
		all = append(all, e)
		done = e.end
		at = next(s, `\`, done)
	}
	b.WriteString(s[done:])
	return b.String(), all
}

// escaped returns what the beginning of s means after a backslash, and how long it is.
func escaped(s string) (string, int) {
	if s == "" {
		return `\`, 0
	}
	switch s[0] {
	case 'n', 'r', 't', 'b', 'f':
		return "\n", 1
	case '"', '/':
		return s[:1], 1
	case 'u':
		if len(s) < 5 {
			break
		}
		if code, err := strconv.ParseUint(s[1:5], 16, 32); err == nil {
			return string(utf8.AppendRune(nil, rune(code))), 5
		}
	}
	return `\`, 0
}

// whereStarts returns the byte of the text where a match starts that starts at a byte of the
// unescaped text.
func whereStarts(all []escape, at int) int {
	i := sort.Search(len(all), func(i int) bool { return all[i].at+all[i].length > at })
	if i < len(all) && all[i].at <= at {
		return all[i].start
	}
	return behind(all[:i], at)
}

// whereEnds is whereStarts for the end of a match.
func whereEnds(all []escape, at int) int {
	i := sort.Search(len(all), func(i int) bool { return all[i].at+all[i].length >= at })
	if i < len(all) && all[i].at < at {
		return all[i].end
	}
	return behind(all[:i], at)
}

// behind is a byte of the text that is a byte of the unescaped text behind some sequences.
func behind(before []escape, at int) int {
	if len(before) == 0 {
		return at
	}
	last := before[len(before)-1]
	return last.end + at - last.at - last.length
}

// apart returns a match that has no part of an escape sequence: the n of a line break does not
// belong to the word behind it.
func apart(all []escape, x span) span {
	if i := sort.Search(len(all), func(i int) bool { return all[i].end > x.start }); i < len(all) && all[i].start < x.start {
		x.start = all[i].end
	}
	if i := sort.Search(len(all), func(i int) bool { return all[i].end > x.end }); i < len(all) && all[i].start < x.end {
		x.end = all[i].end
	}
	return x
}
