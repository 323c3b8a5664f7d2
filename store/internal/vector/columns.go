package vector

import "sync"

// block is how many rows are added up at a time: their sums stay in the processor's L1
// cache.
const block = 4096

// transpose replaces flat by columns.
func (x *Index) transpose() {
	x.columns = make([][]int8, x.dimensions)
	for d := range x.columns {
		column := make([]int8, len(x.ids), cap(x.ids))
		for n := range column {
			column[n] = x.flat[n*x.dimensions+d]
		}
		x.columns[d] = column
	}
	x.flat = nil
}

// factor is a component of the query that is not zero, with the same component of all rows.
type factor struct {
	query  int32
	column []int8
}

func (x *Index) factors(query []int16) []factor {
	var list []factor
	for d, q := range query {
		if q != 0 {
			list = append(list, factor{int32(q), x.columns[d]})
		}
	}
	return list
}

// scanColumns compares the rows by the components that are not zero in the query.
func (t *top) scanColumns(s *scratch, rows []uint32) {
	factors := t.index.factors(s.query)
	all := len(t.index.ids)
	if 8*len(rows) < all {
		for _, n := range rows {
			var sum int32
			for _, f := range factors {
				sum += f.query * int32(f.column[n])
			}
			t.offer(n, sum)
		}
		return
	}
	s.sums = resize(s.sums, all)
	if half := all / 2; all*len(factors) >= parallel {
		var wg sync.WaitGroup
		wg.Go(func() { add(s.sums, factors, half, all) })
		add(s.sums, factors, 0, half)
		wg.Wait()
	} else {
		add(s.sums, factors, 0, all)
	}
	for _, n := range rows {
		t.offer(n, s.sums[n])
	}
}

// add sums up the products of the rows between from and to.
func add(sums []int32, factors []factor, from, to int) {
	for ; from < to; from += block {
		end := min(to, from+block)
		part := sums[from:end]
		clear(part)
		rest := factors
		for len(rest) >= 4 {
			a, b, c, d := rest[0].column[from:end], rest[1].column[from:end], rest[2].column[from:end], rest[3].column[from:end]
			p, q, r, s := rest[0].query, rest[1].query, rest[2].query, rest[3].query
			a, b, c, d = a[:len(part)], b[:len(part)], c[:len(part)], d[:len(part)]
			for i := range part {
				part[i] += p*int32(a[i]) + q*int32(b[i]) + r*int32(c[i]) + s*int32(d[i])
			}
			rest = rest[4:]
		}
		for _, f := range rest {
			for i, v := range f.column[from:end] {
				part[i] += f.query * int32(v)
			}
		}
	}
}
