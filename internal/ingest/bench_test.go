package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/ingest"
)

// BenchmarkPaths stores 500 pages in an SQLite database, without embedding.
func BenchmarkPaths(b *testing.B) {
	files := map[string]string{}
	for i := range 500 {
		var text strings.Builder
		fmt.Fprintf(&text, "---\ncategory: page\n---\n# Page %d\n\n", i)
		for j := range 8 {
			fmt.Fprintf(&text, "## Part %d of %d\n\n", j, i)
			for k := range 20 {
				fmt.Fprintf(&text, "Sentence %d of this part tells what the harbor master of pier %d wrote about boat %d. ", k, i*7+j, i*j+k)
			}
			fmt.Fprintf(&text, "See [another](page-%03d.md).\n\n", (i+j)%500)
		}
		files[fmt.Sprintf("page-%03d.md", i)] = text.String()
	}
	dir := folder(b, files)
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		chunks := 0
		for b.Loop() {
			b.StopTimer()
			in := newIngester(b, ingest.Over(open(b)))
			b.StartTimer()
			r, err := in.Paths(as(b.Context(), "ada"), ingest.PathsOptions{Paths: []string{dir}})
			if err != nil {
				b.Fatal(err)
			}
			chunks += r.Chunks
		}
		b.ReportMetric(float64(chunks)/b.Elapsed().Seconds(), "chunks/s")
	})
	b.Run("unchanged", func(b *testing.B) {
		b.ReportAllocs()
		in := newIngester(b, ingest.Over(open(b)))
		ctx := as(b.Context(), "ada")
		o := ingest.PathsOptions{Paths: []string{filepath.Clean(dir)}}
		if _, err := in.Paths(ctx, o); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := in.Paths(ctx, o); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(500*b.N)/b.Elapsed().Seconds(), "files/s")
	})
}
