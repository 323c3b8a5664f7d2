package wire

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner reads JSON without allocating, for streams of hundreds of similar chunks.
// Anything unexpected makes it bad for good, and the caller uses encoding/json.
type Scanner struct {
	b   []byte
	i   int
	bad bool
}

// Scan makes a Scanner of b.
func Scan(b []byte) Scanner { return Scanner{b: b} }

// Bad reports whether something unexpected was read.
func (s *Scanner) Bad() bool { return s.bad }

// Fail makes the scanner bad.
func (s *Scanner) Fail() { s.bad = true }

// Done reports whether everything was read and expected.
func (s *Scanner) Done() bool {
	s.space()
	return !s.bad && s.i == len(s.b)
}

const maxDepth = 32

func (s *Scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// Peek returns the next byte that is not white space; 0 at the end or when bad.
func (s *Scanner) Peek() byte {
	s.space()
	if s.bad || s.i >= len(s.b) {
		return 0
	}
	return s.b[s.i]
}

// Open consumes one byte of punctuation.
func (s *Scanner) Open(c byte) bool {
	if s.Peek() != c {
		s.bad = true
		return false
	}
	s.i++
	return true
}

// Key consumes the next key of an object and its colon, or the closing brace.
// A key with capitals is unexpected, because encoding/json reads Content as content.
func (s *Scanner) Key(first bool) (key []byte, more bool) {
	key, more = s.AnyKey(first)
	for _, c := range key {
		if 'A' <= c && c <= 'Z' {
			s.bad = true
			return nil, false
		}
	}
	return key, more
}

// AnyKey is Key for protocols whose keys have capitals. The caller must refuse a key
// that differs from an expected one only in its case.
func (s *Scanner) AnyKey(first bool) (key []byte, more bool) {
	c := s.Peek()
	if c == '}' {
		s.i++
		return nil, false
	}
	if !first {
		if !s.Open(',') {
			return nil, false
		}
		c = s.Peek()
	}
	if c != '"' {
		s.bad = true
		return nil, false
	}
	key, escaped := s.Raw()
	for _, c := range key {
		if c >= utf8.RuneSelf {
			s.bad = true
		}
	}
	if escaped || s.bad || !s.Open(':') {
		s.bad = true
		return nil, false
	}
	return key, true
}

// Raw consumes a string and returns the bytes between the quotes.
func (s *Scanner) Raw() (raw []byte, escaped bool) {
	s.i++
	start := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			raw = s.b[start:s.i]
			s.i++
			return raw, escaped
		case c == '\\':
			escaped = true
			s.i += 2
		case c < ' ':
			s.bad = true
			return nil, false
		default:
			s.i++
		}
	}
	s.bad = true
	return nil, false
}

// Text consumes a string or null.
func (s *Scanner) Text(out *Texts) string {
	if s.Peek() != '"' {
		s.Null()
		return ""
	}
	raw, escaped := s.Raw()
	if !utf8.Valid(raw) {
		s.bad = true
	}
	if s.bad || !escaped {
		return out.Keep(raw)
	}
	out.scratch = s.unescape(out.scratch[:0], raw)
	return out.Keep(out.scratch)
}

func (s *Scanner) unescape(out, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		switch c := raw[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hex4(raw[i+1:])
			i += 4
			if utf16.IsSurrogate(r) && i+2 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
				r = utf16.DecodeRune(r, hex4(raw[i+3:]))
				i += 6
			}
			if r < 0 || utf16.IsSurrogate(r) || r == utf8.RuneError {
				s.bad = true
				return nil
			}
			out = utf8.AppendRune(out, r)
		default:
			s.bad = true
			return nil
		}
	}
	return out
}

// hex4 reads four hexadecimal digits; -1 if they are not.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// Null consumes null.
func (s *Scanner) Null() { s.literal("null") }

// Zero consumes 0.
func (s *Scanner) Zero() {
	if s.literal("0"); s.i < len(s.b) && s.b[s.i] != ',' && s.b[s.i] != '}' && s.b[s.i] > ' ' {
		s.bad = true
	}
}

// Int consumes a whole number of at most nine digits, without a sign.
func (s *Scanner) Int() int {
	s.Peek()
	start, n := s.i, 0
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		n = n*10 + int(s.b[s.i]-'0')
		s.i++
	}
	digits := s.i - start
	if digits == 0 || digits > 9 || digits > 1 && s.b[start] == '0' || s.i < len(s.b) && isNumber(s.b[s.i]) {
		s.bad = true
		return 0
	}
	return n
}

func (s *Scanner) literal(word string) {
	s.space()
	if s.bad || len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		s.bad = true
		return
	}
	s.i += len(word)
}

// Skip consumes any value.
func (s *Scanner) Skip() { s.skip(0) }

func (s *Scanner) skip(depth int) {
	switch c := s.Peek(); {
	case depth > maxDepth:
		s.bad = true
	case c == '"':
		s.Raw()
	case c == '{':
		s.i++
		for first := true; ; first = false {
			if _, more := s.AnyKey(first); !more {
				return
			}
			s.skip(depth + 1)
		}
	case c == '[':
		s.i++
		if s.Peek() == ']' {
			s.i++
			return
		}
		for {
			s.skip(depth + 1)
			if s.Peek() != ',' {
				s.Open(']')
				return
			}
			s.i++
		}
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.Null()
	case c == '-' || '0' <= c && c <= '9':
		for s.i++; s.i < len(s.b) && isNumber(s.b[s.i]); s.i++ {
		}
	default:
		s.bad = true
	}
}

func isNumber(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}
