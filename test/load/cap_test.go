package load_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestMaxRuns: beyond P8_MAX_RUNS a request is refused with the time to retry;
// when an answer has ended, there is room for another one.
func TestMaxRuns(t *testing.T) {
	more := make(chan struct{})
	p := newProvider(t, func(body string) reply {
		if strings.Contains(body, long) {
			return reply{text: "begun", pieces: 1, before: more}
		}
		return reply{text: "a short answer", pieces: 1}
	})
	s := harness.Serve(t, harness.Options{Env: append(p.env(), "P8_MAX_RUNS=2")})
	ask := func(text string) *http.Response {
		body := `{"model":"general","stream":true,"messages":[{"role":"user","content":"` + text + `"}]}`
		res, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	var open []*http.Response
	for range 2 {
		res := ask(long)
		if _, err := bufio.NewReader(res.Body).ReadByte(); err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res.Status, err)
		}
		open = append(open, res)
	}
	refused := ask(short)
	var told struct {
		Error struct{ Code, Message string }
	}
	if err := json.NewDecoder(refused.Body).Decode(&told); err != nil {
		t.Fatal(err)
	}
	if refused.StatusCode != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") != "1" || told.Error.Code != "overloaded" {
		t.Errorf("%s, Retry-After %q: %+v", refused.Status, refused.Header.Get("Retry-After"), told)
	}
	close(more)
	for _, res := range open {
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
	}
	// A client sees the end of an answer a moment before there is room for another one.
	deadline := time.Now().Add(30 * time.Second)
	for res := ask(short); res.StatusCode != http.StatusOK; res = ask(short) {
		if time.Now().After(deadline) {
			t.Fatalf("after the others have ended: %s", res.Status)
		}
		<-time.After(20 * time.Millisecond)
	}
}
