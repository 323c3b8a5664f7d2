// Package redact finds secrets and personal data in texts, and replaces them by placeholders.
//
// A [Redactor] has the patterns. [Redactor.Text] is for texts that nobody needs whole again, such
// as logs and traces: it writes [email] in place of an address. [Redactor.Values] is for texts
// that come back: it writes [email-1], the same for the same address, and puts the address back
// into the answer, also if the answer comes in pieces.
//
//	r, err := redact.New(redact.Options{Patterns: []string{"personal", "secrets"}})
//	r.Text("write to sarah@example.com")   // write to [email]
//
//	v := r.Values()
//	v.Hide("write to sarah@example.com")   // write to [email-1]
//	v.Show("I wrote to [email-1]")         // I wrote to sarah@example.com
//
// A pattern finds what has its form. It is no proof that a text has no secret.
package redact

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Options configure a Redactor.
type Options struct {
	// Patterns are names of built-in patterns or of groups of them; see [Names].
	Patterns []string
	// Own are further patterns, as "name=expression" in the syntax of RE2. If the expression has
	// a group, only the first group is replaced. They take precedence.
	Own []string
	// Secrets are texts that the pattern p8 replaces wherever they occur, such as the keys in the
	// settings. Shorter ones than 8 bytes are left out.
	Secrets []string
}

// Redactor replaces what its patterns find. A nil Redactor replaces nothing. It is safe for
// concurrent use.
type Redactor struct {
	patterns []pattern
}

// maxOwn bounds the patterns of an operator, maxExpression the length of each.
const (
	maxOwn        = 100
	maxExpression = 2000
)

// New makes a Redactor. It is nil if no pattern is chosen.
func New(o Options) (*Redactor, error) {
	r := &Redactor{}
	if len(o.Own) > maxOwn {
		return nil, fmt.Errorf("%d own patterns are more than %d", len(o.Own), maxOwn)
	}
	for _, text := range o.Own {
		p, err := own(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(r.patterns, func(known pattern) bool { return known.name == p.name }) {
			return nil, fmt.Errorf("two patterns have the name %q", p.name)
		}
		r.patterns = append(r.patterns, p)
	}
	known := Names()
	for _, name := range o.Patterns {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no pattern %q: give %s", name, strings.Join(known, ", "))
		}
	}
	for _, p := range builtin(o.Secrets) {
		if slices.ContainsFunc(o.Patterns, func(name string) bool { return name == p.name || name == p.group || name == groupAll }) {
			r.patterns = append(r.patterns, p)
		}
	}
	if len(r.patterns) == 0 {
		return nil, nil
	}
	return r, nil
}

// own reads the pattern of an operator.
func own(text string) (pattern, error) {
	name, expression, ok := strings.Cut(text, "=")
	switch {
	case !ok:
		return pattern{}, fmt.Errorf("%q has no =, which separates the name of a pattern from its expression", text)
	case !isName(name):
		return pattern{}, fmt.Errorf("%q is no name for a pattern: give up to %d of a-z, 0-9 and -, a letter first and no number after the last -", name, maxName)
	case slices.Contains(Names(), name):
		return pattern{}, fmt.Errorf("%q is the name of a built-in pattern", name)
	case len(expression) > maxExpression:
		return pattern{}, fmt.Errorf("the expression of the pattern %q is longer than %d bytes", name, maxExpression)
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return pattern{}, fmt.Errorf("the expression of the pattern %q is not one of RE2: %s", name, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if re.MatchString("") {
		return pattern{}, fmt.Errorf("the expression of the pattern %q also matches an empty text", name)
	}
	return pattern{name: name, find: expressions(re)}, nil
}

// maxName is the longest name of a pattern.
const maxName = 32

func isName(s string) bool {
	if s == "" || len(s) > maxName || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return strings.Trim(s, nameBytes) == "" && strings.TrimRight(s, "0123456789") == strings.TrimRight(s, "0123456789-")
}

// nameBytes are the bytes of a name, and of what is between the brackets of a placeholder.
const nameBytes = "abcdefghijklmnopqrstuvwxyz0123456789-"

// Text returns s with the name of the pattern in place of each match: [email]. If s is JSON, it
// stays JSON: the matches are in its strings and numbers.
func (r *Redactor) Text(s string) string {
	if r == nil {
		return s
	}
	return replacer(r.text).within(s)
}

func (r *Redactor) text(before, s string) string {
	return r.replace(s, r.matchesBehind(before, s), func(name, _ string) string { return "[" + name + "]" })
}

// span is a match: the bytes from start to end of a text, and the index of its pattern.
type span struct{ start, end, pattern int }

// spans returns the matches in s in their order, also those of a text with the escape sequences
// of JSON. Matches that overlap are one, with the name of the pattern that comes first, so that
// no part of any is left.
func (r *Redactor) spans(s string) []span {
	found := r.matches(s)
	if text, escapes := unescaped(s); escapes != nil {
		for i := range found {
			found[i] = apart(escapes, found[i])
		}
		for _, x := range r.matches(text) {
			found = append(found, span{whereStarts(escapes, x.start), whereEnds(escapes, x.end), x.pattern})
		}
	}
	return merged(found)
}

// matches returns the matches of each pattern.
func (r *Redactor) matches(s string) []span {
	var found []span
	for i, p := range r.patterns {
		p.find(s, func(start, end int) {
			if start < end {
				found = append(found, span{start, end, i})
			}
		})
	}
	return found
}

func merged(found []span) []span {
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	whole := found[:0]
	for _, x := range found {
		if x.start >= x.end {
			continue
		}
		if n := len(whole); n > 0 && x.start < whole[n-1].end {
			last := &whole[n-1]
			last.end, last.pattern = max(last.end, x.end), min(last.pattern, x.pattern)
			continue
		}
		whole = append(whole, x)
	}
	return whole
}

// replace returns s with a replacement for each span.
func (r *Redactor) replace(s string, spans []span, by func(name, value string) string) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, x := range spans {
		b.WriteString(s[at:x.start])
		b.WriteString(by(r.patterns[x.pattern].name, s[x.start:x.end]))
		at = x.end
	}
	b.WriteString(s[at:])
	return b.String()
}
