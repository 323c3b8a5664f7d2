package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"testing"

	"github.com/p8-org/p8/event"
)

// Ask is one chat request.
type Ask struct {
	Agent   string
	Session string
	Text    string
	Headers map[string]string
}

// Turn is the response: the typed frames in their order, and the text.
type Turn struct {
	Text   string
	Frames []Typed
	Raw    []json.RawMessage
}

// Chat posts a streamed request and reads it to its end.
func (s *Server) Chat(t testing.TB, a Ask) Turn {
	t.Helper()
	res := s.post(t, "/v1/chat/completions", a)
	defer res.Body.Close()
	var turn Turn
	for f, err := range Frames(res.Body) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Data == "[DONE]" {
			return turn
		}
		var frame Typed
		if err := json.Unmarshal([]byte(f.Data), &frame); err != nil {
			t.Fatalf("frame %q: %v", f.Data, err)
		}
		if frame.Error != nil {
			t.Fatalf("the run failed: %s", frame.Error.Message)
		}
		turn.Text += frame.Text()
		turn.Frames = append(turn.Frames, frame)
		turn.Raw = append(turn.Raw, json.RawMessage(f.Data))
	}
	t.Fatal("the stream ended without [DONE]")
	return turn
}

// Events posts a request in p8's own protocol and yields the events as they come, until
// the stream ends.
func (s *Server) Events(t testing.TB, a Ask) iter.Seq[event.Event] {
	t.Helper()
	res := s.post(t, "/chat/"+url.PathEscape(a.Session)+"?protocol=events", a)
	return func(yield func(event.Event) bool) {
		defer res.Body.Close()
		for f, err := range Frames(res.Body) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Data == "" {
				continue // an id alone
			}
			var e event.Event
			if err := json.Unmarshal([]byte(f.Data), &e); err != nil {
				t.Fatalf("frame %q: %v", f.Data, err)
			}
			if !yield(e) {
				return
			}
		}
	}
}

// post posts a streamed request, which must be accepted.
func (s *Server) post(t testing.TB, path string, a Ask) *http.Response {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"model": a.Agent, "stream": true, "messages": []map[string]string{{"role": "user", "content": a.Text}},
	})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if a.Session != "" {
		req.Header.Set("X-Session-Id", a.Session)
	}
	for name, value := range a.Headers {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		out, _ := io.ReadAll(res.Body)
		t.Fatalf("status %d: %s", res.StatusCode, out)
	}
	return res
}

// Frame decodes the first typed frame of that kind into v.
func (turn Turn) Frame(t testing.TB, kind string, v any) {
	t.Helper()
	for i, f := range turn.Frames {
		if f.Type == kind {
			if err := json.Unmarshal(turn.Raw[i], v); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("there was no %s frame", kind)
}

// Kinds returns the kinds of the typed frames in their order; "text" stands for any
// number of text chunks in a row.
func (turn Turn) Kinds() []string {
	var kinds []string
	for _, f := range turn.Frames {
		kind := f.Type
		switch {
		case kind == "tool_call":
			kind += " " + f.Status
		case kind == "" && f.Text() != "":
			if kind = "text"; len(kinds) > 0 && kinds[len(kinds)-1] == kind {
				continue
			}
		case kind == "":
			continue
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// Get reads a JSON resource.
func (s *Server) Get(t testing.TB, path string, v any) {
	t.Helper()
	res, err := http.Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: status %d: %s", path, res.StatusCode, body)
	}
	if err := json.Unmarshal(body, v); err != nil {
		t.Fatalf("GET %s: %v in %s", path, err, body)
	}
}
