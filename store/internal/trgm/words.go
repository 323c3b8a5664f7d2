package trgm

import "math"

// matcher measures the word similarity of one set to many texts. It keeps each text's
// trigrams in a table of its own, because a search may measure thousands of texts.
type matcher struct {
	words []trigram
	// The table: a cell holds a trigram when its stamp is the current one.
	cells []cell
	stamp uint32
	text  []trigram
	// places are the cells of the text's trigrams, in order.
	places []uint32
}

type cell struct {
	trigram trigram
	stamp   uint32
	// last is where the trigram was seen last inside the stretch, -1 for nowhere,
	// and count how often.
	last, count int32
	wanted      bool
}

func newMatcher(words []trigram) *matcher { return &matcher{words: words} }

// place returns the cell of a trigram.
func (m *matcher) place(t trigram) uint32 {
	mask := uint32(len(m.cells) - 1)
	for at := uint32(uint64(t)*0x9e3779b97f4a7c15>>32) & mask; ; at = (at + 1) & mask {
		c := &m.cells[at]
		if c.stamp != m.stamp {
			*c = cell{trigram: t, stamp: m.stamp, last: -1}
			return at
		}
		if c.trigram == t {
			return at
		}
	}
}

// similarity returns pg_trgm's word_similarity of the set and a text. Below least, the
// result may be any smaller value.
func (m *matcher) similarity(text string, least float64) float64 {
	m.text = appendTrigrams(m.text[:0], text)
	m.places = m.places[:0]
	size := 256
	for size < 2*(len(m.text)+len(m.words)) {
		size *= 2
	}
	if m.stamp++; len(m.cells) < size || m.stamp == 0 {
		m.cells, m.stamp = make([]cell, size), 1
	}
	for _, t := range m.words {
		m.cells[m.place(t)].wanted = true
	}
	if !m.reaches(least) {
		return 0
	}
	return m.best()
}

// reaches reports whether a stretch of the text may have the similarity least: it shares
// enough trigrams with the set, and has few enough others. It also fills m.places.
func (m *matcher) reaches(least float64) bool {
	const rounding = 1e-9
	n := float64(len(m.words))
	fewest, most := int(math.Ceil(n*least-rounding)), int(min(math.MaxInt32, n/least+rounding))
	begin, shared, distinct, found := 0, 0, 0, false
	for _, t := range m.text {
		at := m.place(t)
		m.places = append(m.places, at)
		if found {
			continue
		}
		c := &m.cells[at]
		if c.count++; c.count == 1 {
			distinct++
			if c.wanted {
				shared++
			}
		}
		for ; distinct > most; begin++ {
			c := &m.cells[m.places[begin]]
			if c.count--; c.count == 0 {
				distinct--
				if c.wanted {
					shared--
				}
			}
		}
		found = shared >= fewest
	}
	return found
}

// best returns the similarity of the stretch of the text that is most like the set. It ends
// the stretch at each trigram of the set in turn, and moves the beginning forward, never
// back, where that increases the similarity.
func (m *matcher) best() float64 {
	begin, shared, distinct := -1, 0, 0
	best := 0.0
	for end, at := range m.places {
		c := &m.cells[at]
		if begin < 0 {
			if !c.wanted {
				continue
			}
			begin = end
		}
		if c.last < 0 {
			distinct++
			if c.wanted {
				shared++
			}
		}
		c.last = int32(end)
		if !c.wanted {
			continue
		}
		current := ratio(shared, len(m.words), distinct)
		newBegin, lessShared, lessDistinct := begin, shared, distinct
		for i := begin; i <= end; i++ {
			if r := ratio(lessShared, len(m.words), lessDistinct); r > current {
				current, newBegin, shared, distinct = r, i, lessShared, lessDistinct
			}
			if c := &m.cells[m.places[i]]; c.last == int32(i) {
				lessDistinct--
				if c.wanted {
					lessShared--
				}
			}
		}
		best = max(best, current)
		for ; begin < newBegin; begin++ {
			if c := &m.cells[m.places[begin]]; c.last == int32(begin) {
				c.last = -1
			}
		}
	}
	return best
}
