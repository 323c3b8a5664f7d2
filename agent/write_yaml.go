package agent

import (
	"regexp"
	"strings"
)

// appendYAML writes a value in block style, with texts of several lines below
// a |.
func (n *node) appendYAML(b []byte, indent int) []byte {
	pad := strings.Repeat(" ", indent)
	switch {
	case n.kind == object && len(n.members) > 0:
		for _, m := range n.members {
			b = append(b, pad...)
			b = append(appendScalar(b, m.key), ':')
			b = m.value.appendYAMLValue(b, indent)
		}
	case n.kind == array && len(n.items) > 0:
		for _, v := range n.items {
			b = append(append(b, pad...), '-')
			if v.kind == object && len(v.members) > 0 {
				// The item's first key is on the line of the dash.
				b = append(b, v.appendYAML(nil, indent+2)[indent+1:]...)
				continue
			}
			b = v.appendYAMLValue(b, indent)
		}
	default:
		b = append(n.appendYAMLScalar(append(b, pad...), indent), '\n')
	}
	return b
}

// appendYAMLValue writes the value after a key's colon or a dash.
func (n *node) appendYAMLValue(b []byte, indent int) []byte {
	if n.kind == object && len(n.members) > 0 || n.kind == array && len(n.items) > 0 {
		return n.appendYAML(append(b, '\n'), indent+2)
	}
	return append(n.appendYAMLScalar(append(b, ' '), indent+2), '\n')
}

func (n *node) appendYAMLScalar(b []byte, indent int) []byte {
	switch {
	case n.kind == text && block(n.text):
		return appendBlock(b, n.text, indent)
	case n.kind == text:
		return appendScalar(b, n.text)
	}
	return n.appendJSON(b) // null, true, 1.5, [] and {} are the same in YAML
}

var (
	plain    = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$./@*()' -]*$`)
	reserved = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n|inf|nan)$`)
)

// appendScalar writes a text of one line: bare if every YAML parser reads it as a
// text, else in double quotes.
func appendScalar(b []byte, s string) []byte {
	if len(s) <= 200 && plain.MatchString(s) && !reserved.MatchString(s) && !strings.HasSuffix(s, " ") {
		return append(b, s...)
	}
	return appendQuoted(b, s)
}

// block reports whether a text survives as a literal block.
func block(s string) bool {
	if !strings.Contains(s, "\n") || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasSuffix(line, " ") {
			return false
		}
		for _, r := range line {
			if r < ' ' || r >= 0x7f && r <= 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0xfe00 {
				return false
			}
		}
	}
	return true
}

func appendBlock(b []byte, s string, indent int) []byte {
	body := strings.TrimRight(s, "\n")
	switch trailing := len(s) - len(body); trailing {
	case 0:
		b = append(b, "|-"...)
	case 1:
		b = append(b, '|')
	default:
		return appendQuoted(b, s)
	}
	pad := strings.Repeat(" ", max(indent, 2))
	for line := range strings.SplitSeq(body, "\n") {
		b = append(b, '\n')
		if line != "" {
			b = append(append(b, pad...), line...)
		}
	}
	return b
}
