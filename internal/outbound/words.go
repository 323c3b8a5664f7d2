package outbound

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
)

// maxWords bounds the words of a refusal in a log, in bytes.
const maxWords = 1000

// removed stands for a secret.
const removed = "[removed]"

// secretLike matches what looks like a key, also a masked one, and the user of an address.
var secretLike = regexp.MustCompile(`(?i)\bbearer\s+\S+|\b(?:api[-_ ]?key|token|secret|password)["']?\s*[=:]\s*["']?[^\s"',;]+|` +
	`\b(?:sk|pk|rk|gsk|ghp|xai|key)[-_][\w*.-]{6,}|\bAIza[\w*-]{6,}|\beyJ[\w-]{8,}\.[\w.-]+|://[^/\s@]+@`)

// Words are the words of a refusal for an operator's log: one line, cut, without the given
// secrets and what looks like one. They are "" if the provider said nothing.
func (r *Refusal) Words(secrets ...string) string {
	words := cmp.Or(r.Message, r.Detail, r.Body)
	for _, name := range []string{r.Type, r.Code, r.Param, r.Reasons} {
		if name != "" && words != "" && !strings.Contains(words, name) {
			words += " (" + name + ")"
		}
	}
	const short = 8
	for _, s := range secrets {
		if len(s) >= short {
			words = strings.ReplaceAll(words, s, removed)
		}
	}
	words = secretLike.ReplaceAllStringFunc(words, func(found string) string {
		if strings.HasPrefix(found, "://") {
			return "://" + removed + "@"
		}
		return removed
	})
	words = strings.Join(strings.FieldsFunc(words, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }), " ")
	if len(words) > maxWords {
		words = strings.ToValidUTF8(words[:maxWords], "") + "…"
	}
	return words
}
