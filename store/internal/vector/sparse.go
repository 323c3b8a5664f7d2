package vector

// list holds the rows in which a component is not zero, and what it is there.
type list struct {
	rows   []uint32
	values []int8
}

// list adds a row to the lists and returns its scale.
func (x *Index) list(n uint32, v []float32, quantum float32) float32 {
	var squares int64
	for d, f := range v {
		q := round(f, quantum)
		if q == 0 {
			continue
		}
		squares += int64(q) * int64(q)
		x.lists[d].rows = append(x.lists[d].rows, n)
		x.lists[d].values = append(x.lists[d].values, int8(q))
	}
	return unit(squares)
}

// invert replaces flat by lists.
func (x *Index) invert() {
	counts := make([]int, x.dimensions)
	for n := range uint32(len(x.ids)) {
		for d, v := range x.row(n) {
			if v != 0 {
				counts[d]++
			}
		}
	}
	x.lists = make([]list, x.dimensions)
	for d, n := range counts {
		x.lists[d] = list{make([]uint32, 0, n), make([]int8, 0, n)}
	}
	for n := range uint32(len(x.ids)) {
		for d, v := range x.row(n) {
			if v != 0 {
				x.lists[d].rows = append(x.lists[d].rows, n)
				x.lists[d].values = append(x.lists[d].values, v)
			}
		}
	}
	x.flat = nil
}

// sums adds up, for each row, what it has in common with the query.
func (x *Index) sums(sums []int32, query []int16) {
	clear(sums)
	for d, q := range query {
		if q == 0 {
			continue
		}
		l := &x.lists[d]
		values, by := l.values[:len(l.rows)], int32(q)
		for i, n := range l.rows {
			sums[n] += by * int32(values[i])
		}
	}
}

// compact gives the rows their new places and forgets those that have none.
func (l *list) compact(places []uint32) {
	kept := 0
	for i, n := range l.rows {
		if places[n] != deleted {
			l.rows[kept], l.values[kept] = places[n], l.values[i]
			kept++
		}
	}
	l.rows, l.values = l.rows[:kept], l.values[:kept]
}
