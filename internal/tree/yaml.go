package tree

import (
	"regexp"
	"strings"
)

// AppendYAML writes a value in block style, with texts of several lines below
// a |.
func (n *Node) AppendYAML(b []byte, indent int) []byte {
	pad := strings.Repeat(" ", indent)
	switch {
	case n.Kind == Object && len(n.Members) > 0:
		for _, m := range n.Members {
			b = append(b, pad...)
			b = append(appendScalar(b, m.Key), ':')
			b = m.Value.appendValue(b, indent)
		}
	case n.Kind == Array && len(n.Items) > 0:
		for _, v := range n.Items {
			b = append(append(b, pad...), '-')
			if v.Kind == Object && len(v.Members) > 0 {
				// The item's first key is on the line of the dash.
				b = append(b, v.AppendYAML(nil, indent+2)[indent+1:]...)
				continue
			}
			b = v.appendValue(b, indent)
		}
	default:
		b = append(n.appendScalarValue(append(b, pad...), indent), '\n')
	}
	return b
}

// appendValue writes the value after a key's colon or a dash.
func (n *Node) appendValue(b []byte, indent int) []byte {
	if n.Kind == Object && len(n.Members) > 0 || n.Kind == Array && len(n.Items) > 0 {
		return n.AppendYAML(append(b, '\n'), indent+2)
	}
	return append(n.appendScalarValue(append(b, ' '), indent+2), '\n')
}

func (n *Node) appendScalarValue(b []byte, indent int) []byte {
	switch {
	case n.Kind == Text && block(n.Text):
		return appendBlock(b, n.Text, indent)
	case n.Kind == Text:
		return appendScalar(b, n.Text)
	}
	return n.AppendJSON(b) // null, true, 1.5, [] and {} are the same in YAML
}

var (
	plain    = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$./@*()' -]*$`)
	reserved = regexp.MustCompile(`(?i)^(Null|true|false|yes|no|on|off|y|n|inf|nan)$`)
)

// appendScalar writes a text of one line: bare if every YAML parser reads it as a
// text, else in double quotes.
func appendScalar(b []byte, s string) []byte {
	if len(s) <= 200 && plain.MatchString(s) && !reserved.MatchString(s) && !strings.HasSuffix(s, " ") {
		return append(b, s...)
	}
	return AppendQuoted(b, s)
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
		return AppendQuoted(b, s)
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
