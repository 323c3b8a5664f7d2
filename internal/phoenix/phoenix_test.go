package phoenix_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/phoenix"
	"github.com/p8-org/p8/internal/testkit/golden"
)

// server records the requests and answers as Phoenix does.
func server(t *testing.T, status int, answer string) (address string, recorded *strings.Builder) {
	recorded = new(strings.Builder)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(recorded, "%s %s\nauthorization: %s\ncontent-type: %s\n\n%s\n", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, recorded
}

func client(t *testing.T, o phoenix.Options) *phoenix.Client {
	t.Helper()
	c, err := phoenix.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnnotateSpans(t *testing.T) {
	address, recorded := server(t, http.StatusOK, `{"data":[{"id":"U3Bhbg=="}]}`)
	score := 0.75
	err := client(t, phoenix.Options{BaseURL: address + "/prefix/", APIKey: "k"}).AnnotateSpans(t.Context(), phoenix.Annotation{
		SpanID: "00f067aa0ba902b7", Name: "user_feedback", AnnotatorKind: phoenix.Human, Identifier: "f1",
		Result: phoenix.Result{Score: &score, Label: "helpful", Explanation: "very"}, Metadata: map[string]any{"session_id": "s1"},
	}, phoenix.Annotation{SpanID: "00f067aa0ba902b8", Name: "x", AnnotatorKind: phoenix.Code})
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/span_annotations.http", recorded.String())
}

func TestFailures(t *testing.T) {
	unknown, _ := server(t, http.StatusNotFound, "Spans with IDs 00 do not exist."+strings.Repeat("x", 1000))
	var status *phoenix.StatusError
	if err := client(t, phoenix.Options{BaseURL: unknown}).AnnotateSpans(t.Context()); !errors.As(err, &status) || status.Status != 404 || len(status.Message) != 200 {
		t.Error(err)
	}
	if err := client(t, phoenix.Options{BaseURL: "http://127.0.0.1:1/secret"}).AnnotateSpans(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // until then the server does not see that the client leaves
		<-r.Context().Done()
	}))
	defer hangs.Close()
	if err := client(t, phoenix.Options{BaseURL: hangs.URL, Timeout: time.Millisecond}).AnnotateSpans(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for _, wrong := range []string{"", "localhost", "://"} {
		if _, err := phoenix.New(phoenix.Options{BaseURL: wrong}); err == nil {
			t.Errorf("%q is an address", wrong)
		}
	}
}
