package openai_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/openai"
)

func TestEmbed(t *testing.T) {
	s := serve(t, nil)
	m := s.model(t, openai.Options{Provider: "vllm", Model: "org/model", Dimensions: 2})
	if m.Name() != "vllm:org/model@2" || m.Dimensions() != 2 {
		t.Errorf("name %q, %d dimensions", m.Name(), m.Dimensions())
	}
	results := m.Embed(t.Context(), []string{"abc", " \n", "x", "Ünïcode 🎉"})
	if got := outcome(results); got != "v the text has no words v v" {
		t.Error(got)
	}
	if v := results[0].Vector; math.Abs(float64(v[0])-3/math.Sqrt(10)) > 1e-6 {
		t.Errorf("the vector of abc is %v: not its own, or not of length 1", v)
	}
	r := s.seen()[0]
	if r.path != "/v1/embeddings" || r.key != "Bearer sekret" || r.Model != "org/model" || r.Dimensions != 2 || r.EncodingFormat != "" || strings.Join(r.Input, "|") != "abc|x|Ünïcode 🎉" {
		t.Errorf("the request was %+v", r)
	}
	if len(m.Embed(t.Context(), nil)) != 0 || len(s.seen()) != 1 {
		t.Error("no texts made a request")
	}
}

// TestPrefixes: some models need a prefix that marks a question.
func TestPrefixes(t *testing.T) {
	s := serve(t, nil)
	m := s.model(t, openai.Options{Provider: "ollama", Model: "nomic-embed-text:v1.5"})
	if m.Dimensions() != 0 {
		t.Errorf("%d dimensions before the first answer", m.Dimensions())
	}
	if _, err := m.EmbedQuery(t.Context(), "why"); err != nil {
		t.Fatal(err)
	}
	m.Embed(t.Context(), []string{"because"})
	seen := s.seen()
	if q, d := seen[0].Input[0], seen[1].Input[0]; q != "search_query: why" || d != "search_document: because" {
		t.Errorf("sent %q and %q", q, d)
	}
	if m.Dimensions() != 2 || m.MinSimilarity() != 0.5 {
		t.Errorf("%d dimensions, least similarity %v", m.Dimensions(), m.MinSimilarity())
	}
}

func TestBatches(t *testing.T) {
	s := serve(t, nil)
	m := s.model(t, openai.Options{})
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	for i, r := range m.Embed(t.Context(), texts) {
		if r.Err != nil || math.Abs(float64(r.Vector[0]/r.Vector[1])-float64(i+1)) > 0.01 {
			t.Fatalf("text %d: %v, %v", i, r.Vector, r.Err)
		}
	}
	var sizes []int
	for _, r := range s.seen() {
		sizes = append(sizes, len(r.Input))
	}
	if fmt.Sprint(sizes) != "[128 128 44]" {
		t.Errorf("batches of %v", sizes)
	}

	long := make([]string, 100) // 8,191 tokens each: as many as fit
	for i := range long {
		long[i] = strings.Repeat("0123456789abcdef ", 1000)
	}
	before := len(s.seen())
	if got := outcome(m.Embed(t.Context(), long)); strings.Contains(got, "!") {
		t.Error(got)
	}
	for _, r := range s.seen()[before:] {
		if n := len(strings.Join(r.Input, "")); n > 3*200_000 {
			t.Errorf("a request of %d bytes", n)
		}
	}
}

// TestIsolation: only the bad text gets no vector.
func TestIsolation(t *testing.T) {
	has := func(r request, word string) bool { return strings.Contains(strings.Join(r.Input, " "), word) }
	tests := []struct {
		name   string
		refuse func(request) (int, string)
		texts  []string
		want   string
		most   int // requests
	}{
		{
			"one refused", func(r request) (int, string) {
				if has(r, "bad") {
					return 400, `{"error":{"message":"no","type":"invalid_request_error"}}`
				}
				return 0, ""
			}, []string{"a", "b", "bad", "c", "d", "e", "f", "g"}, "v v !invalid_request v v v v v", 8,
		},
		{
			"alone and refused", func(r request) (int, string) {
				if has(r, "bad") {
					return 422, `{"detail":[{"msg":"no"}]}`
				}
				return 0, ""
			}, []string{"bad"}, "!invalid_request", 2,
		},
		{
			"one too long, and cut", func(r request) (int, string) {
				for _, text := range r.Input {
					if len(text) > 100 {
						return 400, `{"error":"the input length exceeds the context length"}`
					}
				}
				return 0, ""
			}, []string{"a", strings.Repeat("é", 400), "b"}, "v v v", 8,
		},
		{
			"too long however short", func(r request) (int, string) {
				if has(r, "xx") {
					return 413, `too large`
				}
				return 0, ""
			}, []string{"a", strings.Repeat("x", 4000)}, "v !context_length_exceeded", 11,
		},
		{
			"one without a vector", func(r request) (int, string) {
				if has(r, "bad") {
					return 200, `{"data":[{"index":0,"embedding":[1,2]}]}`
				}
				return 0, ""
			}, []string{"a", "bad", "b", "c"}, "v v v v", 7,
		},
		{
			"the model refuses everything", func(request) (int, string) {
				return 400, `{"error":{"message":"this model does not support dimensions"}}`
			}, []string{"a", "b", "c", "d"}, "invalid_request invalid_request invalid_request invalid_request", 2,
		},
		{
			"somebody else answers", func(request) (int, string) { return 200, "<html>hello</html>" },
			[]string{"a", "b", "c"}, "bad_provider_response bad_provider_response bad_provider_response", 2,
		},
		{
			"no key", func(request) (int, string) {
				return 401, `{"error":{"message":"Incorrect API key provided: sekret","code":"invalid_api_key"}}`
			},
			[]string{"a", "b"}, "authentication_error authentication_error", 1,
		},
		{"no such model", func(request) (int, string) { return 404, `{"error":{"code":"model_not_found"}}` }, []string{"a"}, "model_not_found", 1},
		{"no credit", func(request) (int, string) { return 429, `{"error":{"type":"insufficient_quota"}}` }, []string{"a"}, "rate_limit_exceeded", 1},
		{"down", func(request) (int, string) { return 503, `` }, []string{"a", "b"}, "provider_unavailable provider_unavailable", 1},
		{"a redirect", func(request) (int, string) { return 302, `` }, []string{"a"}, "bad_provider_response", 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, test.refuse)
			results := s.model(t, openai.Options{}).Embed(t.Context(), test.texts)
			if got := outcome(results); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if n := len(s.seen()); n > test.most {
				t.Errorf("%d requests, more than %d", n, test.most)
			}
			for _, r := range results {
				if r.Err != nil && (strings.Contains(r.Err.Error(), "sekret") || strings.Contains(r.Err.Error(), "127.0.0.1")) {
					t.Errorf("the error tells too much: %v", r.Err)
				}
			}
		})
	}
}

// packed is the base64 form of numbers.
func packed(numbers ...float32) string {
	var raw []byte
	for _, x := range numbers {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return `"` + base64.StdEncoding.EncodeToString(raw) + `"`
}

// TestAnswers: responses for one text, after a valid vector of two numbers.
func TestAnswers(t *testing.T) {
	tests := []struct{ name, embedding, want string }{
		{"numbers", `[0.1,-2e-3]`, "v"},
		{"base64", packed(1, 2), "v"},
		{"zero", `[0,0]`, "!bad_provider_response"},
		{"not a number", packed(1, float32(math.NaN())), "!bad_provider_response"},
		{"infinite", packed(1, float32(math.Inf(-1))), "!bad_provider_response"},
		{"beyond float32", `[1e39,1]`, "!bad_provider_response"},
		{"null within", `[null,1]`, "!bad_provider_response"},
		{"null", `null`, "!bad_provider_response"},
		{"empty", `[]`, "!bad_provider_response"},
		{"another length", `[1,2,3]`, "!bad_provider_response"},
		{"broken base64", `"??"`, "!bad_provider_response"},
		{"half a number", `"AAAAAAA="`, "!bad_provider_response"},
		{"text", `"hello world!"`, "!bad_provider_response"},
		{"nested", `[[1,2]]`, "!bad_provider_response"},
		{"an object", `{"a":1}`, "!bad_provider_response"},
	}
	for _, test := range tests {
		s := serve(t, func(r request) (int, string) {
			if r.Input[0] != "odd" {
				return 0, ""
			}
			return 200, `{"data":[{"index":0,"embedding":` + test.embedding + `}]}`
		})
		m := s.model(t, openai.Options{})
		if got := outcome(m.Embed(t.Context(), []string{"good"})); got != "v" {
			t.Fatal(got)
		}
		if got := outcome(m.Embed(t.Context(), []string{"odd"})); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestOrder(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"by index", `{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}`, "[[1 0] [0 1]]"},
		{"without index", `{"embedding":[1,0]},{"embedding":[0,1]}`, "[[1 0] [0 1]]"},
		{"an index twice", `{"index":0,"embedding":[1,0]},{"index":0,"embedding":[0,1]}`, "[[] []]"},
		{"out of range", `{"index":2,"embedding":[1,0]},{"index":0,"embedding":[0,1]}`, "[[] []]"},
		{"too many", `{"embedding":[1,0]},{"embedding":[0,1]},{"embedding":[0,1]}`, "[[] []]"},
	}
	for _, test := range tests {
		s := serve(t, func(r request) (int, string) { return 200, `{"data":[` + test.data + `]}` })
		var got [][]float32
		for _, r := range s.model(t, openai.Options{}).Embed(t.Context(), []string{"a", "b"}) {
			got = append(got, r.Vector)
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s: %v, want %s", test.name, got, test.want)
		}
	}
}

func TestDimensionsAreKept(t *testing.T) {
	s := serve(t, nil)
	m := s.model(t, openai.Options{Dimensions: 512})
	r := m.Embed(t.Context(), []string{"a"})[0]
	if r.Err == nil || !strings.Contains(r.Err.Error(), "has 2 dimensions, not the 512") {
		t.Errorf("%v", r.Err)
	}
}

func TestLargeAnswersAreRefused(t *testing.T) {
	s := serve(t, func(request) (int, string) { return 200, `{"data":[` + strings.Repeat(" ", 4<<20) + `]}` })
	m := s.model(t, openai.Options{Dimensions: 2})
	if got := outcome(m.Embed(t.Context(), []string{"a"})); got != "bad_provider_response" {
		t.Error(got)
	}
}

// TestCutting: a text is cut by tokens, not by bytes, and never within a character.
func TestCutting(t *testing.T) {
	s := serve(t, nil)
	m := s.model(t, openai.Options{Model: "all-minilm"}) // 256 tokens
	texts := []string{strings.Repeat("word ", 1000), strings.Repeat("語", 1000), strings.Repeat("🎉", 1000), "short", "broken \xff byte"}
	if got := outcome(m.Embed(t.Context(), texts)); got != "v v v v v" {
		t.Fatal(got)
	}
	sent := s.seen()[0].Input
	if n := len(strings.Fields(sent[0])); n < 250 || n > 257 {
		t.Errorf("%d words were sent", n)
	}
	for i, text := range sent[:3] {
		if strings.Contains(text, "\uFFFD") || !strings.HasPrefix(texts[i], text) || text == texts[i] {
			t.Errorf("text %d was cut to %q", i, text)
		}
	}
	if sent[3] != "short" || sent[4] != "broken \uFFFD byte" {
		t.Errorf("sent %q", sent[3:])
	}
}

// roundTripper answers without a network, under a fake clock.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func TestRetries(t *testing.T) {
	const good = `{"data":[{"index":0,"embedding":[1,2]}]}`
	type replies = []func() (*http.Response, error)
	status := func(code int, header ...string) func() (*http.Response, error) {
		return func() (*http.Response, error) { return reply(code, `{"error":{}}`, header...), nil }
	}
	fine := func() (*http.Response, error) { return reply(200, good), nil }
	lost := func() (*http.Response, error) { return nil, errors.New("dial tcp 10.0.0.1: refused, key sekret") }
	tests := []struct {
		name     string
		replies  replies
		retries  int
		deadline time.Duration
		want     string
		min, max time.Duration
	}{
		{"overloaded, then fine", replies{status(503), status(500), fine}, 0, 0, "v", 750 * time.Millisecond, 1500 * time.Millisecond},
		{"lost, then fine", replies{lost, fine}, 0, 0, "v", 250 * time.Millisecond, 500 * time.Millisecond},
		{"bounded", replies{status(500), status(500), status(500)}, 0, 0, "provider_unavailable", 750 * time.Millisecond, 1500 * time.Millisecond},
		{"switched off", replies{status(500)}, -1, 0, "provider_unavailable", 0, 0},
		{"Retry-After", replies{status(429, "Retry-After", "20"), fine}, 0, 0, "v", 20 * time.Second, 22 * time.Second},
		{"Retry-After-Ms", replies{status(429, "Retry-After-Ms", "1500"), fine}, 0, 0, "v", 1500 * time.Millisecond, 1700 * time.Millisecond},
		{"asked to wait too long", replies{status(429, "Retry-After", "3600")}, 0, 0, "rate_limit_exceeded", 0, 0},
		{"no time to wait", replies{status(429, "Retry-After", "20")}, 0, 10 * time.Second, "rate_limit_exceeded", 0, 0},
		{"a refusal is not repeated", replies{status(401)}, 0, 0, "authentication_error", 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				m, err := openai.New(openai.Options{
					Model: "m", BaseURL: "http://localhost/v1", APIKey: "sekret", MaxRetries: test.retries,
					HTTPClient: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
						calls++
						return test.replies[calls-1]()
					})},
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx := t.Context()
				if test.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				began := time.Now()
				results := m.Embed(ctx, []string{"a"})
				took := time.Since(began)
				if got := outcome(results); got != test.want || calls != len(test.replies) {
					t.Errorf("%s after %d calls, want %s after %d", got, calls, test.want, len(test.replies))
				}
				if took < test.min || took > test.max {
					t.Errorf("took %v, want %v to %v", took, test.min, test.max)
				}
				if err := results[0].Err; err != nil && strings.Contains(err.Error(), "sekret") {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestTimeoutAndCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}
		m, err := openai.New(openai.Options{Model: "m", BaseURL: "http://localhost/v1", HTTPClient: hang, MaxRetries: -1})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if got := outcome(m.Embed(t.Context(), []string{"a"})); got != "provider_timeout" || time.Since(began) != time.Minute {
			t.Errorf("%s after %v", got, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		for _, r := range m.Embed(ctx, []string{"a", "b"}) {
			if !errors.Is(r.Err, context.Canceled) {
				t.Errorf("cancelled: %v", r.Err)
			}
		}
	})
}

func TestNew(t *testing.T) {
	tests := []struct {
		name string
		o    openai.Options
		want string
	}{
		{"no model", openai.Options{}, "name the model too"},
		{"no URL", openai.Options{Provider: "own", Model: "m"}, "set P8_EMBEDDING_BASE_URL"},
		{"not a URL", openai.Options{Model: "m", BaseURL: "localhost:1"}, "not an http or https URL"},
		{"a broken key", openai.Options{Model: "m", APIKey: "sekret\nsekret"}, "characters that no key has"},
		{"too long", openai.Options{Model: "m", Dimensions: 1 << 20}, "at most 16384"},
	}
	for _, test := range tests {
		_, err := openai.New(test.o)
		var e *embed.Error
		if !errors.As(err, &e) || e.Kind != embed.NoModel || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "sekret") {
			t.Errorf("%s: %v", test.name, err)
		}
		if text := fmt.Sprintf("%v %+v %#v", test.o, test.o, test.o); strings.Contains(text, "sekret") {
			t.Errorf("%s: the options print the key", test.name)
		}
	}
	m, err := openai.New(openai.Options{Model: "text-embedding-3-small", APIKey: "sekret"})
	if err != nil || m.Name() != "openai:text-embedding-3-small" || m.Dimensions() != 1536 || m.MinSimilarity() != 0.3 {
		t.Errorf("%v, %v", m, err)
	}
	if text := fmt.Sprintf("%v %+v", m, m); strings.Contains(text, "sekret") {
		t.Errorf("the model prints the key")
	}
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"data":[{"index":0,"embedding":[1,2]}]}`, `{"data":[{"embedding":"AACAPwAAAEA="}]}`, `{"data":null}`, `[]`, `{"data":[{"index":-1,"embedding":null}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		m, err := openai.New(openai.Options{Model: "m", BaseURL: "http://localhost/v1", MaxRetries: -1, HTTPClient: &http.Client{
			Transport: roundTripper(func(*http.Request) (*http.Response, error) { return reply(200, body), nil }),
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range m.Embed(t.Context(), []string{"a"}) {
			if (r.Err == nil) == (r.Vector == nil) {
				t.Errorf("%v, %v", r.Vector, r.Err)
			}
			for _, x := range r.Vector {
				if x != x || x > 1.001 || x < -1.001 {
					t.Errorf("a number of a vector of length 1 is %v", x)
				}
			}
		}
	})
}
