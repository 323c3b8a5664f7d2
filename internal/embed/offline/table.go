package offline

// feature is one entry of a table.
type feature struct {
	hash   uint64
	weight float32
	count  uint32
}

// table counts features by hash. It keeps the order of their first occurrence, on which
// floating-point sums depend, so that vectors are reproducible.
type table struct {
	// slots has positions in list plus one; its length is a power of two.
	slots []uint32
	list  []feature
}

// largestKept is the number of slots above which a table is not reused.
const largestKept = 1 << 16

func (t *table) clear() {
	if len(t.slots) > largestKept {
		*t = table{}
	}
	clear(t.slots)
	t.list = t.list[:0]
}

func (t *table) features() []feature { return t.list }

// add counts a feature. Its weight is that of the first occurrence.
func (t *table) add(hash uint64, weight float32) {
	if 2*len(t.list) >= len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		at := t.slots[i]
		if at == 0 {
			t.list = append(t.list, feature{hash, weight, 1})
			t.slots[i] = uint32(len(t.list))
			return
		}
		if f := &t.list[at-1]; f.hash == hash {
			f.count++
			return
		}
	}
}

func (t *table) grow() {
	t.slots = make([]uint32, max(1024, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for n, f := range t.list {
		i := f.hash & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(n + 1)
	}
}
