package openai

import "strings"

// blockSize is the memory that small texts share, in bytes.
const blockSize = 512

// texts keeps the pieces of a stream. They share blocks: a piece costs a copy,
// a block an allocation, and a piece that is kept for long keeps one block.
type texts struct {
	block strings.Builder
	// scratch is reused for strings with escapes.
	scratch []byte
}

// keep is b as a string.
func (t *texts) keep(b []byte) string {
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
