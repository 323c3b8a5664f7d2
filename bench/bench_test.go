package bench

import (
	"io"
	"testing"

	"github.com/p8-org/p8/agent"
)

// BenchmarkParseDocument is what happens once a changed document, not once a
// turn; it is here to show where the work of building an agent is done.
func BenchmarkParseDocument(b *testing.B) {
	src := []byte(document)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agent.Parse("bench.yaml", src); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBuildAgent makes an agent of a parsed document.
func BenchmarkBuildAgent(b *testing.B) {
	doc := parse(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agent.Compile(doc); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTextTurn is a turn without tools of which nothing is stored.
func BenchmarkTextTurn(b *testing.B) {
	s := service(b, textModel(), nil)
	var c client
	b.ReportAllocs()
	for b.Loop() {
		c.turn(b, s, ignore)
	}
}

// BenchmarkToolTurn is a turn with one tool call of which nothing is stored.
func BenchmarkToolTurn(b *testing.B) {
	s := service(b, toolModel(), nil)
	var c client
	b.ReportAllocs()
	for b.Loop() {
		c.turn(b, s, ignore)
	}
}

// BenchmarkStream is a whole turn from the provider's bytes to the client's
// frames. What one chunk costs is the difference between the two, divided by
// 1000: the rest is the turn around them.
func BenchmarkStream(b *testing.B) {
	for _, size := range []struct {
		name   string
		chunks int
	}{{"100chunks", 100}, {"1100chunks", 1100}} {
		b.Run(size.name, func(b *testing.B) {
			s := service(b, wireModel(b, size.chunks), nil)
			var c client
			b.ReportAllocs()
			for b.Loop() {
				c.turn(b, s, encoder(io.Discard).Write)
			}
		})
	}
}

// BenchmarkStoredTextTurn is a turn without tools in a new session of the
// embedded store, every row on the disk before its event is sent. fsyncs.sh
// counts what reaches the disk.
func BenchmarkStoredTextTurn(b *testing.B) {
	s := service(b, textModel(), embedded(b))
	var c client
	b.ReportAllocs()
	for b.Loop() {
		c.turn(b, s, ignore)
	}
}

// BenchmarkStoredToolTurn has two rows more: the call and its result.
func BenchmarkStoredToolTurn(b *testing.B) {
	s := service(b, toolModel(), embedded(b))
	var c client
	b.ReportAllocs()
	for b.Loop() {
		c.turn(b, s, ignore)
	}
}
