package llm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Constructor makes the model of one provider from the name behind the colon;
// "" asks for the provider's own default, if it has one.
type Constructor func(model string) (Model, error)

// RegistryOptions configure a Registry.
type RegistryOptions struct {
	// Providers maps the name before the colon to its constructor.
	Providers map[string]Constructor
	// CacheSize bounds the models that are kept; 64 when 0.
	CacheSize int
}

// Registry resolves names to models. It is safe for concurrent use.
type Registry struct {
	providers map[string]Constructor
	limit     int

	mu     sync.Mutex
	models map[string]Model
}

// NewRegistry makes a registry of the providers.
func NewRegistry(o RegistryOptions) *Registry {
	if o.CacheSize <= 0 {
		o.CacheSize = 64
	}
	return &Registry{providers: maps.Clone(o.Providers), limit: o.CacheSize, models: map[string]Model{}}
}

// Providers are the names of the providers, sorted.
func (r *Registry) Providers() []string { return slices.Sorted(maps.Keys(r.providers)) }

// withoutClient are well-known providers that p8 cannot talk to yet.
var withoutClient = map[string]string{
	"anthropic": "Anthropic", "claude": "Anthropic",
	"google-gla": "Gemini", "google-vertex": "Gemini", "google": "Gemini", "gemini": "Gemini",
}

// openAIPrefixes are the names that mean OpenAI when no provider is given.
var openAIPrefixes = [...]string{"gpt-", "o1", "o3", "o4", "chatgpt-"}

// Resolve finds the model named "provider:model". A bare gpt-…, o1…, o3…, o4…
// or chatgpt-… is OpenAI's, and a provider's bare name is its default model. A
// name that means nothing is an *Error of kind NotFound with near names, a
// provider without a client one of kind NoModel.
func (r *Registry) Resolve(name string) (Model, error) {
	name = strings.TrimSpace(name)
	provider, model, found := strings.Cut(name, ":")
	provider = strings.ToLower(provider)
	if !found {
		switch {
		case IsBare(name):
			provider, model = "openai", name
		case r.providers[provider] != nil:
			model = ""
		case vendorWithoutClient(provider) == "":
			return nil, notFound(name, `give the provider too, as in "openai:gpt-4.1"`)
		}
	}
	construct := r.providers[provider]
	if construct == nil {
		if vendor := vendorWithoutClient(provider); vendor != "" {
			return nil, &Error{Kind: NoModel, Model: printable(name), Hint: noClientHint(vendor)}
		}
		return nil, notFound(name, r.providerHint(provider))
	}
	if name != printable(name) {
		return nil, notFound(name, "a model name has at most 128 printable characters")
	}
	return r.cached(provider+":"+model, model, construct)
}

// cached is the model under this key, made when it is asked for the first time.
func (r *Registry) cached(key, model string, construct Constructor) (Model, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, ok := r.models[key]; ok {
		return m, nil
	}
	m, err := construct(model)
	if err != nil {
		return nil, err
	}
	if len(r.models) >= r.limit {
		// Names come from requests, so the cache must not grow with them; models
		// are cheap to make again, so any one may go.
		for k := range r.models {
			delete(r.models, k)
			break
		}
	}
	r.models[key] = m
	return m, nil
}

// vendorWithoutClient is the vendor of a provider, or of a bare model name such
// as claude-sonnet-4, that p8 has no client for; "" for every other.
func vendorWithoutClient(name string) string {
	if vendor := withoutClient[name]; vendor != "" {
		return vendor
	}
	family, _, _ := strings.Cut(name, "-")
	return withoutClient[family]
}

// IsBare reports whether a name is one of OpenAI's models without its provider,
// such as gpt-4.1; it means openai:gpt-4.1.
func IsBare(name string) bool {
	for _, p := range openAIPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func noClientHint(vendor string) string {
	return "this build has no client for " + vendor + " yet; choose a model of OpenAI, Ollama or another OpenAI-compatible provider, as in P8_DEFAULT_MODEL=openai:gpt-4.1"
}

func notFound(name, hint string) error {
	return &Error{Kind: NotFound, Model: printable(name), Hint: hint}
}

func (r *Registry) providerHint(provider string) string {
	known := r.Providers()
	best, distance := "", 3
	for _, p := range known {
		if d := editDistance(provider, p); d < distance {
			best, distance = p, d
		}
	}
	hint := fmt.Sprintf("the provider %q is unknown", printable(provider))
	if best != "" {
		hint += fmt.Sprintf("; did you mean %q?", best)
	}
	return hint + " (known: " + strings.Join(known, ", ") + ")"
}

// printable is the name as it may stand in an error: short, without control
// characters.
func printable(name string) string {
	const limit = 128
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if len(name) > limit {
		name = strings.ToValidUTF8(name[:limit], "") + "…"
	}
	return name
}

// editDistance is Levenshtein's; names longer than 32 bytes are never near.
func editDistance(a, b string) int {
	if len(a) > 32 || len(b) > 32 {
		return 32
	}
	var row [33]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
