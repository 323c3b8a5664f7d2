package wire

import "strings"

// blockSize is the memory that small texts share, in bytes.
const blockSize = 512

// Texts keeps the pieces of a stream. They share blocks: a piece costs a copy,
// a block an allocation, and a piece that is kept for long keeps one block.
type Texts struct {
	block strings.Builder
	// scratch is reused for strings with escapes.
	scratch []byte
}

// Keep is b as a string.
func (t *Texts) Keep(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if t.block.Cap()-t.block.Len() < len(b) {
		t.block.Reset() // the old block lives on in the strings cut from it
		t.block.Grow(max(blockSize, len(b)))
	}
	start := t.block.Len()
	t.block.Write(b)
	return t.block.String()[start:]
}

// Reset drops the memory of the last response; what was cut from it lives on.
func (t *Texts) Reset() {
	t.block.Reset()
	if cap(t.scratch) > maxKept {
		t.scratch = nil
	}
}
