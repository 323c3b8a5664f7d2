package api_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/tool"
)

// discard is a client that takes everything.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
func (discard) Flush()                      {}

// BenchmarkStream is a whole request without a store: the body is read, the turn runs on a
// scripted model, and 1 or 100 pieces of text are sent as frames. The difference, divided
// by 99, is the cost of a chunk.
func BenchmarkStream(b *testing.B) {
	for _, bench := range []struct {
		name   string
		chunks int
	}{{"1", 1}, {"100", 100}} {
		b.Run(bench.name, func(b *testing.B) {
			pieces := make([]string, bench.chunks)
			for i := range pieces {
				pieces[i] = "piece of text "
			}
			s := newServer(b, setup{noStore: true})
			quiet := slog.New(slog.DiscardHandler)
			service, err := chat.New(chat.Options{
				Catalog: s.catalog, Logger: quiet, Tools: &tool.Box{Local: s.tools},
				Models: models{scripted.NewWith(scripted.Options{Repeat: true}, scripted.Turn{Text: pieces})},
			})
			must(b, err)
			h := api.New(api.Options{Chat: service, Catalog: s.catalog, Logger: quiet})
			body := strings.Replace(hello, "{", `{"stream":true,`, 1)
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(discard{http.Header{}}, request("POST", "/v1/chat/completions", body))
			}
		})
	}
}
