package redact

import (
	"strconv"
	"strings"
)

// maxValues bounds what Values remember. Further values are replaced as by [Redactor.Text].
const maxValues = 10_000

// Values are what was hidden of one request. The numbers of placeholders count in the order in
// which texts are hidden, so the same texts in the same order get the same placeholders. A text
// that has the form of a placeholder is itself hidden, so that it is never taken for a value.
//
// Values are not safe for concurrent use. Those of a nil Redactor hide nothing.
type Values struct {
	r *Redactor
	// holders are the placeholders of values, values those of placeholders.
	holders, values map[string]string
	counts          map[string]int
}

// Values returns new ones.
func (r *Redactor) Values() *Values { return &Values{r: r} }

// Hide returns s with a placeholder in place of each value. If s is JSON, it stays JSON, and the
// values are those of its strings and numbers.
func (v *Values) Hide(s string) string {
	if v.r == nil || s == "" {
		return s
	}
	return replacer(v.hide).within(s)
}

func (v *Values) hide(before, s string) string {
	spans := v.r.matchesBehind(before, s)
	for at := strings.IndexByte(s, '['); at >= 0; {
		n, i := v.r.placeholder(s[at:])
		if n > 0 {
			spans = append(spans, span{at, at + n, i})
		}
		next := strings.IndexByte(s[at+1:], '[')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return v.r.replace(s, merged(spans), v.holder)
}

// holder returns the placeholder of a value.
func (v *Values) holder(name, value string) string {
	if known, ok := v.holders[value]; ok {
		return known
	}
	if len(v.holders) >= maxValues {
		return "[" + name + "]"
	}
	if v.holders == nil {
		v.holders, v.values, v.counts = map[string]string{}, map[string]string{}, map[string]int{}
	}
	v.counts[name]++
	holder := "[" + name + "-" + strconv.Itoa(v.counts[name]) + "]"
	v.holders[value], v.values[holder] = holder, value
	return holder
}

// maxPlaceholder is the length of the longest placeholder, in bytes.
const maxPlaceholder = maxName + len("[-10000]")

// placeholder returns the length of the placeholder that begins s, and the index of its pattern;
// -1 if s ends within what may be one, 0 if s does not begin with one.
func (r *Redactor) placeholder(s string) (n, pattern int) {
	end := 1
	for end < len(s) && end < maxPlaceholder && strings.IndexByte(nameBytes, s[end]) >= 0 {
		end++
	}
	inner := s[1:end]
	for i := range r.patterns {
		name := r.patterns[i].name
		number, ok := strings.CutPrefix(inner, name+"-")
		switch {
		case ok && strings.Trim(number, "0123456789") == "" && end < len(s) && s[end] == ']' && number != "":
			return end + 1, i
		case end == len(s) && (ok && strings.Trim(number, "0123456789") == "" || strings.HasPrefix(name+"-", inner)):
			n = -1
		}
	}
	return n, 0
}

// Show returns s with the values in place of their placeholders.
func (v *Values) Show(s string) string {
	back := v.Stream(false)
	return back.Add(s) + back.End()
}

// ShowJSON is Show for a JSON text: a value is written as a part of a string.
func (v *Values) ShowJSON(s string) string {
	back := v.Stream(true)
	return back.Add(s) + back.End()
}

// Received returns a text that somebody answers who got hidden texts: the values are shown, and
// what else the patterns find is replaced as by [Redactor.Text]. A text in JSON stays one.
func (v *Values) Received(s string) string {
	if v.r == nil {
		return s
	}
	return replacer(v.received).within(s)
}

func (v *Values) received(before, s string) string {
	var b strings.Builder
	done := 0
	for at := next(s, "[", 0); at >= 0; at = next(s, "[", at+1) {
		n, _ := v.r.placeholder(s[at:])
		if n <= 0 || v.values[s[at:at+n]] == "" {
			continue
		}
		b.WriteString(v.r.text(before, s[done:at]))
		b.WriteString(v.values[s[at:at+n]])
		before, done = "", at+n
	}
	b.WriteString(v.r.text(before, s[done:]))
	return b.String()
}

// Stream shows the values in a text that comes in pieces.
func (v *Values) Stream(isJSON bool) *Stream { return &Stream{v: v, json: isJSON} }

// Stream holds back the end of a piece that may be the beginning of a placeholder, at most as
// long as one.
type Stream struct {
	v    *Values
	json bool
	held string
}

// Add takes the next piece and returns what can be shown.
func (s *Stream) Add(piece string) string {
	if len(s.v.values) == 0 || s.held == "" && strings.IndexByte(piece, '[') < 0 {
		return piece
	}
	text := s.held + piece
	s.held = ""
	var b strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '[')
		if at < 0 {
			break
		}
		b.WriteString(text[:at])
		text = text[at:]
		n, _ := s.v.r.placeholder(text)
		if n < 0 {
			s.held = text
			return b.String()
		}
		b.WriteString(s.value(text[:max(n, 1)]))
		text = text[max(n, 1):]
	}
	b.WriteString(text)
	return b.String()
}

// value returns the value of a placeholder, and other texts as they are.
func (s *Stream) value(holder string) string {
	value, ok := s.v.values[holder]
	switch {
	case !ok:
		return holder
	case s.json:
		in := quoted(value)
		return in[1 : len(in)-1]
	}
	return value
}

// End returns what is held back at the end of the text.
func (s *Stream) End() string {
	rest := s.held
	s.held = ""
	return rest
}

// Hidden reports whether anything is hidden, so that it can be shown again.
func (v *Values) Hidden() bool { return len(v.values) > 0 }
