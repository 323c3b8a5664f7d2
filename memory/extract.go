package memory

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
)

// maxSummary bounds a summary, in characters.
const maxSummary = 2000

// Extract returns the summary without a model: the most informative sentences, unchanged and in
// their order. Equal rows have equal summaries.
func Extract(rows []store.Message) Summary {
	var sentences []sentence
	words := newVocabulary()
	asked := false
	for i := range rows {
		row := &rows[i]
		user := row.Type == store.MessageUser
		if row.AgentPath != "" || !user && row.Type != store.MessageAssistant {
			continue
		}
		for _, s := range sentencesOf(text(row)) {
			s.row, s.user = i, user
			s.words = words.add(s.text, user)
			s.first = user && !asked
			asked = asked || user
			sentences = append(sentences, s)
		}
	}
	if len(sentences) == 0 {
		return Summary{Text: fmt.Sprintf("%d messages without text.", len(rows))}
	}
	chosen := choose(sentences, words)
	var b strings.Builder
	row := -1
	for _, s := range chosen {
		switch {
		case s.row == row:
			b.WriteString(" " + s.text)
			continue
		case row >= 0:
			b.WriteByte('\n')
		}
		b.WriteString(speaker(s.user) + s.text)
		row = s.row
	}
	return Summary{Text: b.String(), Topics: words.topics()}
}

func speaker(user bool) string {
	if user {
		return "User: "
	}
	return "Assistant: "
}

// sentence is a sentence or a line of a message.
type sentence struct {
	text  string
	at    int // its index
	row   int
	user  bool
	first bool // the first sentence of a user's message
	words []string
	score float64
}

// choose takes the most informative sentences that fit, in their order. It takes a
// repeated sentence once.
func choose(sentences []sentence, words *vocabulary) []sentence {
	seen := map[string]bool{}
	var list []sentence
	for i, s := range sentences {
		key := strings.Join(s.words, " ")
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		s.at, s.score = i, s.weigh(words)
		list = append(list, s)
	}
	if len(list) == 0 {
		list = sentences[:1]
	}
	best := slices.Clone(list)
	arrange.By(best, func(a, b sentence) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.at - b.at
	})
	room := maxSummary
	chosen := best[:0]
	for _, s := range best {
		n := utf8.RuneCountInString(s.text) + len("\nAssistant: ")
		if n <= room {
			room -= n
			chosen = append(chosen, s)
		}
	}
	arrange.By(chosen, func(a, b sentence) int { return a.at - b.at })
	return chosen
}

// Patterns of sentences that hold a fact.
var (
	quoted   = regexp.MustCompile("[\"“”„«»`][^\"“”„«»`]{2,}[\"“”„«»`]|'[^' ][^']+'")
	address  = regexp.MustCompile(`\S@\S|https?://|\d{1,2}[:.]\d{2}|\d{4}-\d{2}-\d{2}|[€$£%]`)
	decision = regexp.MustCompile(`(?i)\b(decided?|agreed?|chose|prefers?|remember|must|never|always|deadline|important|my name|called|` +
		`entschieden|beschlossen|vereinbart|merke?|wichtig|muss|müssen|immer|niemals|heiße|heißt|lieber)\b`)
)

// weigh scores a sentence: names, numbers, quoted words, decisions and rare words count,
// and a user's sentence more than an agent's.
func (s *sentence) weigh(words *vocabulary) float64 {
	score := words.rarity(s.words)
	if s.user {
		score += 1.5
	}
	if s.first {
		score += 4
	}
	names, digits := 0, false
	for i, w := range strings.Fields(s.text) {
		r, _ := utf8.DecodeRuneInString(strings.TrimLeft(w, `"'“„(`))
		if i > 0 && unicode.IsUpper(r) {
			names++
		}
		digits = digits || strings.ContainsAny(w, "0123456789")
	}
	score += 0.5 * float64(min(names, 4))
	for _, has := range []struct {
		it bool
		n  float64
	}{
		{digits, 1.5}, {quoted.MatchString(s.text), 1}, {address.MatchString(s.text), 1}, {decision.MatchString(s.text), 1.5},
	} {
		if has.it {
			score += has.n
		}
	}
	if len(s.words) < 2 {
		score -= 2
	}
	// Of two sentences with equal scores the shorter one leaves more room.
	return score - float64(len(s.text))/150
}

// sentencesOf splits a text into lines, and long lines into sentences.
func sentencesOf(text string) []sentence {
	const (
		longest = 300 // characters of one
		most    = 2000
	)
	var out []sentence
	for line := range strings.Lines(text) {
		for line = oneLine(strings.TrimLeft(line, "#>*-•| \t")); line != ""; {
			if len(out) == most {
				return out
			}
			n := sentenceEnd(line)
			out = append(out, sentence{text: clip(strings.TrimSpace(line[:n]), longest)})
			line = strings.TrimSpace(line[n:])
		}
	}
	return out
}

// sentenceEnd returns where the first sentence of a line ends. A full stop ends a sentence only
// after a word of some length, so not in "e.g. 3. May".
func sentenceEnd(line string) int {
	letters := 0
	for i, r := range line {
		next := i + utf8.RuneLen(r)
		switch {
		case strings.ContainsRune("。！？", r):
			return next
		case strings.ContainsRune(".!?", r) && next < len(line) && line[next] == ' ' && (letters > 2 || r != '.'):
			return next
		case unicode.IsLetter(r):
			letters++
		default:
			letters = 0
		}
	}
	return len(line)
}
