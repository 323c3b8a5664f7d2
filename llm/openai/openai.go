// Package openai talks to OpenAI's chat-completions wire, and so to everything
// that speaks it: OpenAI, Ollama, vLLM, OpenRouter, Groq, DeepSeek, Cerebras, or
// any server behind a base URL of its own. It is net/http and nothing else.
//
//	model, err := openai.New(openai.Options{Model: "gpt-4.1", APIKey: key})
//
// or, for a registry, every provider of the table with the environment's keys:
//
//	llm.NewRegistry(llm.RegistryOptions{Providers: openai.Providers(openai.ProvidersOptions{Getenv: os.Getenv})})
//
// It always streams. Servers take liberties with the protocol, so the reader
// is tolerant: tool calls without id, index or type, comments, CRLF, usage
// anywhere, no [DONE], errors in mid-stream, plain JSON in place of a stream.
// What it does not forgive is a stream that ends before the model has said why
// it stopped: that answer is incomplete.
//
// A failure is an [llm.Error]. Overload, rate limits and lost connections are
// tried again with growing, jittered pauses, or after the pause that the
// provider asks for, as long as no chunk has been handed out. Neither the key
// nor the provider's words are in any error.
package openai

import (
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"p8/llm"
)

// Options configure a Model. Model is required; the rest has defaults.
type Options struct {
	// Provider is openai, ollama, vllm, openrouter, groq, deepseek or cerebras;
	// "openai" when empty. With a BaseURL it may be any name.
	Provider string
	// Model is the model's name at the provider.
	Model string
	// BaseURL is the provider's when empty; http or https, up to the /v1.
	BaseURL string
	// APIKey is sent as a bearer token. It may be empty where the provider wants
	// none or the base URL is one's own.
	APIKey string `json:"-"`
	// HTTPClient is one with its own connections when nil.
	HTTPClient *http.Client
	// MaxRetries bounds the tries after the first; 2 when 0, none when negative.
	MaxRetries int
	// IdleTimeout is the longest silence of the provider; 5 minutes when 0, as a
	// local server may load a model first and a reasoning one may think.
	IdleTimeout time.Duration
	// Debug gets the exact JSON body of each request.
	Debug func(payload []byte)
}

// String leaves the key out.
func (o Options) String() string { return "openai.Options{" + o.Provider + ":" + o.Model + "}" }

// GoString leaves the key out.
func (o Options) GoString() string { return o.String() }

// Model is one model of one provider. It is safe for concurrent use.
type Model struct {
	name     string // provider:model
	model    string
	provider provider
	dialect  dialect
	url      string
	// authorize sets the key. A function, because a field of text would be
	// printed with the struct.
	authorize func(http.Header)
	client    *http.Client
	retries   int
	idle      time.Duration
	debug     func([]byte)
	readers   sync.Pool // of *reader
}

// New makes a model. What is missing or wrong is an *llm.Error of kind NoModel
// that says how to mend it.
func New(o Options) (*Model, error) {
	if o.Provider == "" {
		o.Provider = "openai"
	}
	p := lookup(o.Provider)
	name := o.Provider + ":" + o.Model
	own := o.BaseURL != ""
	if !own {
		o.BaseURL = p.BaseURL
	}
	bad := func(hint string) (*Model, error) {
		return nil, &llm.Error{Kind: llm.NoModel, Model: name, Hint: hint}
	}
	if o.Model == "" {
		return bad(`name the model too, as in "` + o.Provider + `:` + p.example() + `"`)
	}
	if o.BaseURL == "" {
		return bad("the provider " + o.Provider + " has no base URL of its own" + either("; set ", p.BaseURLVars))
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return bad("the base URL of " + o.Provider + " is not an http or https URL such as http://localhost:1234/v1")
	}
	key := strings.TrimSpace(o.APIKey)
	if key == "" && !own && !p.KeyOptional {
		return bad(name + " needs an API key" + either("; set ", p.KeyVars))
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return bad("the API key of " + o.Provider + " holds characters that no key has" + either("; look at ", p.KeyVars))
	}
	m := &Model{
		name: name, model: o.Model, provider: p, dialect: dialectOf(p, o.Model),
		url: u.JoinPath("chat/completions").String(),
		authorize: func(h http.Header) {
			if key != "" {
				h.Set("Authorization", "Bearer "+key)
			}
		},
		client: o.HTTPClient, retries: o.MaxRetries, idle: o.IdleTimeout, debug: o.Debug,
		readers: sync.Pool{New: func() any { return new(reader) }},
	}
	if m.client == nil {
		m.client = newClient()
	}
	switch {
	case m.retries == 0:
		m.retries = 2
	case m.retries < 0:
		m.retries = 0
	}
	if m.idle <= 0 {
		m.idle = 5 * time.Minute
	}
	return m, nil
}

// newClient keeps enough idle connections for many runs at once and does not
// follow redirects, which would lose the body or carry it elsewhere.
func newClient() *http.Client {
	return &http.Client{
		// The figures are net/http's own; its default transport is not copied, as a
		// program may have put another in its place.
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   10 * time.Second,
			ForceAttemptHTTP2:     true,
			MaxIdleConns:          100,
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       90 * time.Second,
			ExpectContinueTimeout: time.Second,
			DisableCompression:    true, // it would hold chunks back
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Name is "provider:model".
func (m *Model) Name() string { return m.name }

// String is the name.
func (m *Model) String() string { return m.name }

// Capabilities are the provider's, for this model.
func (m *Model) Capabilities() llm.Capabilities {
	return llm.Capabilities{NativeOutput: m.dialect.nativeOutput}
}

// Stream sends the request and yields what comes back: chunks as they arrive,
// then one ChunkUsage if the provider told, then one ChunkFinish; or an error,
// an *llm.Error unless ctx was cancelled, which is ctx.Err().
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		body := m.appendRequest(nil, req)
		if m.debug != nil {
			m.debug(body)
		}
		out := sink{yield: yield}
		for try := 0; ; try++ {
			f := m.attempt(ctx, body, &out)
			if f == nil || out.stopped {
				return
			}
			if f.retry && !out.sent && try < m.retries && pause(ctx, try, f.RetryAfter) {
				continue
			}
			yield(llm.Chunk{}, f.error(ctx))
			return
		}
	}
}

// sink hands chunks out and remembers how that went.
type sink struct {
	yield   func(llm.Chunk, error) bool
	sent    bool
	stopped bool
}

// send reports whether there is still somebody to send to.
func (s *sink) send(c llm.Chunk) bool {
	s.sent = true
	if !s.stopped && !s.yield(c, nil) {
		s.stopped = true
	}
	return !s.stopped
}

// quiet is a body whose reads end when nothing has come for a while. The time
// that the reader of the chunks takes does not count.
type quiet struct {
	io.Reader
	timer *time.Timer
	idle  time.Duration
}

func (q quiet) Read(p []byte) (int, error) {
	q.timer.Reset(q.idle)
	n, err := q.Reader.Read(p)
	q.timer.Stop()
	return n, err
}
