package vector

import (
	"bytes"
	"cmp"
	"math"
	"sort"
	"sync"
)

// Filter says which vectors may be found; its zero value is all of them.
type Filter struct {
	// Owners are the owners whose vectors count; nil for all.
	Owners []string
	// Category is the only category that counts; "" is any.
	Category string
	// IDs are the only ids that count; nil is any.
	IDs []ID
}

// Hit is a vector that was found.
type Hit struct {
	ID    ID
	Owner string
	// Score is the cosine similarity.
	Score float64
}

// queryMost is the greatest component of a query in whole numbers: no sum of its products
// with eight-bit components overflows an int32 below 8,000 components.
const queryMost = 2047

// parallel is the number of products from which a second goroutine pays.
const parallel = 4 << 20

// scratch is the reusable memory of a search.
type scratch struct {
	rows      []uint32
	distances []uint16
	counts    []uint32
	sums      []int32
	query     []int16
	code      []uint64
}

// resize returns n elements of undefined value, and reuses s if it is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Tolerance is how much a score may differ from the exact cosine.
const Tolerance = 0.02

// Margin returns how many hits more than k to ask for, so that the best k by the
// vectors themselves are among them.
func Margin(k int) int { return 16 + k/2 }

// Search returns the k vectors nearest to the query that pass the filter and have a cosine
// of at least least (-1 or less: any). The nearest come first, equally near ones in the
// order of their ids. A query that Put would refuse finds nothing.
func (x *Index) Search(query []float32, k int, least float64, f Filter) []Hit {
	if len(query) != x.dimensions || k <= 0 || len(x.rows) == 0 {
		return nil
	}
	s := x.pool.Get().(*scratch)
	defer x.pool.Put(s)
	quantum, ok := quantum(query, queryMost)
	if !ok {
		return nil
	}
	s.query = resize(s.query, len(query))
	var squares int64
	for i, v := range query {
		q := round(v, quantum)
		squares += int64(q) * int64(q)
		s.query[i] = int16(q)
	}
	rows := x.allowed(s, f)
	t := &top{index: x, k: min(k, len(rows)), least: least, scale: unit(squares)}
	switch {
	case x.columns != nil:
		t.scanColumns(s, rows)
	case x.byCodes(len(rows)):
		s.code = resize(s.code, x.codes.width)
		encode(s.code, s.query, t.scale, x.codes.mean)
		t.scan(x.codes.near(s, rows, s.code, max(x.codes.rescore, x.filtered(len(rows))/mostRescore)), s.query)
	case len(rows)*x.dimensions >= parallel:
		t.scanTwice(rows, s.query)
	default:
		t.scan(rows, s.query)
	}
	return t.hits()
}

// byCodes reports whether to compare that many rows by their codes first. Tune measured
// the number of candidates on the whole set. The rows that pass a filter may all be far
// from the query, where codes are less precise, so they are compared directly if they are
// few.
func (x *Index) byCodes(rows int) bool {
	return x.codes.words != nil && rows > 2*x.codes.rescore && (x.filtered(rows) == 0 || rows*x.dimensions > 2*parallel)
}

// filtered returns the number of rows that a filter left, 0 when it left most of them.
func (x *Index) filtered(rows int) int {
	if 2*rows > len(x.ids) {
		return 0
	}
	return rows
}

// allowed lists the rows that the filter lets through.
func (x *Index) allowed(s *scratch, f Filter) []uint32 {
	pass := x.pass(f)
	if f.IDs != nil {
		s.rows = s.rows[:0]
		for _, id := range f.IDs {
			if n, ok := x.rows[id]; ok && pass(n) {
				s.rows = append(s.rows, n)
			}
		}
		return s.rows
	}
	s.rows = resize(s.rows, len(x.ids))
	kept := 0
	for n := range uint32(len(x.ids)) {
		if pass(n) {
			s.rows[kept] = n
			kept++
		}
	}
	return s.rows[:kept]
}

// pass returns a function that reports whether a row passes the filter, ids aside.
func (x *Index) pass(f Filter) func(uint32) bool {
	var owners []bool
	if f.Owners != nil {
		owners = make([]bool, len(x.texts))
		for _, text := range f.Owners {
			if n, ok := x.names[text]; ok {
				owners[n] = true
			}
		}
	}
	category, known := x.names[f.Category]
	return func(n uint32) bool {
		owner := x.owners[n]
		return owner != deleted && (owners == nil || owners[owner]) &&
			(f.Category == "" || known && x.categories[n] == category)
	}
}

// top keeps the best rows, the best first.
type top struct {
	index *Index
	k     int
	least float64
	// scale is the query's.
	scale float32
	best  []ranked
}

type ranked struct {
	row   uint32
	score float32
}

func (t *top) compare(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.score, a.score), bytes.Compare(t.index.ids[a.row][:], t.index.ids[b.row][:]))
}

// offer adds a row if it is among the best; dot is its product with the query.
func (t *top) offer(n uint32, dot int32) {
	r := ranked{n, float32(dot) * t.index.scales[n] * t.scale}
	if len(t.best) == t.k && r.score < t.best[t.k-1].score || float64(r.score) < t.least {
		return
	}
	t.insert(r)
}

func (t *top) insert(r ranked) {
	at := sort.Search(len(t.best), func(i int) bool { return t.compare(r, t.best[i]) < 0 })
	if at == t.k {
		return
	}
	if len(t.best) < t.k {
		t.best = append(t.best, r)
	}
	copy(t.best[at+1:], t.best[at:])
	t.best[at] = r
}

func (t *top) scan(rows []uint32, query []int16) {
	for _, n := range rows {
		t.offer(n, dot(t.index.row(n), query))
	}
}

// scanTwice is scan by two goroutines.
func (t *top) scanTwice(rows []uint32, query []int16) {
	other := &top{index: t.index, k: t.k, least: t.least, scale: t.scale}
	half := len(rows) / 2
	var wg sync.WaitGroup
	wg.Go(func() { other.scan(rows[half:], query) })
	t.scan(rows[:half], query)
	wg.Wait()
	for _, r := range other.best {
		t.insert(r)
	}
}

func (t *top) hits() []Hit {
	list := make([]Hit, len(t.best))
	for i, r := range t.best {
		list[i] = Hit{t.index.ids[r.row], t.index.texts[t.index.owners[r.row]], float64(r.score)}
	}
	return list
}

// dot returns the sum of the products.
func dot(a []int8, b []int16) int32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 int32
	for len(a) >= 8 && len(b) >= 8 {
		s0 += int32(a[0])*int32(b[0]) + int32(a[4])*int32(b[4])
		s1 += int32(a[1])*int32(b[1]) + int32(a[5])*int32(b[5])
		s2 += int32(a[2])*int32(b[2]) + int32(a[6])*int32(b[6])
		s3 += int32(a[3])*int32(b[3]) + int32(a[7])*int32(b[7])
		a, b = a[8:], b[8:]
	}
	for i, v := range a {
		s0 += int32(v) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

// Cosine returns the cosine similarity of two vectors of one length, exactly; 0 when
// one has no direction.
func Cosine(a, b []float32) float64 {
	b = b[:len(a)]
	var ab, aa, bb float64
	for i, v := range a {
		x, y := float64(v), float64(b[i])
		ab += x * y
		aa += x * x
		bb += y * y
	}
	c := ab / math.Sqrt(aa*bb)
	if math.IsNaN(c) {
		return 0
	}
	return max(-1, min(1, c))
}
