// Package openai is the client of OpenAI's chat-completions protocol, which OpenAI,
// Azure, Ollama, vLLM, OpenRouter, Groq, DeepSeek and many other servers speak. It
// uses the Responses API for models that have no other; the provider
// "openai-responses" uses it for any of OpenAI's models, and keeps their reasoning
// through the steps of a run.
//
//	model, err := openai.New(openai.Options{Model: "gpt-4.1", APIKey: key})
//
// or, for a registry, every provider of the table with the environment's keys:
//
//	llm.NewRegistry(llm.RegistryOptions{Providers: openai.Providers(llm.ProvidersOptions{Getenv: os.Getenv})})
//
// It always streams. Many servers deviate from the protocol, so the reader accepts
// tool calls without id, index or type, comments, CRLF, usage anywhere, no [DONE],
// errors within the stream, and plain JSON instead of a stream. A stream that ends
// without a reason to finish is an error, because its answer is incomplete.
//
// A setting that a model does not support is left out, with a warning. The package
// knows it from the model's name, or learns it from the provider's refusal.
package openai

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/internal/schema/fit"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// Options configure a Model. Model is required; the rest has defaults.
type Options struct {
	// Provider is a name of the table (openai, openai-responses, azure, ollama,
	// vllm, openrouter, …); "openai" when empty. With a BaseURL it may be any name.
	Provider string
	// Model is the model's name at the provider.
	Model string
	// BaseURL is the provider's when empty; http or https, up to the /v1.
	BaseURL string
	// APIKey is sent as a bearer token. It may be empty if the provider needs none or
	// BaseURL is set.
	APIKey string `json:"-"`
	// APIVersion is a dated version of Azure's API; its v1 API when empty.
	APIVersion string
	// HTTPClient is a new client when nil.
	HTTPClient *http.Client
	// MaxRetries bounds the tries after the first; 2 when 0, none when negative.
	MaxRetries int
	// IdleTimeout is the longest silence of the provider; 5 minutes when 0, because a
	// local server may load the model first, and a reasoning model may be silent while it
	// thinks.
	IdleTimeout time.Duration
	// SilenceVar is the setting of IdleTimeout, for the error that names it.
	SilenceVar string
	// Debug gets the exact JSON body of each request.
	Debug func(payload []byte)
}

// String does not print the key.
func (o Options) String() string { return "openai.Options{" + o.Provider + ":" + o.Model + "}" }

// GoString does not print the key.
func (o Options) GoString() string { return o.String() }

// Model is one model of one provider. It is safe for concurrent use.
type Model struct {
	name     string // provider:model
	model    string
	endpoint string
	dialect  dialect
	schemas  *fit.Fitter
	client   *wire.Client
	// refused are the options that the provider refused; they are not sent again.
	refused atomic.Uint32
}

// New makes a model. The error is an *llm.Error of kind NoModel with a hint.
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
		return bad("the provider " + o.Provider + " has no base URL of its own" + wire.Either("; set ", p.BaseURLVars))
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return bad("the base URL of " + o.Provider + " is not an http or https URL such as http://localhost:1234/v1")
	}
	key := strings.TrimSpace(o.APIKey)
	if key == "" && !own && !p.KeyOptional {
		return bad(name + " needs an API key" + wire.Either("; set ", p.KeyVars))
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return bad("the API key of " + o.Provider + " holds characters that no key has" + wire.Either("; look at ", p.KeyVars))
	}
	m := &Model{name: name, model: o.Model, endpoint: u.Scheme + "://" + u.Host, dialect: dialectOf(p, o.Model)}
	m.schemas = fit.NewFitter(fit.Compatible())
	if m.dialect.ownSchemas {
		m.schemas = fit.NewFitter(fit.OpenAI())
	}
	m.client = wire.NewClient(wire.Options{
		Name: name, Provider: o.Provider, URL: address(&o, u, m.dialect.responses), Authorize: authorize(o.Provider, key),
		NewDecoder: m.newDecoder,
		HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, IdleTimeout: o.IdleTimeout, SilenceVar: o.SilenceVar, Debug: o.Debug,
		KeyVars: p.KeyVars, BaseURLVars: p.BaseURLVars, Hints: p.hints(o.Model),
	})
	return m, nil
}

// hints returns the hints of errors that differ from the common ones.
func (p provider) hints(model string) map[llm.ErrorKind]string {
	hints := map[llm.ErrorKind]string{
		llm.BadResponse: "check the base URL, which usually ends in /v1" + wire.Either("; it is in ", p.BaseURLVars),
	}
	if p.Name == "ollama" {
		hints[llm.Unavailable] = "check that Ollama runs (ollama serve) and OLLAMA_HOST"
		hints[llm.NotFound] = "get it with: ollama pull " + model
	}
	return hints
}

// Name returns "provider:model".
func (m *Model) Name() string { return m.name }

// String returns the name.
func (m *Model) String() string { return m.name }

// Capabilities returns those of this model at its provider.
func (m *Model) Capabilities() llm.Capabilities {
	return llm.Capabilities{NativeOutput: m.dialect.nativeOutput, Images: m.dialect.images && m.without()&optImages == 0, Documents: m.dialect.files, Takes: m.dialect.takes}
}

// Endpoint returns the server of the model.
func (m *Model) Endpoint() string { return m.endpoint }

func (m *Model) newDecoder() wire.Decoder {
	if m.dialect.responses {
		return new(responsesReader)
	}
	return &reader{model: m}
}

// body returns the body of a request, without the given options.
func (m *Model) body(req *llm.Request, without option) []byte {
	if m.dialect.responses {
		return m.appendResponses(nil, req, without)
	}
	return m.appendRequest(nil, req, without)
}

// Stream sends the request and yields chunks as they arrive, then one ChunkUsage if
// the provider reported it, then one ChunkFinish; or an error: ctx.Err() if ctx was
// cancelled, else an *llm.Error.
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		a := attempt{model: m, req: req, without: m.without()}
		if m.warn(&req.Settings, a.without, yield) {
			m.client.Stream(ctx, wire.Request{Body: m.body(req, a.without), Once: req.Once, Mend: a.mend, Mended: a.mended}, yield)
		}
	}
}
