package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server embeds a text as [its length, 1] unless a rule says otherwise.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	// refuse answers a request with a status and a body; status 0 lets the server answer.
	refuse func(r request) (int, string)
}

type request struct {
	Model          string
	Input          []string
	Dimensions     int
	EncodingFormat string `json:"encoding_format"`
	path, key      string
}

func serve(t *testing.T, refuse func(request) (int, string)) *server {
	t.Helper()
	s := &server{refuse: refuse}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := request{path: r.URL.Path, key: r.Header.Get("Authorization")}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.requests = append(s.requests, req)
		s.mu.Unlock()
		if s.refuse != nil {
			if status, body := s.refuse(req); status != 0 {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body) // the client may have gone
				return
			}
		}
		var data []string
		for i, text := range req.Input {
			data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d,1]}`, i, len(text)))
		}
		fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"m","usage":{"total_tokens":1}}`, strings.Join(data, ","))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) seen() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.requests...)
}

func (s *server) model(t *testing.T, o openai.Options) *openai.Model {
	t.Helper()
	if o.Model == "" {
		o.Model = "m"
	}
	o.BaseURL, o.APIKey, o.HTTPClient, o.MaxRetries = s.URL+"/v1", "sekret", s.Client(), -1
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// outcome writes each result: "v" for a vector, else the kind of the error, with "!" if
// only this text failed.
func outcome(results []embed.Result) string {
	var words []string
	for _, r := range results {
		switch e, ok := r.Err.(*embed.Error); {
		case r.Err == nil && len(r.Vector) > 0:
			words = append(words, "v")
		case ok && e.OneText:
			words = append(words, "!"+string(e.Kind))
		case ok:
			words = append(words, string(e.Kind))
		default:
			words = append(words, fmt.Sprint(r.Err))
		}
	}
	return strings.Join(words, " ")
}
