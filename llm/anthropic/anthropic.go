// Package anthropic is the client of Anthropic's Messages API, for Claude and every
// proxy that speaks the same protocol. It uses only net/http.
//
//	model, err := anthropic.New(anthropic.Options{Model: "claude-sonnet-5-5", APIKey: key})
//
// or, for a registry, with the environment's key:
//
//	llm.NewRegistry(llm.RegistryOptions{Providers: anthropic.Providers(llm.ProvidersOptions{Getenv: os.Getenv})})
//
// The API is strict about the form of a conversation, so the package brings messages
// into that form without losing any: the first system messages become the system
// prompt, turns alternate, the results of parallel calls are in one message and in the
// order of the calls. Blocks of reasoning return to their place in the answer, with
// their signatures, but only to the model that wrote them.
//
// Models differ in their settings: whether and how they reason, whether they have a
// temperature. The table of dialects holds what is known from the name. If the API
// refuses a setting, the package leaves it out from then on, with a warning, and
// repeats the request.
package anthropic

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

// Options configure a Model. Model and a key are required; the rest has defaults.
type Options struct {
	// Model is the model's name at the provider.
	Model string
	// BaseURL is Anthropic's when empty; http or https, with or without the /v1.
	BaseURL string
	// APIKey is sent as x-api-key, AuthToken as a bearer token; the key takes
	// precedence. Both may be empty if BaseURL is set.
	APIKey    string `json:"-"`
	AuthToken string `json:"-"`
	// HTTPClient is a new client when nil.
	HTTPClient *http.Client
	// MaxRetries bounds the tries after the first; 2 when 0, none when negative.
	MaxRetries int
	// IdleTimeout is the longest silence of the provider; 5 minutes when 0.
	IdleTimeout time.Duration
	// SilenceVar is the setting of IdleTimeout, for the error that names it.
	SilenceVar string
	// Debug gets the exact JSON body of each request.
	Debug func(payload []byte)
}

// String does not print the key.
func (o Options) String() string { return "anthropic.Options{" + o.Model + "}" }

// GoString does not print the key.
func (o Options) GoString() string { return o.String() }

const (
	provider       = "anthropic"
	defaultBaseURL = "https://api.anthropic.com"
	// apiVersion is the last version that accepts a temperature.
	apiVersion = "2023-06-01"
)

// takes are the API's settings, of those that not every model supports.
const takes = llm.TakesSerialCalls

// Model is one model. It is safe for concurrent use.
type Model struct {
	name     string // anthropic:model
	model    string
	endpoint string
	schemas  *fit.Fitter
	client   *wire.Client
	// dialect holds the model's settings, known from its name and its refusals.
	dialect atomic.Pointer[dialect]
}

// New makes a model. The error is an *llm.Error of kind NoModel with a hint.
func New(o Options) (*Model, error) {
	name := provider + ":" + o.Model
	bad := func(hint string) (*Model, error) {
		return nil, &llm.Error{Kind: llm.NoModel, Model: name, Hint: hint}
	}
	if o.Model == "" {
		return bad(`name the model too, as in "anthropic:claude-sonnet-5-5"`)
	}
	own := o.BaseURL != ""
	if !own {
		o.BaseURL = defaultBaseURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return bad("the base URL of anthropic is not an http or https URL such as " + defaultBaseURL)
	}
	key, token := strings.TrimSpace(o.APIKey), strings.TrimSpace(o.AuthToken)
	if key == "" && token == "" && !own {
		return bad(name + " needs an API key" + wire.Either("; set ", keyVars()))
	}
	if strings.ContainsFunc(key+token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return bad("the API key of anthropic holds characters that no key has" + wire.Either("; look at ", keyVars()))
	}
	m := &Model{name: name, model: o.Model, endpoint: u.Scheme + "://" + u.Host, schemas: fit.NewFitter(fit.Anthropic())}
	d := dialectOf(o.Model)
	m.dialect.Store(&d)
	m.client = wire.NewClient(wire.Options{
		Name: name, Provider: provider, URL: address(u),
		Authorize: func(h http.Header) {
			h.Set("Anthropic-Version", apiVersion)
			switch {
			case key != "":
				h.Set("X-Api-Key", key)
			case token != "":
				h.Set("Authorization", "Bearer "+token)
			}
		},
		NewDecoder: func() wire.Decoder { return &reader{model: o.Model} },
		HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, IdleTimeout: o.IdleTimeout, SilenceVar: o.SilenceVar, Debug: o.Debug,
		KeyVars: keyVars(), BaseURLVars: baseURLVars(),
		Hints: map[llm.ErrorKind]string{
			llm.BadResponse: "check the base URL, such as " + defaultBaseURL + wire.Either("; it is in ", baseURLVars()),
		},
	})
	return m, nil
}

// address returns the URL of requests; the base URL may end in /v1.
func address(base *url.URL) string {
	if strings.HasSuffix(strings.TrimRight(base.Path, "/"), "/v1") {
		return base.JoinPath("messages").String()
	}
	return base.JoinPath("v1/messages").String()
}

// Name returns "anthropic:model".
func (m *Model) Name() string { return m.name }

// String returns the name.
func (m *Model) String() string { return m.name }

// Endpoint returns the server of the model.
func (m *Model) Endpoint() string { return m.endpoint }

// Capabilities returns those of every Claude since the third. Native structured
// output supports only a small part of JSON Schema, so structured answers use a tool.
func (m *Model) Capabilities() llm.Capabilities {
	return llm.Capabilities{Images: true, Documents: true, Takes: takes}
}

// Stream sends the request and yields warnings about settings that were left out,
// chunks as they arrive, one ChunkUsage, one ChunkFinish; or an error: ctx.Err() if ctx
// was cancelled, else an *llm.Error.
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		a := &attempt{model: m, req: req, dialect: *m.dialect.Load()}
		p := a.plan()
		for _, text := range a.unsent(p.warnings) {
			if !yield(llm.Chunk{Kind: llm.ChunkWarning, Name: settingDropped, Text: text}, nil) {
				return
			}
		}
		m.client.Stream(ctx, wire.Request{Body: m.appendRequest(nil, req, &p), Once: req.Once, Mend: a.mend, Mended: a.mended}, yield)
	}
}
