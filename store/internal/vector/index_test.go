package vector

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// check compares a search with the naive one: every hit passes, is scored and
// ordered as it must be, and nothing better is missing.
func check(t rapid.TB, x *Index, rows map[ID]Row, query []float32, k int, least float64, f Filter) {
	t.Helper()
	pass := func(r Row) bool {
		return (f.Owners == nil || slices.Contains(f.Owners, r.Owner)) && (f.Category == "" || f.Category == r.Category) &&
			(f.IDs == nil || slices.Contains(f.IDs, r.ID))
	}
	hits := x.Search(query, k, least, f)
	if len(hits) > k {
		t.Fatalf("%d hits, want %d at most", len(hits), k)
	}
	if !slices.IsSortedFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), slices.Compare(a.ID[:], b.ID[:]))
	}) {
		t.Fatalf("not in order: %v", hits)
	}
	found := make(map[ID]bool)
	for _, h := range hits {
		r, ok := rows[h.ID]
		if !ok || found[h.ID] || !pass(r) || h.Owner != r.Owner || h.Score < least {
			t.Fatalf("hit %+v of %+v must not be", h, r)
		}
		found[h.ID] = true
		if c := Cosine(query, r.Vector); math.Abs(c-h.Score) > Tolerance {
			t.Fatalf("score %v, the cosine is %v", h.Score, c)
		}
	}
	bound := least + Tolerance
	if len(hits) == k {
		bound = max(bound, hits[k-1].Score+Tolerance)
	}
	for _, r := range rows {
		if pass(r) && !found[r.ID] && Cosine(query, r.Vector) > bound {
			t.Fatalf("%x with cosine %v is missing among %d hits", r.ID, Cosine(query, r.Vector), len(hits))
		}
	}
}

// TestLikeNaive: random operations in random order, on rows and columns.
func TestLikeNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dimensions := rapid.IntRange(1, 70).Draw(t, "dimensions")
		zeros := rapid.SampledFrom([]float64{0, 0.5, 0.95}).Draw(t, "zeros")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		vector := func() []float32 {
			v := make([]float32, dimensions)
			for i := range v {
				if r.Float64() >= zeros {
					v[i] = float32(r.NormFloat64())
				}
			}
			v[r.IntN(dimensions)] = 1
			return v
		}
		x, rows := New(dimensions, 0), make(map[ID]Row)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			for range r.IntN(100) {
				row := Row{ID: id(r.IntN(300)), Owner: fmt.Sprint(r.IntN(3)), Category: fmt.Sprint(r.IntN(3)), Vector: vector()}
				if !x.Put(row) {
					t.Fatal("not put")
				}
				rows[row.ID] = row
			}
			for range r.IntN(60) {
				n := id(r.IntN(300))
				x.Delete(n)
				delete(rows, n)
			}
			if r.IntN(3) == 0 {
				x.Tune()
			}
			if x.Len() != len(rows) {
				t.Fatalf("%d rows, want %d", x.Len(), len(rows))
			}
			var f Filter
			if r.IntN(2) == 0 {
				f.Owners = []string{"0", "2", "nobody"}[:r.IntN(4)]
			}
			if r.IntN(3) == 0 {
				f.Category = fmt.Sprint(r.IntN(4))
			}
			if r.IntN(3) == 0 {
				f.IDs = []ID{id(999)}
				for n := range r.IntN(50) {
					f.IDs = append(f.IDs, id(n*3))
				}
			}
			check(t, x, rows, vector(), 1+r.IntN(20), []float64{-2, 0, 0.3}[r.IntN(3)], f)
		}
	})
}

// TestMany: enough vectors for codes.
func TestMany(t *testing.T) {
	const n = 12_000
	source := newTexts(384)
	x, rows, list := New(384, n), make(map[ID]Row), []Row(nil)
	put := func(from, to int) {
		for i := from; i < to; i++ {
			r := Row{ID: id(i), Owner: fmt.Sprint(i % 100), Vector: source.vector()}
			rows[r.ID], list = r, append(list, r)
			x.Put(r)
		}
	}
	put(0, n-1000)
	x.Tune()
	if x.codes.words == nil || x.columns != nil {
		t.Fatal("dense vectors have no codes")
	}
	// Later vectors have codes too.
	put(n-1000, n)
	for i := 0; i < n; i += 3 {
		x.Delete(id(i))
		delete(rows, id(i))
	}
	list = slices.DeleteFunc(list, func(r Row) bool { _, ok := rows[r.ID]; return !ok })
	for name, owner := range map[string]string{"all": "", "one percent": "7"} {
		f, pass := Filter{}, func(r Row) bool { return owner == "" || r.Owner == owner }
		if owner != "" {
			f.Owners = []string{owner}
		}
		total := 0.0
		for range 50 {
			q := source.vector()
			total += recallOf(rescored(x, rows, q, 10, f), exact(list, q, 10, pass))
		}
		if total/50 < 0.99 {
			t.Errorf("%s: recall@10 is %v, want 0.99", name, total/50)
		}
	}
}

// TestFarFilter: all rows that pass a filter may lie far from the query, and near one
// another.
func TestFarFilter(t *testing.T) {
	const n = 12_000
	source := newTexts(384)
	x, rows, list := New(384, n), make(map[ID]Row), []Row(nil)
	for i := range n {
		r := Row{ID: id(i), Vector: source.vector()}
		if i%6 == 0 {
			// Texts of one topic, far from every query.
			r.Category, r.Vector = "far", source.about(100*(i%20)+7)
		}
		rows[r.ID], list = r, append(list, r)
		x.Put(r)
	}
	x.Tune()
	if x.codes.words == nil {
		t.Fatal("dense vectors have no codes")
	}
	total := 0.0
	for i := range 50 {
		q := source.about(8 + i)
		total += recallOf(rescored(x, rows, q, 10, Filter{Category: "far"}), exact(list, q, 10, func(r Row) bool { return r.Category == "far" }))
	}
	if total/50 < 0.99 {
		t.Errorf("recall@10 is %v, want 0.99", total/50)
	}
}

// rescored ranks a few hits more by the vectors themselves.
func rescored(x *Index, rows map[ID]Row, query []float32, k int, f Filter) []Hit {
	hits := x.Search(query, k+Margin(k), -2, f)
	for i, h := range hits {
		hits[i].Score = Cosine(query, rows[h.ID].Vector)
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(k, len(hits))]
}

// TestUnstructured: if codes do not help, every vector is compared.
func TestUnstructured(t *testing.T) {
	source := newTexts(384)
	x := New(384, 0)
	for i := range 6000 {
		x.Put(Row{ID: id(i), Vector: source.noise()})
	}
	x.Tune()
	if x.codes.words != nil {
		t.Error("noise is searched by codes")
	}
}

func TestSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x, rows := New(1536, 0), make(map[ID]Row)
	vector := func(words int) []float32 {
		v := make([]float32, 1536)
		for range words {
			v[r.IntN(r.IntN(1536)+1)] += 1 - 2*float32(r.IntN(2))
		}
		v[0]++
		return v
	}
	put := func(from, to int) {
		for i := from; i < to; i++ {
			rows[id(i)] = Row{ID: id(i), Vector: vector(60)}
			x.Put(rows[id(i)])
		}
	}
	put(0, 2000)
	x.Tune()
	if x.columns == nil || x.flat != nil {
		t.Fatal("sparse vectors have no columns")
	}
	put(1500, 2500)
	for range 20 {
		check(t, x, rows, vector(8), 10, -2, Filter{})
	}
}

func TestOrderOfEquals(t *testing.T) {
	x := New(2, 0)
	for _, n := range []int{3, 1, 2, 5, 4} {
		x.Put(Row{ID: id(n), Vector: []float32{float32(n), 0}})
	}
	var got []byte
	for _, h := range x.Search([]float32{1, 0}, 3, -2, Filter{}) {
		got = append(got, h.ID[15])
	}
	if !slices.Equal(got, []byte{1, 2, 3}) {
		t.Errorf("equally near: %v", got)
	}
}

func TestNoDirection(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := New(2, 0)
	x.Put(Row{ID: id(1), Vector: []float32{1, 0}})
	for _, v := range [][]float32{nil, {1}, {1, 2, 3}, {0, 0}, {nan, 1}, {1, nan}, {inf, 1}, {1, -inf}} {
		if x.Put(Row{ID: id(2), Vector: v}) {
			t.Errorf("%v was put", v)
		}
		if hits := x.Search(v, 1, -2, Filter{}); hits != nil {
			t.Errorf("%v found %v", v, hits)
		}
	}
	// A row that Put refuses also removes the old one.
	if x.Put(Row{ID: id(1)}); x.Len() != 0 {
		t.Error("the old vector stayed")
	}
}

func FuzzSearch(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, width, k uint8) {
		dimensions := int(width%9) + 1
		x, rows := New(dimensions, 0), make(map[ID]Row)
		var v []float32
		for i, b := range data {
			if v = append(v, float32(int8(b))); len(v) < dimensions {
				continue
			}
			r := Row{ID: id(int(b) % 32), Owner: string(rune('a' + b%2)), Vector: v}
			if delete(rows, r.ID); x.Put(r) {
				rows[r.ID] = r
			}
			if v = nil; i%5 == 0 {
				x.Tune()
			}
		}
		for _, r := range rows {
			check(t, x, rows, r.Vector, int(k%10)+1, -2, Filter{})
			check(t, x, rows, r.Vector, int(k%10)+1, 0, Filter{Owners: []string{"b"}})
		}
	})
}
