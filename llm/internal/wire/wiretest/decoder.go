package wiretest

import (
	"bytes"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// Texts returns the texts of a recording's pieces, in turn.
func Texts(i int) string {
	return [...]string{" the", " answer", " is", "\n", " forty-two"}[i%5]
}

// Allocations fails if a piece of an answer allocates more than its text. recording
// returns the body of an answer in n pieces.
func Allocations(t *testing.T, d wire.Decoder, recording func(n int) []byte) {
	t.Helper()
	r := wire.NewReplay(d)
	allocs := func(n int) float64 {
		raw := recording(n)
		body := bytes.NewReader(raw)
		return testing.AllocsPerRun(20, func() {
			body.Reset(raw)
			decode(t, r, body, n)
		})
	}
	few, many := allocs(100), allocs(1100)
	if perPiece := (many - few) / 1000; perPiece > 0.1 {
		t.Errorf("%v allocations a piece", perPiece)
	}
	if few > 150 {
		t.Errorf("%v allocations for 100 pieces", few)
	}
}

// Benchmark decodes an answer of 100 pieces, from the provider's bytes to llm.Chunk.
func Benchmark(b *testing.B, d wire.Decoder, recording func(n int) []byte) {
	raw := recording(100)
	body, r := bytes.NewReader(raw), wire.NewReplay(d)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		body.Reset(raw)
		decode(b, r, body, 100)
	}
}

// decode decodes an answer of n pieces.
func decode(tb testing.TB, r *wire.Replay, body *bytes.Reader, n int) {
	pieces := 0
	r.Decode(tb.Context(), body, func(c llm.Chunk, err error) bool {
		if err != nil {
			tb.Fatal(err)
		}
		if c.Text != "" {
			pieces++
		}
		return true
	})
	if pieces != n {
		tb.Fatalf("%d pieces of %d", pieces, n)
	}
}
