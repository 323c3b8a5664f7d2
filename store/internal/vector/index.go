// Package vector finds the nearest vectors by cosine, in memory and without I/O.
//
//	x := vector.New(384, 100_000)
//	x.Put(vector.Row{ID: id, Owner: "u1", Vector: v})
//	x.Tune()
//	hits := x.Search(query, 10, 0, vector.Filter{Owners: []string{"", "u1"}})
//
// A component is stored in eight bits, with a scale per vector, so a cosine is exact to
// about a thousandth. A caller that needs more precision asks for more hits than it
// wants and ranks them by the vectors themselves. [Index.Tune] chooses how the vectors
// are searched:
//
//   - every vector, when they are few, or when nothing else finds the same;
//   - by codes first, if they are many and dense, as a model's are: a bit for each
//     component preselects the vectors that may be near, and only those are compared.
//     Tune measures on the set how many must be compared for a recall of 0.99;
//   - by component, if many are zero, as where words are hashed to components: every
//     vector is compared, but only in the few components of the question. Codes do not
//     help there.
//
// A filter is applied before ranking: it never costs recall.
package vector

import (
	"math"
	"sync"
)

// ID names a vector: a UUID.
type ID [16]byte

// Row is a vector with the values that filters use.
type Row struct {
	ID ID
	// Owner and Category are any texts; "" is a value like any other.
	Owner, Category string
	// Vector must not be zero; only its direction counts.
	Vector []float32
}

// Index is a set of vectors. Searches may run concurrently with one another, but not with
// Put, Delete and Tune.
type Index struct {
	dimensions int
	rows       map[ID]uint32
	// ids, owners, categories and scales have an entry for each row; a deleted row
	// is marked by its owner.
	ids                []ID
	owners, categories []uint32
	// scales turn a row's whole numbers back: component = number * scale.
	scales []float32
	names  map[string]uint32
	texts  []string
	dead   int

	// Either flat holds the rows one after the other, or columns holds their
	// components.
	flat    []int8
	columns [][]int8
	codes   codes
	// zeros counts the components that are zero, of all rows that were put.
	zeros, seen int
	// tuned is the number of rows when Tune last chose.
	tuned int
	pool  sync.Pool
}

// deleted marks a deleted row, in place of its owner.
const deleted = math.MaxUint32

// New returns an empty index for vectors of that many components; capacity is how many
// are expected.
func New(dimensions, capacity int) *Index {
	x := &Index{
		dimensions: dimensions,
		rows:       make(map[ID]uint32, capacity),
		ids:        make([]ID, 0, capacity),
		owners:     make([]uint32, 0, capacity),
		categories: make([]uint32, 0, capacity),
		scales:     make([]float32, 0, capacity),
		names:      make(map[string]uint32),
		flat:       make([]int8, 0, capacity*dimensions),
	}
	x.pool.New = func() any { return new(scratch) }
	return x
}

// Needs returns roughly how much memory an index of that many vectors takes at most, in
// bytes.
func Needs(dimensions, rows int) int { return rows * (dimensions + dimensions/8 + 80) }

// Len returns the number of vectors.
func (x *Index) Len() int { return len(x.rows) }

// Size returns the memory that the index takes, roughly, in bytes.
func (x *Index) Size() int {
	const entry = 40 // of a map from ID to uint32, at its usual load
	size := entry*len(x.rows) + 16*cap(x.ids) + 4*(cap(x.owners)+cap(x.categories)+cap(x.scales)) +
		cap(x.flat) + 8*cap(x.codes.words)
	for _, column := range x.columns {
		size += 24 + cap(column)
	}
	for _, text := range x.texts {
		size += 64 + 2*len(text)
	}
	return size
}

// Put adds a vector, or replaces the one with its id. It returns false for a vector of
// another length, of zeros only, or with a component that is not a number.
func (x *Index) Put(r Row) bool {
	x.Delete(r.ID)
	scale, ok := quantum(r.Vector, 127)
	if !ok || len(r.Vector) != x.dimensions {
		return false
	}
	n := uint32(len(x.ids))
	x.rows[r.ID] = n
	x.ids = append(x.ids, r.ID)
	x.owners = append(x.owners, x.code(r.Owner))
	x.categories = append(x.categories, x.code(r.Category))
	var squares int64
	x.seen += x.dimensions
	for d, f := range r.Vector {
		if f == 0 {
			x.zeros++
		}
		v := round(f, scale)
		squares += int64(v) * int64(v)
		if x.columns != nil {
			x.columns[d] = append(x.columns[d], int8(v))
		} else {
			x.flat = append(x.flat, int8(v))
		}
	}
	x.scales = append(x.scales, unit(squares))
	if x.codes.words != nil {
		x.codes.add(x.row(n), x.scales[n])
	}
	return true
}

// Delete removes a vector. Its memory is reclaimed when a quarter of the rows is deleted.
func (x *Index) Delete(id ID) {
	n, ok := x.rows[id]
	if !ok {
		return
	}
	delete(x.rows, id)
	x.owners[n] = deleted
	if x.dead++; x.dead >= 64 && x.dead > len(x.ids)/4 {
		x.compact()
	}
}

// compact removes the deleted rows, and keeps the order of the others.
func (x *Index) compact() {
	n := uint32(0)
	for i, owner := range x.owners {
		if owner == deleted {
			continue
		}
		x.rows[x.ids[i]] = n
		x.ids[n], x.owners[n], x.categories[n], x.scales[n] = x.ids[i], owner, x.categories[i], x.scales[i]
		for _, column := range x.columns {
			column[n] = column[i]
		}
		if x.columns == nil {
			copy(x.row(n), x.row(uint32(i)))
		}
		if x.codes.words != nil {
			copy(x.codes.of(n), x.codes.of(uint32(i)))
		}
		n++
	}
	x.ids, x.owners, x.categories, x.scales = x.ids[:n], x.owners[:n], x.categories[:n], x.scales[:n]
	for d, column := range x.columns {
		x.columns[d] = column[:n]
	}
	if x.columns == nil {
		x.flat = x.flat[:int(n)*x.dimensions]
	}
	if x.codes.words != nil {
		x.codes.words = x.codes.words[:int(n)*x.codes.width]
	}
	x.dead = 0
}

// row returns the components of a row in flat.
func (x *Index) row(n uint32) []int8 {
	at := int(n) * x.dimensions
	return x.flat[at : at+x.dimensions : at+x.dimensions]
}

// code returns a small number for an owner or a category.
func (x *Index) code(text string) uint32 {
	n, ok := x.names[text]
	if !ok {
		n = uint32(len(x.texts))
		x.names[text] = n
		x.texts = append(x.texts, text)
	}
	return n
}

// quantum returns the number by which the components must be divided to lie between -most
// and most. ok is false for a vector without a direction.
func quantum(v []float32, most float32) (_ float32, ok bool) {
	var greatest float32
	for _, f := range v {
		if f < 0 {
			f = -f
		}
		// A comparison with NaN is false, so this refuses NaN, too.
		if !(f <= math.MaxFloat32) {
			return 0, false
		}
		greatest = max(greatest, f)
	}
	q := greatest / most
	return q, q > 0
}

func round(f, quantum float32) int32 {
	return int32(math.RoundToEven(float64(f) / float64(quantum)))
}

// unit returns the factor that scales whole numbers with that sum of squares to length one.
func unit(squares int64) float32 {
	return float32(1 / math.Sqrt(float64(squares)))
}
