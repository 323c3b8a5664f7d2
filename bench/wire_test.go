package bench

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/openai"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// These benchmarks are a server and its clients in one process, on loopback. What
// they say is in the log and in the metrics, the time of an iteration is not; so
// run each once, some times over:
//
//	go test ./bench -run '^$' -bench Wire -benchtime 1x -count 3

// concurrent is how many streams there are at one time.
const concurrent = 1000

// handler is p8 over HTTP around one agent and one model.
func handler(tb testing.TB, model llm.Model, sessions chat.Store) http.Handler {
	tb.Helper()
	compiled, err := agent.Compile(parse(tb))
	if err != nil {
		tb.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	o := api.Options{Catalog: known{one{compiled}}, Logger: quiet}
	if s, ok := sessions.(*store.Store); ok {
		o.Store = s
	}
	s, err := chat.New(chat.Options{
		Catalog: one{compiled}, Models: only{model}, Store: sessions, MaxRuns: 2 * concurrent, Logger: quiet,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what still runs is broken off
		_ = s.Close(ctx)
	})
	o.Chat = s
	return api.New(o)
}

// known is a catalog with one agent.
type known struct{ one }

func (k known) Has(_ context.Context, name string) (bool, error) { return name == "bench", nil }

func (known) List(context.Context, string) ([]catalog.Entry, error) { return nil, nil }

// BenchmarkWireFirstByte has a thousand streams open at one time: one that ends is
// followed by another one. A provider on loopback says a piece of text ten times a
// second for five seconds; the clients reach it through a reverse proxy, then
// through p8 with its log on the disk.
func BenchmarkWireFirstByte(b *testing.B) {
	const chunks, every = 50, 100 * time.Millisecond
	upstream := serve(b, bare(chunks, every))
	to, err := url.Parse("http://" + upstream)
	if err != nil {
		b.Fatal(err)
	}
	connections := &http.Transport{MaxIdleConnsPerHost: 2 * concurrent}
	b.Cleanup(connections.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: connections, FlushInterval: -1,
	}
	model, err := openai.New(openai.Options{
		Model: "gpt-4.1", APIKey: "unused", BaseURL: "http://" + upstream + "/v1", HTTPClient: &http.Client{Transport: connections},
	})
	if err != nil {
		b.Fatal(err)
	}
	ask := func(addr string) figures {
		l := load{addr: addr, streams: 2 * concurrent, over: 2 * chunks * every, end: "[DONE]", want: chunks}
		list, took := l.run(b)
		// The first half fills the server up.
		return figures{list[concurrent:], took}
	}
	for b.Loop() {
		direct := ask(upstream)
		direct.log(b, "bare handler")
		proxied := ask(serve(b, proxy))
		proxied.log(b, "proxy")
		own := ask(serve(b, handler(b, model, embedded(b))))
		own.log(b, "p8")
		added := func(of func(seen) time.Duration) float64 {
			return float64((own.at(.99, of) - proxied.at(.99, of)).Microseconds()) / 1000
		}
		b.ReportMetric(added(firstByte), "ms-added-to-first-byte-p99")
		b.ReportMetric(added(firstText), "ms-added-to-first-text-p99")
		n, _ := own.incomplete()
		b.ReportMetric(float64(n), "incomplete")
	}
}

// BenchmarkWireEvents has a thousand clients at once and a model that does not
// pause, beside a bare handler which streams as many frames.
func BenchmarkWireEvents(b *testing.B) {
	const chunks = 100
	texts := make([]string, chunks)
	for i := range texts {
		texts[i] = mark + "of the answer "
	}
	model := scripted.NewWith(scripted.Options{Repeat: true}, scripted.Text(texts...))
	ask := func(addr string) figures {
		l := load{addr: addr, streams: concurrent, end: "[DONE]", want: chunks}
		list, took := l.run(b)
		return figures{list, took}
	}
	for b.Loop() {
		direct := ask(serve(b, bare(chunks, 0)))
		direct.log(b, "bare handler")
		forgetful := ask(serve(b, handler(b, model, nil)))
		forgetful.log(b, "p8, no store")
		own := ask(serve(b, handler(b, model, embedded(b))))
		own.log(b, "p8")
		b.ReportMetric(own.rate(), "events/s")
		b.ReportMetric(own.rate()/direct.rate(), "of-bare")
		b.ReportMetric(forgetful.rate()/direct.rate(), "of-bare-without-store")
		n, _ := own.incomplete()
		b.ReportMetric(float64(n), "incomplete")
	}
}

// silent is a model that says one word and then waits.
type silent struct{ llm.Model }

func (silent) Name() string { return "bench:silent" }

func (silent) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if yield(llm.Chunk{Kind: llm.ChunkText, Text: mark}, nil) {
			<-ctx.Done()
			yield(llm.Chunk{}, ctx.Err())
		}
	}
}

// BenchmarkWireIdle is the memory of an open stream whose model says nothing: heap
// and stacks, of the server and of the connection, less what the clients take,
// which is measured with a bare handler that waits as well.
func BenchmarkWireIdle(b *testing.B) {
	for b.Loop() {
		bareBytes := idle(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: " + mark + "\n\n"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
		own := idle(b, handler(b, silent{textModel()}, embedded(b)))
		b.ReportMetric(own/1024, "KB/stream")
		b.ReportMetric(bareBytes/1024, "KB/stream-of-bare")
	}
}

// idle opens a thousand streams and gives the bytes that each one takes.
func idle(b *testing.B, h http.Handler) float64 {
	addr := serve(b, h)
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	open := func() func() error {
		c, err := connect(ctx, addr)
		if err != nil {
			b.Fatal(err)
		}
		if err := request(c); err != nil {
			b.Fatal(err)
		}
		var buf [4 << 10]byte
		for got := ""; !strings.Contains(got, mark); {
			n, err := c.Read(buf[:])
			if got += string(buf[:n]); err != nil {
				b.Fatal(err, got)
			}
		}
		return c.Close
	}
	for range concurrent / 10 {
		defer open()() // what is made once is there
	}
	before := inUse()
	for range concurrent {
		defer open()()
	}
	time.Sleep(time.Second) // the logs are stored
	return float64(inUse()-before) / concurrent
}

// inUse is heap and stacks without garbage.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkWireReconnect reads a stored run of ten thousand events over HTTP.
func BenchmarkWireReconnect(b *testing.B) {
	const chunks = 10_000
	texts := make([]string, chunks)
	for i := range texts {
		texts[i] = mark + "of the answer "
	}
	addr := serve(b, handler(b, scripted.NewWith(scripted.Options{Repeat: true}, scripted.Text(texts...)), embedded(b)))
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://"+addr+"/v1/chat/completions", strings.NewReader(asked))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	run := res.Header.Get("X-Run-Id")
	res.Body.Close()
	events := "http://" + addr + "/v1/runs/" + run + "/events"
	get(b, client, events) // as long as it goes on, the reader stays
	for _, protocol := range []string{"events", "openai", "ag-ui", "ai-sdk"} {
		b.Run(protocol, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n := get(b, client, events+"?protocol="+protocol); n < chunks {
					b.Fatalf("%d frames", n)
				}
			}
		})
	}
}
