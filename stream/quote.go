package stream

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// appendQuoted appends s as a JSON string. It allocates nothing beyond dst.
//
// Bytes that are not UTF-8 become U+FFFD. U+2028 and U+2029 are escaped because old
// versions of JavaScript read them as line ends, and U+0085 because clients in Python end
// lines at all three. HTML is not escaped: nobody embeds a stream in a page.
func appendQuoted(dst []byte, s string) []byte {
	return append(appendInner(append(dst, '"'), s), '"')
}

// appendInner appends the inside of a JSON string, without the quotes.
func appendInner(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if b >= ' ' && b != '"' && b != '\\' {
				i++
				continue
			}
			dst = appendEscaped(append(dst, s[start:i]...), b)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(append(dst, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u0085':
			dst = append(append(dst, s[start:i]...), `\u0085`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			dst = append(append(dst, s[start:i]...), `\u202`...)
			dst = append(dst, hex[r&0xF])
			start = i + size
		}
		i += size
	}
	return append(dst, s[start:]...)
}

// appendEscaped appends a control character, a quote or a backslash.
func appendEscaped(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&0xF])
}

// escapeBreaks escapes, in JSON of encoding/json, the characters at which clients end lines:
// U+0085, and inside of raw values U+2028 and U+2029.
func escapeBreaks(object []byte) []byte {
	for _, b := range [...][2]string{{"\u0085", `\u0085`}, {"\u2028", `\u2028`}, {"\u2029", `\u2029`}} {
		if bytes.Contains(object, []byte(b[0])) {
			object = bytes.ReplaceAll(object, []byte(b[0]), []byte(b[1]))
		}
	}
	return object
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
