package wire

import "strings"

// blockSize is the memory that small texts share, in bytes.
const blockSize = 512

// Texts allocates the small texts of a stream in shared blocks: a text costs a copy, a
// block an allocation. A text that is kept keeps its block.
type Texts struct {
	block strings.Builder
	// scratch is reused for strings with escapes.
	scratch []byte
}

// Keep returns b as a string.
func (t *Texts) Keep(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if t.block.Cap()-t.block.Len() < len(b) {
		t.block.Reset() // strings cut from the old block keep it alive
		t.block.Grow(max(blockSize, len(b)))
	}
	start := t.block.Len()
	t.block.Write(b)
	return t.block.String()[start:]
}

// Reset releases the memory of the last response; its strings stay valid.
func (t *Texts) Reset() {
	t.block.Reset()
	if cap(t.scratch) > maxKept {
		t.scratch = nil
	}
}
