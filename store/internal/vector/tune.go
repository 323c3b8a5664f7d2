package vector

import (
	"slices"
	"sync"
)

const (
	// worthCodes is the number of components of a set from which codes pay.
	worthCodes = 2 << 20
	// manyZeros is the share of zeros from which on a set is searched by component.
	// A model's vectors have none.
	manyZeros = 0.1
	// samples is the number of queries that Tune measures with, each moved by the factor
	// moved. Codes must find the share recall of the nearest neighbours of each.
	samples    = 32
	neighbours = 10
	recall     = 0.99
	moved      = 0.6
	// margin multiplies the number of rows that the samples needed: a real query may lie
	// farther from the set than they do.
	margin = 2
	// leastRescore is the least number of rows to compare after the codes. Codes do not pay
	// if more than 1/mostRescore of the set must be compared.
	leastRescore = 500
	mostRescore  = 8
)

// Tune chooses how the index is searched, if the set has doubled since the last time. Call
// it after adding vectors: it takes about as long as 32 searches of every vector.
func (x *Index) Tune() {
	if len(x.rows) == 0 || len(x.rows) < 2*x.tuned || x.columns != nil {
		return
	}
	x.tuned = len(x.rows)
	x.codes = codes{}
	if x.dead > 0 {
		x.compact()
	}
	if float64(x.zeros) > manyZeros*float64(x.seen) {
		x.transpose()
		return
	}
	if len(x.flat) < worthCodes {
		return
	}
	c := x.newCodes()
	if c.rescore = x.measure(&c); c.rescore <= len(x.ids)/mostRescore {
		x.codes = c
	}
}

// sample is a query to measure with: a vector of the set, moved away by the difference of
// two others. Unmoved, it would find its neighbours and copies too easily.
type sample struct {
	query []int16
	code  []uint64
	top   top
	// counts are the numbers of rows by the distance of their codes.
	counts []int
}

// measure returns how many of the rows with the nearest codes must be compared to find the
// nearest rows.
func (x *Index) measure(c *codes) int {
	list := make([]*sample, samples)
	for i := range list {
		list[i] = x.sample(c, i)
	}
	var wg sync.WaitGroup
	for _, half := range [][]*sample{list[:samples/2], list[samples/2:]} {
		wg.Go(func() {
			// The row stays in the processor's cache while all samples see it.
			for n := range uint32(len(x.ids)) {
				row, code := x.row(n), c.of(n)
				for _, s := range half {
					s.counts[distance(s.code, code)]++
					s.top.offer(n, dot(row, s.query))
				}
			}
		})
	}
	wg.Wait()
	var needed []int
	for _, s := range list {
		for i := 1; i < len(s.counts); i++ {
			s.counts[i] += s.counts[i-1]
		}
		for _, r := range s.top.best {
			needed = append(needed, s.counts[distance(s.code, c.of(r.row))])
		}
	}
	slices.Sort(needed)
	return max(leastRescore, margin*needed[int(recall*float64(len(needed)-1)+0.5)])
}

func (x *Index) sample(c *codes, i int) *sample {
	n := len(x.ids)
	a := i * n / samples
	from, to := x.row(uint32((a+n/3)%n)), x.row(uint32((a+2*n/3)%n))
	scale, left, right := x.scales[a], x.scales[(a+n/3)%n], x.scales[(a+2*n/3)%n]
	s := &sample{query: make([]int16, x.dimensions), code: make([]uint64, c.width), counts: make([]int, 64*c.width+1)}
	mixed := make([]float32, x.dimensions)
	for d, v := range x.row(uint32(a)) {
		mixed[d] = scale*float32(v) + moved*(right*float32(to[d])-left*float32(from[d]))
	}
	var squares int64
	if quantum, ok := quantum(mixed, queryMost); ok {
		for d, f := range mixed {
			q := round(f, quantum)
			squares += int64(q) * int64(q)
			s.query[d] = int16(q)
		}
	}
	s.top = top{index: x, k: neighbours, least: -2, scale: unit(max(1, squares))}
	encode(s.code, s.query, s.top.scale, c.mean)
	return s
}
