package vector

import (
	"math/bits"
	"slices"
)

// codes hold one bit for each component of each row: whether it is above the
// set's mean. Two vectors are near when few bits differ.
type codes struct {
	// words are the rows' bits, width words each; nil for no codes.
	words []uint64
	width int
	mean  []float32
	// rescore is how many of the rows with the nearest codes must be compared.
	rescore int
}

// newCodes returns the codes of all rows.
func (x *Index) newCodes() codes {
	c := codes{width: (x.dimensions + 63) / 64, mean: make([]float32, x.dimensions)}
	sums := make([]float64, x.dimensions)
	for n := range uint32(len(x.ids)) {
		scale := x.scales[n]
		for d, v := range x.row(n) {
			sums[d] += float64(scale * float32(v))
		}
	}
	for d, s := range sums {
		c.mean[d] = float32(s / float64(len(x.ids)))
	}
	c.words = make([]uint64, 0, cap(x.ids)*c.width)
	for n := range uint32(len(x.ids)) {
		c.add(x.row(n), x.scales[n])
	}
	return c
}

func (c *codes) add(row []int8, scale float32) {
	from := len(c.words)
	c.words = slices.Grow(c.words, c.width)[:from+c.width]
	encode(c.words[from:], row, scale, c.mean)
}

// of returns the code of a row.
func (c *codes) of(n uint32) []uint64 {
	at := int(n) * c.width
	return c.words[at : at+c.width : at+c.width]
}

// encode writes the code of a vector of whole numbers.
func encode[T int8 | int16](code []uint64, v []T, scale float32, mean []float32) {
	clear(code)
	for d, m := range mean {
		if scale*float32(v[d]) > m {
			code[d>>6] |= 1 << (d & 63)
		}
	}
}

// distance counts the bits in which two codes differ.
func distance(a, b []uint64) int {
	b = b[:len(a)]
	n := 0
	for len(a) >= 6 && len(b) >= 6 {
		n += bits.OnesCount64(a[0]^b[0]) + bits.OnesCount64(a[1]^b[1]) + bits.OnesCount64(a[2]^b[2]) +
			bits.OnesCount64(a[3]^b[3]) + bits.OnesCount64(a[4]^b[4]) + bits.OnesCount64(a[5]^b[5])
		a, b = a[6:], b[6:]
	}
	for i, w := range a {
		n += bits.OnesCount64(w ^ b[i])
	}
	return n
}

// near filters rows in place: it keeps the rescore rows with the nearest codes, and all
// that are as near as the last of them.
func (c *codes) near(s *scratch, rows []uint32, code []uint64, rescore int) []uint32 {
	s.distances = resize(s.distances, len(rows))
	s.counts = resize(s.counts, 64*c.width+1)
	clear(s.counts)
	for i, n := range rows {
		d := distance(code, c.of(n))
		s.distances[i] = uint16(d)
		s.counts[d]++
	}
	limit, total := 0, int(s.counts[0])
	for total < rescore && limit+1 < len(s.counts) {
		limit++
		total += int(s.counts[limit])
	}
	kept := rows[:0]
	for i, n := range rows {
		if int(s.distances[i]) <= limit {
			kept = append(kept, n)
		}
	}
	return kept
}
