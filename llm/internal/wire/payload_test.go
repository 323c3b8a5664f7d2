package wire

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/llm"
)

// plain hands out each event as text.
type plain struct{ out *Sink }

func (p *plain) Reset(out *Sink) { p.out = out }
func (p *plain) Event(data []byte) (bool, error) {
	p.out.Send(llm.Chunk{Kind: llm.ChunkText, Text: string(data)})
	return false, nil
}
func (p *plain) Begun() bool      { return true }
func (p *plain) End(bool) error   { return nil }
func (p *plain) Usage() llm.Usage { return llm.Usage{} }

// TestABodyIsLetGo: an open stream does not hold its request's body.
func TestABodyIsLetGo(t *testing.T) {
	got := make(chan int, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- len(b)
		_, _ = io.WriteString(w, "data: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := NewClient(Options{Name: "test", URL: server.URL, HTTPClient: server.Client(), NewDecoder: func() Decoder { return new(plain) }})
	const size = 1 << 20
	gone := make(chan struct{})
	c.Stream(ctx, Request{Body: watched(size, gone)}, func(llm.Chunk, error) bool {
		if n := <-got; n != size {
			t.Errorf("%d bytes were sent, want %d", n, size)
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			runtime.GC()
			select {
			case <-gone:
				return false
			default:
			}
			if time.Now().After(deadline) {
				t.Error("the body is in memory as long as the stream is open")
				return false
			}
		}
	})
}

// watched is a body whose end in memory closes gone.
func watched(size int, gone chan struct{}) []byte {
	body := []byte(strings.Repeat("x", size))
	runtime.AddCleanup(&body[0], func(c chan struct{}) { close(c) }, gone)
	return body
}

func TestPayload(t *testing.T) {
	var p payload
	p.set([]byte("text"))
	first, err := p.open()
	if err != nil {
		t.Fatal(err)
	}
	p.letGo()
	if b, err := io.ReadAll(first); string(b) != "text" || err != nil {
		t.Errorf("a try under way sends %q, %v", b, err)
	}
	if _, err := p.open(); err == nil {
		t.Error("a body that was let go can be sent again")
	}
	p.set([]byte("mended"))
	second, err := p.open()
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := second.Read(make([]byte, 8)); n != 0 || err != io.EOF {
		t.Errorf("a closed body gives %d bytes, %v", n, err)
	}
}
