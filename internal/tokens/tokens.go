// Package tokens counts the tokens of cl100k_base, the vocabulary of the most used
// embedding models.
//
//	var counter tokens.Counter
//	n := counter.Count("How many tokens?")
package tokens

import (
	"strings"
	"sync"
)

// Counter counts tokens. The zero value is ready for use and safe for concurrent use.
// The first Count reads the vocabulary.
type Counter struct {
	pool sync.Pool
}

// Count returns the number of tokens of a text.
func (c *Counter) Count(s string) int {
	w := c.get()
	defer c.pool.Put(w)
	total := 0
	for len(s) > 0 {
		n := piece(s)
		total += w.count(s[:n])
		s = s[n:]
	}
	return total
}

// Head returns the first tokens of a text, at most so many. It may end within a character.
func (c *Counter) Head(s string, most int) string {
	w := c.get()
	defer c.pool.Put(w)
	for at := 0; at < len(s); {
		end := at + piece(s[at:])
		n := w.count(s[at:end])
		if n > most {
			return s[:at+w.head(s[at:end], most)]
		}
		at, most = end, most-n
	}
	return s
}

func (c *Counter) get() *worker {
	if w, ok := c.pool.Get().(*worker); ok {
		return w
	}
	return &worker{ranks: vocabulary(), known: map[string]int{}}
}

// worker counts the tokens of pieces. It caches the counts: as texts repeat their words,
// this is ten times as fast.
type worker struct {
	merger
	ranks map[string]uint32
	known map[string]int
}

// The bounds of the cache: words, and bytes of a word.
const (
	maxKnown     = 1 << 15
	maxKnownWord = 32
)

// count returns the number of tokens of a piece.
func (w *worker) count(s string) int {
	if n, ok := w.known[s]; ok {
		return n
	}
	n := 1
	if _, ok := w.ranks[s]; !ok {
		n = w.merge(w.ranks, s)
	}
	if len(s) <= maxKnownWord {
		if len(w.known) == maxKnown {
			clear(w.known)
		}
		w.known[strings.Clone(s)] = n // a clone, so that the cache does not keep the text
	}
	return n
}

// head returns the length of the first tokens of a piece that has more.
func (w *worker) head(s string, most int) int {
	if most <= 0 {
		return 0
	}
	w.merge(w.ranks, s)
	return w.end(most)
}
