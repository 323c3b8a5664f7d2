package offline

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of queries to the search tool.
const (
	maxWords  = 12  // of a question
	maxKeys   = 5   // that a question may name
	maxPhrase = 6   // words of a phrase that may be a key
	maxText   = 500 // characters of a query that the user wrote
	maxWord   = 40  // bytes of a word; longer ones are ignored
	maxKey    = 128 // bytes of a key
)

// stopWords do not describe the subject of a question.
var stopWords = map[string]bool{
	"a": true, "about": true, "after": true, "all": true, "also": true, "am": true, "an": true, "and": true,
	"any": true, "are": true, "as": true, "at": true, "be": true, "been": true, "before": true, "but": true,
	"by": true, "bye": true, "can": true, "could": true, "describe": true, "did": true, "do": true, "does": true,
	"done": true, "evening": true, "explain": true, "find": true, "for": true, "from": true, "get": true, "give": true,
	"good": true, "had": true, "has": true, "have": true, "he": true, "hello": true, "help": true, "here": true,
	"hey": true, "hi": true, "how": true, "i": true, "if": true, "in": true, "into": true, "is": true, "it": true,
	"its": true, "just": true, "know": true, "let": true, "like": true, "look": true,
	"many": true, "may": true, "me": true, "might": true, "more": true, "morning": true, "most": true,
	"much": true, "my": true, "need": true, "no": true, "not": true, "now": true, "of": true, "ok": true,
	"okay": true, "on": true, "one": true, "or": true, "our": true, "out": true, "please": true,
	"should": true, "show": true, "so": true, "some": true, "tell": true, "thank": true, "thanks": true,
	"that": true, "the": true, "their": true, "them": true, "then": true, "there": true, "these": true,
	"they": true, "this": true, "those": true, "to": true, "up": true, "us": true, "use": true, "used": true,
	"using": true, "want": true, "was": true, "way": true, "we": true, "were": true, "what": true, "when": true,
	"where": true, "which": true, "while": true, "who": true, "why": true, "will": true, "with": true,
	"work": true, "works": true, "would": true, "yes": true, "you": true, "your": true,
}

// question holds the words and names in a user's message.
type question struct {
	// words are the words of its subject, in order, each once.
	words []string
	// keys are the parts that look like keys of rows.
	keys []string
	// query is set if the message is itself a query of the search tool.
	query string
}

// readQuestion takes a message apart.
func readQuestion(text string) question {
	var q question
	text = strings.TrimSpace(strings.ToValidUTF8(text, " "))
	verb, _, _ := strings.Cut(text, " ")
	switch verb {
	case "LOOKUP", "FUZZY", "SEARCH", "TRAVERSE", "SQL", "REM":
		if utf8.RuneCountInString(text) <= maxText {
			q.query = text
		}
	}
	all := wordsOf(text)
	for _, w := range all {
		if len(q.words) < maxWords && len(w) <= maxWord && !stopWords[w] && !slices.Contains(q.words, w) {
			q.words = append(q.words, w)
		}
	}
	for _, key := range named(text) {
		q.addKey(key)
	}
	// "How do I write an agent?" may be about a row named write-an-agent.
	phrase := all
	for len(phrase) > 0 && stopWords[phrase[0]] {
		phrase = phrase[1:]
	}
	for len(phrase) > 0 && stopWords[phrase[len(phrase)-1]] {
		phrase = phrase[:len(phrase)-1]
	}
	for _, words := range [][]string{phrase, q.words} {
		if len(words) > 0 && len(words) <= maxPhrase {
			q.addKey(strings.Join(words, "-"))
		}
	}
	return q
}

func (q *question) addKey(key string) {
	if len(q.keys) < maxKeys && len(key) <= maxKey && !slices.Contains(q.keys, key) {
		q.keys = append(q.keys, key)
	}
}

// wordsOf returns the words of a text in lower case. Every character but letters,
// digits and apostrophes ends a word.
func wordsOf(text string) []string {
	text = strings.NewReplacer("'", "", "’", "").Replace(strings.ToLower(text))
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// named returns the parts of a message that look like keys: quoted texts, and words
// joined by a hyphen, a dot, an @ and the like.
func named(text string) []string {
	var keys []string
	for _, quote := range [...]string{"`", `"`} {
		parts := strings.Split(text, quote)
		for i := 1; i+1 < len(parts); i += 2 {
			if key := strings.TrimSpace(parts[i]); isKey(key) {
				keys = append(keys, key)
			}
		}
	}
	for field := range strings.FieldsSeq(text) {
		field = strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if strings.ContainsAny(field, "-_@/.:") && !strings.Contains(field, "://") && isKey(field) {
			keys = append(keys, field)
		}
	}
	return keys
}

// isKey reports whether a text is valid in a LOOKUP and short enough for a name.
func isKey(s string) bool {
	return len(s) > 3 && len(s) <= maxKey && !strings.ContainsAny(s, "\"'`,[]\\\n\r\t")
}

// stem removes the commonest English endings, so that "stored" and "stores" match
// "store". Stems are compared, never shown.
func stem(word string) string {
	for _, ending := range [...]string{"ing", "ed", "es", "s", "er", "ly"} {
		if cut, ok := strings.CutSuffix(word, ending); ok && utf8.RuneCountInString(cut) >= 3 {
			word = cut
			break
		}
	}
	if n := len(word); n > 3 && word[n-1] == word[n-2] && word[n-1] < utf8.RuneSelf {
		word = word[:n-1]
	}
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}

func stems(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[stem(w)] = true
	}
	return set
}
