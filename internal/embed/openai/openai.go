// Package openai talks to OpenAI's embeddings wire, and so to everything that
// speaks it: OpenAI, Ollama, vLLM, OpenRouter, or any server behind a base URL
// of its own. It is net/http and nothing else.
//
//	model, err := openai.New(openai.Options{Model: "text-embedding-3-small", APIKey: key})
//	results := model.Embed(ctx, texts)
//
// Texts go in batches, bounded in number and tokens. Overload, rate limits and
// lost connections are tried again with growing, jittered pauses, or after the
// pause that the provider asks for. When a batch is refused it is halved until
// the refused text is alone: it gets an error, its neighbours their vectors. A
// text that is too long is cut.
//
// What comes back is checked: as many vectors as texts, all of one length, of
// finite numbers, not all zero. Neither the key nor the provider's words are in
// any error.
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
)

// Options configure a Model. Model is required; the rest has defaults.
type Options struct {
	// Provider is openai, ollama, vllm, openrouter, or with a BaseURL any name;
	// "openai" when empty.
	Provider string
	// Model is the model's name at the provider.
	Model string
	// BaseURL is OpenAI's when empty; http or https, up to the /v1.
	BaseURL string
	// APIKey is sent as a bearer token, unless it is empty.
	APIKey string `json:"-"`
	// Dimensions asks for vectors of this length, from models that let one
	// choose; 0 is the model's own. A length that was asked for is part of the
	// model's name.
	Dimensions int
	// MinSimilarity is the model's own when 0.
	MinSimilarity float64
	// HTTPClient is one with its own connections when nil.
	HTTPClient *http.Client
	// MaxRetries bounds the tries after the first; 2 when 0, none when negative.
	MaxRetries int
	// Timeout is the longest that a request may take; a minute when 0.
	Timeout time.Duration
	// Debug gets the exact JSON body of each request.
	Debug func(payload []byte)
}

// String leaves the key out.
func (o Options) String() string { return "openai.Options{" + o.Provider + ":" + o.Model + "}" }

// GoString leaves the key out.
func (o Options) GoString() string { return o.String() }

// openAI is the base URL of the provider of that name.
const openAI = "https://api.openai.com/v1"

// maxDimensions is the longest vector that is accepted.
const maxDimensions = 16384

// Model implements embed.Model.
type Model struct {
	name    string
	model   string
	known   profile
	asked   int          // dimensions that were asked for
	learned atomic.Int64 // dimensions of the first answer
	least   float64
	url     string
	// authorize sets the key. A function, because a field of text would be
	// printed with the struct.
	authorize func(http.Header)
	client    *http.Client
	retries   int
	timeout   time.Duration
	debug     func([]byte)
	cutter    cutter
	// packed asks for base64, which is a third of the bytes; only OpenAI itself
	// is sure to know it.
	packed bool
}

// New makes a model. What is missing or wrong is an *embed.Error of kind NoModel
// that says how to mend it.
func New(o Options) (*Model, error) {
	if o.Provider == "" {
		o.Provider = "openai"
	}
	m := &Model{
		name: o.Provider + ":" + o.Model, model: o.Model, known: profileOf(o.Model),
		asked: o.Dimensions, least: o.MinSimilarity,
		client: o.HTTPClient, retries: outbound.Retries(o.MaxRetries), timeout: o.Timeout, debug: o.Debug,
		packed: o.Provider == "openai" && o.BaseURL == "",
		cutter: newCutter(),
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

// Name is "provider:model", and "@512" if that many dimensions were asked for.
func (m *Model) Name() string { return m.name }

// String is the name.
func (m *Model) String() string { return m.name }

// Dimensions is the length of the vectors, 0 while nobody knows it.
func (m *Model) Dimensions() int {
	if m.asked > 0 {
		return m.asked
	}
	if n := m.learned.Load(); n > 0 {
		return int(n)
	}
	return m.known.dimensions
}

// MinSimilarity is the least similarity of two texts that have something to do
// with each other.
func (m *Model) MinSimilarity() float64 { return m.least }

// EmbedQuery makes the vector of a question, with the words before it that the
// model wants for one.
func (m *Model) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	r := m.embed(ctx, m.known.query, []string{text})[0]
	return r.Vector, r.Err
}

// Embed makes a vector of each text, or an error.
func (m *Model) Embed(ctx context.Context, texts []string) []embed.Result {
	return m.embed(ctx, m.known.document, texts)
}
