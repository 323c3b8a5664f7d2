package offline_test

import (
	"testing"

	"github.com/p8-org/p8/internal/embed/offline"
)

// BenchmarkEmbed embeds the pieces of the documentation, one operation a piece
// of some 500 bytes.
func BenchmarkEmbed(b *testing.B) {
	m, err := offline.New(offline.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var texts []string
	bytes := 0
	for _, c := range chunks(b) {
		texts = append(texts, c.text)
		bytes += len(c.text)
	}
	b.ReportAllocs()
	b.SetBytes(int64(bytes / len(texts)))
	for i := 0; b.Loop(); i++ {
		m.Embed(b.Context(), texts[i%len(texts):][:1])
	}
}
