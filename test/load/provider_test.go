package load_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// provider is a model provider on loopback that can stream without an end.
type provider struct {
	url string
	// open counts the answers under way, most is the highest count so far.
	open, most atomic.Int64
}

// reply is how the provider answers.
type reply struct {
	// text is one piece, sent pieces times; without an end when pieces is 0.
	text   string
	pieces int
	pace   time.Duration
	// before, where set, is waited for before the first piece.
	before chan struct{}
}

// newProvider answers each request with the reply that choose returns for its body.
func newProvider(t testing.TB, choose func(body string) reply) *provider {
	t.Helper()
	p := new(provider)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		n := p.open.Add(1)
		defer p.open.Add(-1)
		for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
		}
		choose(string(body)).send(w, r)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	p.url = "http://" + l.Addr().String()
	return p
}

// env are the settings that make p8 use the provider.
func (p *provider) env() []string {
	return []string{"OPENAI_BASE_URL=" + p.url + "/v1", "OPENAI_API_KEY=sk-load", "P8_DEFAULT_MODEL=openai:gpt-4.1"}
}

const chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"fake","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}` + "\n\n"

const stop = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"fake","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` +
	"\n\ndata: [DONE]\n\n"

func (a reply) send(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	frame := fmt.Appendf(nil, chunk, a.text)
	if a.before != nil {
		select {
		case <-a.before:
		case <-r.Context().Done():
			return
		}
	}
	for i := 0; a.pieces == 0 || i < a.pieces; i++ {
		if _, err := w.Write(frame); err != nil || out.Flush() != nil {
			return
		}
		if a.pace <= 0 {
			continue
		}
		select {
		case <-time.After(a.pace):
		case <-r.Context().Done():
			return
		}
	}
	_, _ = io.WriteString(w, stop)
}
