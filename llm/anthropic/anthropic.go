// Package anthropic talks to Anthropic's Messages API: Claude, and every proxy
// that speaks the same wire. It is net/http and nothing else.
//
//	model, err := anthropic.New(anthropic.Options{Model: "claude-sonnet-5-5", APIKey: key})
//
// or, for a registry, with the environment's key:
//
//	llm.NewRegistry(llm.RegistryOptions{Providers: anthropic.Providers(llm.ProvidersOptions{Getenv: os.Getenv})})
//
// The wire is stricter than others about the form of a conversation, so it is
// put into that form: the system messages at its head apart, turns that
// alternate, the results of parallel calls in one message and in the order of the
// calls. Nothing is lost on the way. Blocks of thought go back to where they stood
// in the answer, with their signatures, but only to the model that wrote them.
//
// Claudes differ in what they take: whether and how they can be told to think,
// whether they have a temperature. What is known from the name is in the table of
// dialects; what the API refuses is learned, left out with a warning and asked
// again.
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// Options configure a Model. Model and a key are required; the rest has defaults.
type Options struct {
	// Model is the model's name at the provider.
	Model string
	// BaseURL is Anthropic's when empty; http or https, with or without the /v1.
	BaseURL string
	// APIKey is sent as x-api-key, AuthToken as a bearer token; the key wins. Both
	// may be empty where the base URL is one's own.
	APIKey    string `json:"-"`
	AuthToken string `json:"-"`
	// HTTPClient is one with its own connections when nil.
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

// String leaves the key out.
func (o Options) String() string { return "anthropic.Options{" + o.Model + "}" }

// GoString leaves the key out.
func (o Options) GoString() string { return o.String() }

const (
	provider       = "anthropic"
	defaultBaseURL = "https://api.anthropic.com"
	// apiVersion is the last one in which a model may have a temperature.
	apiVersion = "2023-06-01"
)

// Model is one model. It is safe for concurrent use.
type Model struct {
	name     string // anthropic:model
	model    string
	endpoint string
	client   *wire.Client
	// dialect is what the model takes: by its name, and by what it has refused.
	dialect atomic.Pointer[dialect]
}

// New makes a model. What is missing or wrong is an *llm.Error of kind NoModel
// that says how to mend it.
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
	m := &Model{name: name, model: o.Model, endpoint: u.Scheme + "://" + u.Host}
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

// address is where requests go; some write the /v1 into the base URL.
func address(base *url.URL) string {
	if strings.HasSuffix(strings.TrimRight(base.Path, "/"), "/v1") {
		return base.JoinPath("messages").String()
	}
	return base.JoinPath("v1/messages").String()
}

// Name is "anthropic:model".
func (m *Model) Name() string { return m.name }

// String is the name.
func (m *Model) String() string { return m.name }

// Endpoint is the server that the model is asked at.
func (m *Model) Endpoint() string { return m.endpoint }

// Capabilities are those of every Claude since the third. A JSON Schema binds
// the answer natively only where it keeps to a small part of JSON Schema, so
// structured answers come through a tool.
func (m *Model) Capabilities() llm.Capabilities {
	return llm.Capabilities{Images: true, Documents: true}
}

// Stream sends the request and yields what comes back: warnings about settings
// that the model does not take, chunks as they arrive, one ChunkUsage, one
// ChunkFinish; or an error, an *llm.Error unless ctx was cancelled, which is
// ctx.Err().
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		a := &attempt{model: m, req: req, dialect: *m.dialect.Load()}
		p := a.plan()
		for _, text := range a.untold(p.warnings) {
			if !yield(llm.Chunk{Kind: llm.ChunkWarning, Name: settingDropped, Text: text}, nil) {
				return
			}
		}
		m.client.Stream(ctx, wire.Request{Body: appendRequest(nil, m.model, req, &p), Once: req.Once, Mend: a.mend, Mended: a.mended}, yield)
	}
}
