package run

import (
	"encoding/json"
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"
)

// repeats leaves out of a run's text the sentences that a run below it has shown already
// (agent.ChildOnce). Sentences are compared by their letters and digits.
type repeats struct {
	seed maphash.Seed
	// known are the sentences of the runs below, as hashes.
	known map[uint64]struct{}
	// open is the beginning of a sentence.
	open strings.Builder
}

const (
	// maxKnown bounds the sentences that are known, maxSentence one sentence, in bytes.
	maxKnown, maxSentence = 20_000, 2 << 10
	// leastSentence is how many letters and digits a sentence has at least: a number of a
	// list, or "Yes.", belongs to what follows it.
	leastSentence = 4
)

// active reports whether anything is known.
func (s *repeats) active() bool { return len(s.known) > 0 }

// learn takes in the result of a call whose run has spoken: the texts of a JSON value, or
// the text itself.
func (s *repeats) learn(content string) {
	if s.known == nil {
		s.seed, s.known = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	var value any
	if json.Unmarshal([]byte(content), &value) != nil {
		value = content
	}
	s.learnValue(value)
}

func (s *repeats) learnValue(value any) {
	switch v := value.(type) {
	case string:
		for text := v; text != ""; {
			n, short := sentence(text)
			if n == 0 {
				n = len(text)
			}
			for _, known := range []string{text[:n], text[short:n]} {
				if hash, ok := s.hash(known); ok && len(s.known) < maxKnown {
					s.known[hash] = struct{}{}
				}
			}
			text = text[n:]
		}
	case []any:
		for _, one := range v {
			s.learnValue(one)
		}
	case map[string]any:
		for _, one := range v {
			s.learnValue(one)
		}
	}
}

// add takes in a piece of the run's text and returns what is shown of the sentences that
// are complete.
func (s *repeats) add(piece string) string {
	s.open.WriteString(piece)
	text := s.open.String()
	var shown strings.Builder
	rest := text
	for {
		n, _ := sentence(rest)
		if n == 0 {
			break
		}
		shown.WriteString(s.filter(rest[:n]))
		rest = rest[n:]
	}
	if len(rest) < len(text) {
		s.open.Reset()
		s.open.WriteString(rest)
	}
	return shown.String()
}

// rest returns what is shown of the text that is left when the run stops speaking.
func (s *repeats) rest() string {
	if s.open.Len() == 0 {
		return ""
	}
	text := s.open.String()
	s.open.Reset()
	return s.filter(text)
}

// filter returns the sentence unless it is known.
func (s *repeats) filter(text string) string {
	if hash, ok := s.hash(text); ok {
		if _, known := s.known[hash]; known {
			return ""
		}
	}
	return text
}

// hash returns the hash of a sentence; ok is false if it is too short to be one.
func (s *repeats) hash(text string) (hash uint64, ok bool) {
	var h maphash.Hash
	h.SetSeed(s.seed)
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
			_, _ = h.WriteString(string(unicode.ToLower(r)))
		}
	}
	return h.Sum64(), n >= leastSentence
}

// sentence returns the length of the first sentence of the text, with the spaces after it;
// 0 if it is not complete. The first short bytes of it are too short to be a sentence.
func sentence(text string) (n, short int) {
	letters, closed := 0, false
	for i, r := range text {
		switch {
		case closed && !unicode.IsSpace(r) && !strings.ContainsRune("*_`\"')]}”’»", r):
			if letters >= leastSentence {
				return i, short
			}
			closed, short = false, i
			letters++
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			letters++
		case r == '\n', strings.ContainsRune("。！？", r):
			closed = true
		case unicode.IsSpace(r) && i > 0:
			closed = closed || ends(text[:i])
		}
		if i >= maxSentence {
			return i + utf8.RuneLen(r), short
		}
	}
	return 0, short
}

// ends reports whether the text ends with the end of a sentence.
func ends(text string) bool {
	text = strings.TrimRight(text, "*_`\"')]}”’»")
	return text != "" && strings.ContainsRune(".!?", rune(text[len(text)-1])) || strings.HasSuffix(text, "…")
}
