// Package models makes an embedding model from its name.
//
//	model, err := models.New(models.Options{Model: "openai:text-embedding-3-small", Getenv: os.Getenv})
//
// Names are "offline" (lexical, without a server), "none" (no vectors), and
// "provider:model" with a known provider, or with any provider if a base URL is given. The
// key and base URL in the options take precedence over those of the provider in the
// environment, which the chat models use too.
package models

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/offline"
	"github.com/p8-org/p8/internal/embed/openai"
)

// Options configure a model.
type Options struct {
	// Model is offline, none, or provider:model; "" is offline.
	Model string
	// Getenv returns base URLs and keys; nil returns none.
	Getenv func(string) string
	// BaseURL and APIKey are those of the endpoint; "" takes the provider's.
	BaseURL string
	APIKey  string `json:"-"`
	// Dimensions asks for vectors of this length; 0 is the model's own.
	Dimensions int
	// MinSimilarity replaces the model's own; 0 keeps it.
	MinSimilarity float64
	// HTTPClient, MaxRetries, Timeout and Debug are as in openai.Options.
	HTTPClient *http.Client
	MaxRetries int
	Timeout    time.Duration
	Debug      func(payload []byte)
}

// String leaves the key out.
func (o Options) String() string { return "models.Options{" + o.Model + "}" }

// GoString leaves the key out.
func (o Options) GoString() string { return o.String() }

// provider is a server of embedding models, with the names of its settings.
type provider struct {
	name        string
	baseURL     string
	baseURLVars []string
	keyVars     []string
	// needsKey: the server refuses requests without a key.
	needsKey bool
}

var providers = [...]provider{
	{name: "openai", baseURL: "https://api.openai.com/v1", baseURLVars: []string{"P8_OPENAI_BASE_URL", "OPENAI_BASE_URL"}, keyVars: []string{"P8_OPENAI_API_KEY", "OPENAI_API_KEY", "LLM__OPENAI_API_KEY"}, needsKey: true},
	{name: "ollama", baseURL: "http://127.0.0.1:11434/v1", baseURLVars: []string{"OLLAMA_BASE_URL"}, keyVars: []string{"OLLAMA_API_KEY"}},
	{name: "vllm", baseURLVars: []string{"VLLM_BASE_URL"}, keyVars: []string{"VLLM_API_KEY"}},
	{name: "openrouter", baseURL: "https://openrouter.ai/api/v1", baseURLVars: []string{"OPENROUTER_BASE_URL"}, keyVars: []string{"OPENROUTER_API_KEY"}, needsKey: true},
}

// New makes a model; for "none" it returns nil without an error. For an invalid name or
// setting it returns an *embed.Error of kind NoModel, which says what to do.
func New(o Options) (embed.Model, error) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	name, model, found := strings.Cut(strings.TrimSpace(o.Model), ":")
	name = strings.ToLower(name)
	switch {
	case name == "none" && !found:
		return nil, nil
	case name == "" && !found, name == "offline":
		return lexical(o, model)
	case !found && strings.HasPrefix(name, "text-embedding-"):
		name, model = "openai", name // an OpenAI model without its provider
	}
	if printable := strings.IndexFunc(o.Model, func(r rune) bool { return !unicode.IsPrint(r) }) < 0; !printable || len(o.Model) > 128 || name == "" {
		return nil, refuse(o.Model, "a name has at most 128 printable characters: "+forms)
	}
	p, known := lookup(name)
	base := cmp.Or(o.BaseURL, first(o.Getenv, p.baseURLVars), p.host(o.Getenv), p.baseURL)
	switch {
	case !found && !known && model == "":
		return nil, refuse(o.Model, forms)
	case !known && base == "":
		return nil, refuse(o.Model, fmt.Sprintf("the provider %q is unknown: %s; for a server of your own set P8_EMBEDDING_BASE_URL as well", name, forms))
	case base == "":
		return nil, refuse(o.Model, "set P8_EMBEDDING_BASE_URL or "+p.baseURLVars[0])
	}
	key := o.APIKey
	if key == "" && o.BaseURL == "" { // a provider's key is only sent to the provider
		key = first(o.Getenv, p.keyVars)
	}
	if key == "" && p.needsKey && base == p.baseURL {
		return nil, refuse(o.Model, "it needs an API key: set P8_EMBEDDING_API_KEY or "+p.keyVars[0])
	}
	if name == "openai" && base == p.baseURL {
		base = "" // the client then uses what only OpenAI has
	}
	m, err := openai.New(openai.Options{
		Provider: name, Model: model, BaseURL: base, APIKey: key,
		Dimensions: o.Dimensions, MinSimilarity: o.MinSimilarity,
		HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, Timeout: o.Timeout, Debug: o.Debug,
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

const forms = "give offline, none, or provider:model, such as openai:text-embedding-3-small or ollama:nomic-embed-text"

func refuse(model, hint string) error {
	if len(model) > 128 {
		model = model[:128]
	}
	return &embed.Error{Kind: embed.NoModel, Model: strconv.Quote(model), Hint: hint}
}

// lexical returns the offline model. Its name may have the length of its vectors:
// offline:ngram-384.
func lexical(o Options, model string) (embed.Model, error) {
	if model != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(model, "ngram-"))
		if err != nil || o.Dimensions != 0 && o.Dimensions != n {
			return nil, refuse(o.Model, "the offline model is offline, or offline:ngram-N for vectors of N numbers")
		}
		o.Dimensions = n
	}
	m, err := offline.New(offline.Options{Dimensions: o.Dimensions})
	if err != nil {
		return nil, err
	}
	if o.MinSimilarity > 0 {
		return threshold{m, o.MinSimilarity}, nil
	}
	return m, nil
}

// threshold is a model with another MinSimilarity.
type threshold struct {
	embed.Model
	least float64
}

// MinSimilarity implements embed.Model.
func (t threshold) MinSimilarity() float64 { return t.least }

func lookup(name string) (provider, bool) {
	for _, p := range providers {
		if p.name == name {
			return p, true
		}
	}
	return provider{name: name}, false
}

// host returns the address in Ollama's variable.
func (p provider) host(getenv func(string) string) string {
	host := strings.TrimSpace(getenv("OLLAMA_HOST"))
	if p.name != "ollama" || host == "" {
		return ""
	}
	scheme, rest, found := strings.Cut(host, "://")
	if !found {
		scheme, rest = "http", host
	}
	address, _, _ := strings.Cut(rest, "/")
	name, port := address, ""
	if i := strings.LastIndexByte(address, ':'); i >= 0 && !strings.HasSuffix(address, "]") {
		name, port = address[:i], address[i:]
	}
	if name == "" || name == "0.0.0.0" || name == "[::]" {
		name = "127.0.0.1" // a listening address is not one to connect to
	}
	if port == "" && !found {
		port = ":11434"
	}
	return scheme + "://" + name + port + "/v1"
}

func first(getenv func(string) string, names []string) string {
	for _, name := range names {
		if v := strings.TrimSpace(getenv(name)); v != "" {
			return v
		}
	}
	return ""
}
