// Package openai is a client of OpenAI's embeddings API on net/http, for OpenAI, Ollama,
// vLLM, OpenRouter, and other servers with a base URL.
//
//	model, err := openai.New(openai.Options{Model: "text-embedding-3-small", APIKey: key})
//	results := model.Embed(ctx, texts)
//
// It sends texts in batches, bounded in number and tokens. It retries on overload, rate
// limits and lost connections, after the pause that the provider asks for, or with
// exponential backoff and jitter. It halves a refused batch until the refused text is alone:
// that text gets an error, the others their vectors. It cuts texts that are too long.
//
// It checks the response: as many vectors as texts, all of one length, of finite numbers, not
// all zero. No error has the key or the provider's words.
package openai

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/internal/tokens"
)

// Options configure a Model. Model is required.
type Options struct {
	// Provider is openai (the default), ollama, vllm, openrouter, or any name if BaseURL is
	// set.
	Provider string
	// Model is the model's name at the provider.
	Model string
	// BaseURL is the http or https URL up to /v1; OpenAI's if empty.
	BaseURL string
	// APIKey is sent as a bearer token if it is not empty.
	APIKey string `json:"-"`
	// Dimensions asks for vectors of this length, from models that support it; 0 is the
	// model's own. A given length is part of the model's name.
	Dimensions int
	// MinSimilarity replaces the model's own; 0 keeps it.
	MinSimilarity float64
	// HTTPClient is a new client if nil.
	HTTPClient *http.Client
	// MaxRetries bounds the tries after the first; 0 is 2, negative for no retries.
	MaxRetries int
	// Timeout bounds a request; 0 is a minute.
	Timeout time.Duration
	// Debug gets the exact JSON body of each request.
	Debug func(payload []byte)
}

// String omits the key.
func (o Options) String() string { return "openai.Options{" + o.Provider + ":" + o.Model + "}" }

// GoString omits the key.
func (o Options) GoString() string { return o.String() }

// openAI is the base URL of OpenAI.
const openAI = "https://api.openai.com/v1"

// maxDimensions is the longest vector that is accepted.
const maxDimensions = 16384

// Model implements embed.Model.
type Model struct {
	name    string
	model   string
	known   profile
	asked   int          // Options.Dimensions
	learned atomic.Int64 // dimensions of the first response
	least   float64
	url     string
	// authorize sets the key. It is a function, as a string would be printed with the
	// struct.
	authorize func(http.Header)
	client    *http.Client
	retries   int
	timeout   time.Duration
	debug     func([]byte)
	counter   tokens.Counter
	// packed asks for base64, which has a third of the bytes. Only OpenAI is sure to
	// support it.
	packed bool
}

// New makes a model. For invalid options it returns an *embed.Error of kind NoModel, which
// says what to do.
func New(o Options) (*Model, error) {
	if o.Provider == "" {
		o.Provider = "openai"
	}
	m := &Model{
		name: o.Provider + ":" + o.Model, model: o.Model, known: profileOf(o.Model),
		asked: o.Dimensions, least: o.MinSimilarity,
		client: o.HTTPClient, retries: outbound.Retries(o.MaxRetries), timeout: o.Timeout, debug: o.Debug,
		packed: o.Provider == "openai" && o.BaseURL == "",
	}
	bad := func(format string, args ...any) (*Model, error) {
		return nil, &embed.Error{Kind: embed.NoModel, Model: m.name, Hint: fmt.Sprintf(format, args...)}
	}
	if o.Model == "" {
		return bad(`name the model too, as in "%s:text-embedding-3-small"`, o.Provider)
	}
	if o.Dimensions < 0 || o.Dimensions > maxDimensions {
		return bad("its vectors have at most %d dimensions", maxDimensions)
	}
	if o.Dimensions > 0 {
		m.name += fmt.Sprintf("@%d", o.Dimensions)
	}
	if o.BaseURL == "" {
		if o.Provider != "openai" {
			return bad("the provider %s has no base URL of its own; set P8_EMBEDDING_BASE_URL", o.Provider)
		}
		o.BaseURL = openAI
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return bad("the base URL is not an http or https URL such as http://localhost:11434/v1")
	}
	m.url = u.JoinPath("embeddings").String()
	key := strings.TrimSpace(o.APIKey)
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return bad("the API key holds characters that no key has")
	}
	m.authorize = func(h http.Header) {
		if key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
	}
	if m.least == 0 {
		m.least = m.known.minSimilarity
	}
	if m.client == nil {
		m.client = outbound.NewClient()
	}
	if m.timeout <= 0 {
		m.timeout = time.Minute
	}
	return m, nil
}

// Shortens reports whether the first numbers of a vector, scaled to length 1, are a vector,
// too.
func (m *Model) Shortens() bool { return m.known.shortens }

// Name returns "provider:model", with "@512" for Options.Dimensions of 512.
func (m *Model) Name() string { return m.name }

// String returns the name.
func (m *Model) String() string { return m.name }

// Dimensions returns the length of the vectors, 0 while it is unknown.
func (m *Model) Dimensions() int {
	if m.asked > 0 {
		return m.asked
	}
	if n := m.learned.Load(); n > 0 {
		return int(n)
	}
	return m.known.dimensions
}

// MinSimilarity returns the minimum similarity of related texts.
func (m *Model) MinSimilarity() float64 { return m.least }

// EmbedQuery returns the vector of a question, with the model's prefix for questions.
func (m *Model) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	r := m.embed(ctx, m.known.query, []string{text})[0]
	return r.Vector, r.Err
}

// Embed returns a vector or an error for each text.
func (m *Model) Embed(ctx context.Context, texts []string) []embed.Result {
	return m.embed(ctx, m.known.document, texts)
}
