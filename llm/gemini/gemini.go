// Package gemini is the client of Google's Gemini API (generativelanguage v1beta,
// streamGenerateContent). It uses only net/http.
//
//	model, err := gemini.New(gemini.Options{Model: "gemini-2.5-flash", APIKey: key})
//
// or, for a registry, with the environment's key and base URL:
//
//	llm.NewRegistry(llm.RegistryOptions{Providers: gemini.Providers(llm.ProvidersOptions{Getenv: os.Getenv})})
//
// The package brings conversations into the API's form: roles alternate, each step's
// results are in the order of its calls, later system messages become text, schemas
// keep only supported keywords, and signatures of reasoning return to their parts. A
// setting that a model does not support is left out, with a warning. The package knows
// it from the model's name, or learns it from the provider's refusal.
//
// An answer ends with the reason to stop; there is no [DONE]. A stream that ends without
// a reason was cut off.
package gemini

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/internal/schema/fit"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// defaultBaseURL is Google's server.
const defaultBaseURL = "https://generativelanguage.googleapis.com"

// provider is the part of every model's name before the colon, and the name of this
// protocol in [llm.Reasoning].
const provider = "gemini"

// Options configure a Model. Model is required; the rest has defaults.
type Options struct {
	// Model is the model's name, with or without models/ before it; tuned models
	// are tunedModels/….
	Model string
	// BaseURL is https://generativelanguage.googleapis.com when empty; http or https. A URL that
	// ends in a version, such as /v1beta, is used unchanged; /v1beta is added to any other.
	BaseURL string
	// APIKey is sent in a header, never in the URL. It may be empty if BaseURL is set.
	APIKey string `json:"-"`
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
func (o Options) String() string { return "gemini.Options{" + o.Model + "}" }

// GoString does not print the key.
func (o Options) GoString() string { return o.String() }

// Model is one of Google's models. It is safe for concurrent use.
type Model struct {
	name     string // gemini:model
	endpoint string
	family   family
	// schemas fits schemas for the JSON Schema fields, openAPI for the OpenAPI fields,
	// which are used if a model refuses the former.
	schemas, openAPI *fit.Fitter
	client           *wire.Client
	// learned are the options that the provider has refused for this model.
	learned atomic.Uint32
}

// New makes a model. The error is an *llm.Error with a hint, of kind NotFound for an
// invalid name and else NoModel.
func New(o Options) (*Model, error) {
	model := strings.TrimPrefix(o.Model, "models/")
	name := provider + ":" + model
	bad := func(kind llm.ErrorKind, hint string) (*Model, error) {
		return nil, &llm.Error{Kind: kind, Model: name, Hint: hint}
	}
	if model == "" {
		return bad(llm.NoModel, `name the model too, as in "gemini:gemini-2.5-flash"`)
	}
	if !isName(model) {
		return bad(llm.NotFound, "the name of a model has letters, digits, dots, dashes and underscores, as in gemini-2.5-flash or tunedModels/mine")
	}
	own := o.BaseURL != ""
	if !own {
		o.BaseURL = defaultBaseURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return bad(llm.NoModel, "the base URL of gemini is not an http or https URL such as "+defaultBaseURL+wire.Either("; it is in ", baseURLVars))
	}
	key := strings.TrimSpace(o.APIKey)
	if key == "" && !own {
		return bad(llm.NoModel, name+" needs an API key"+wire.Either("; set ", keyVars))
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return bad(llm.NoModel, "the API key of gemini holds characters that no key has"+wire.Either("; look at ", keyVars))
	}
	m := &Model{name: name, endpoint: u.Scheme + "://" + u.Host, family: familyOf(model), schemas: fit.NewFitter(fit.Gemini()), openAPI: fit.NewFitter(fit.GeminiOpenAPI())}
	m.client = wire.NewClient(wire.Options{
		Name: name, Provider: provider, URL: address(u, model),
		Authorize: func(h http.Header) {
			if key != "" {
				h.Set("X-Goog-Api-Key", key)
			}
		},
		NewDecoder: func() wire.Decoder { return new(reader) },
		HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, IdleTimeout: o.IdleTimeout, SilenceVar: o.SilenceVar, Debug: o.Debug,
		KeyVars: keyVars, BaseURLVars: baseURLVars,
	})
	return m, nil
}

// isName reports whether a name needs no escaping in a URL.
func isName(model string) bool {
	model = strings.TrimPrefix(model, "tunedModels/")
	return model != "" && len(model) <= 128 && model[0] != '.' && !strings.ContainsFunc(model, func(r rune) bool {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return false
		}
		return true
	})
}

// address returns the URL of requests for the model.
func address(base *url.URL, model string) string {
	u := *base
	if last := path.Base(u.Path); len(last) < 2 || last[0] != 'v' || last[1] < '1' || last[1] > '9' {
		u = *u.JoinPath("v1beta")
	}
	if !strings.HasPrefix(model, "tunedModels/") {
		model = "models/" + model
	}
	u = *u.JoinPath(model + ":streamGenerateContent")
	query := u.Query()
	query.Set("alt", "sse")
	u.RawQuery = query.Encode()
	return u.String()
}

// Name returns "gemini:model".
func (m *Model) Name() string { return m.name }

// String returns the name.
func (m *Model) String() string { return m.name }

// Endpoint returns the server of the model.
func (m *Model) Endpoint() string { return m.endpoint }

// Capabilities returns the model's. Only models that accept a schema for the answer
// together with tools have native output.
func (m *Model) Capabilities() llm.Capabilities {
	return llm.Capabilities{NativeOutput: m.family.schemaWithTools(), Images: true, Documents: !m.family.gemma, Takes: takes}
}

// Stream sends the request and yields chunks as they arrive, then one ChunkUsage if
// the provider reported it, then one ChunkFinish; or an error: ctx.Err() if ctx was
// cancelled, else an *llm.Error.
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		a := attempt{model: m, req: req, without: option(m.learned.Load())}
		for _, text := range m.warnings(&req.Settings) {
			if !yield(llm.Chunk{Kind: llm.ChunkWarning, Name: codeDropped, Text: text}, nil) {
				return
			}
		}
		m.client.Stream(ctx, wire.Request{Body: m.body(req, a.without), Once: req.Once, Mend: a.mend, Mended: a.mended}, yield)
	}
}
