package telemetry

import (
	"strings"
	"unicode/utf8"
)

// The longest text of an attribute and the longest target of a span, in bytes. Exporters cut further,
// after they have found the secrets in a text.
const (
	maxText   = 32 << 10
	maxTarget = 1 << 10
)

// cut returns the begin of a text, of at most most bytes. A shorter text is a copy, so that a span
// does not hold the memory of the whole. It ends between words if it can: a part of a secret is
// not found as one.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	if space := strings.LastIndexAny(text[:end], " \n\t,"); space > most/2 {
		end = space
	}
	return strings.Clone(text[:end])
}

// name returns the name of a span.
func (d *description) name(target string) string {
	return strings.TrimSpace(d.operation + " " + cut(target, maxTarget))
}
