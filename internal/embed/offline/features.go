package offline

import (
	"math"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/p8-org/p8/internal/embed"
)

// The weights of features: 1 for a word, as much for all its pieces together (L2), and
// little for a pair of words, as most pairs of a question are in no text. They were measured
// on the documentation, where nearby values made little difference.
const (
	wordWeight  = 1
	pairWeight  = 0.25
	pieceWeight = 1
)

// The lengths of pieces of words, in characters. A word is marked at both ends.
const (
	shortest = 3
	longest  = 5
)

// maxWord is the longest word that has pieces. Longer ones are keys, hashes or lines of
// base64.
const maxWord = 48

// The kinds of features. The kind is part of the hash, so the word "abc" and the piece "abc"
// differ.
const (
	kindWord  = 1
	kindPair  = 2
	kindPiece = 3
)

// counter counts the features of one text. It is reused.
type counter struct {
	text  []byte
	word  []rune
	table table
}

// embed fills v, which is zero. It returns false if the text has no words.
func (c *counter) embed(text string, v []float32) bool {
	c.table.clear()
	c.words(text)
	n := uint64(len(v))
	for _, f := range c.table.features() {
		// Repetitions count less and less. Roots are exact on every machine, logarithms
		// are not. The conversion prevents a fused multiply-add.
		w := float32(f.weight * float32(math.Sqrt(math.Sqrt(float64(f.count)))))
		if f.hash&1 == 1 {
			w = -w
		}
		v[f.hash>>32*n>>32] += w
	}
	return embed.Normalise(v)
}

// words splits the text into words, in lower case and NFKC, and counts the features of each.
func (c *counter) words(text string) {
	if len(text) > maxText {
		text = text[:maxText]
	}
	c.text = c.text[:0]
	if ascii(text) {
		c.text = append(c.text, text...)
	} else {
		c.text = norm.NFKC.AppendString(c.text, text)
	}
	var before uint64
	c.word = c.word[:0]
	end := func() {
		if len(c.word) > 0 {
			before = c.count(before)
			c.word = c.word[:0]
		}
	}
	for b := c.text; len(b) > 0; {
		r, size := rune(b[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(b)
		}
		b = b[size:]
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r < utf8.RuneSelf:
			end()
			continue
		case unspaced(r):
			// In these scripts, pairs of characters count as words.
			if n := len(c.word); n > 0 && !unspaced(c.word[n-1]) {
				end()
			} else if n == 2 {
				c.word[0] = c.word[1]
				c.word = c.word[:1]
			}
			c.word = append(c.word, r)
			if len(c.word) == 2 {
				before = c.count(before)
			}
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			r = unicode.ToLower(r)
		default:
			end()
			continue
		}
		if n := len(c.word); n > 0 && unspaced(c.word[n-1]) {
			end()
		}
		c.word = append(c.word, r)
	}
	end()
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unspaced are the scripts without spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// count counts the features of the word and its pair with the previous word. It returns the
// word's hash.
func (c *counter) count(before uint64) uint64 {
	h := hash(kindWord, c.word)
	w := lengthWeight(len(c.word))
	c.table.add(h, w*wordWeight)
	if before != 0 {
		c.table.add(mix(before*31+h, kindPair), w*pairWeight)
	}
	if len(c.word) > maxWord || len(c.word) < 2 || unspaced(c.word[0]) {
		return h
	}
	marked := len(c.word) + 2
	pieces := 0
	for n := shortest; n <= longest; n++ {
		pieces += max(0, marked-n+1)
	}
	each := w * pieceWeight / float32(math.Sqrt(float64(pieces)))
	for start := range marked {
		p := uint64(kindPiece)
		for i := start; i < marked && i < start+longest; i++ {
			r := ' ' // marks an end, as no word has a space
			if i > 0 && i < marked-1 {
				r = c.word[i-1]
			}
			p = step(p, r)
			if i-start+1 >= shortest {
				c.table.add(mix(p, kindPiece), each)
			}
		}
	}
	return h
}

// lengthWeight returns the weight of a word by its number of characters: in most languages, short
// words have little meaning.
func lengthWeight(n int) float32 {
	switch {
	case n <= 1:
		return 0.2
	case n == 2:
		return 0.3
	case n == 3:
		return 0.5
	}
	return float32(min(n, 10)) / 5
}

// hash returns FNV-1a over characters, mixed.
func hash(kind uint64, word []rune) uint64 {
	h := kind
	for _, r := range word {
		h = step(h, r)
	}
	return mix(h, kind)
}

func step(h uint64, r rune) uint64 { return (h ^ uint64(r)) * 0x100000001b3 }

// mix applies the finaliser of splitmix64.
func mix(h, kind uint64) uint64 {
	h += kind * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
