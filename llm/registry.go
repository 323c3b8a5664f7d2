package llm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/llm/internal/names"
)

// Constructor makes a model of one provider from the name after the colon; "" is the
// provider's default model, if it has one.
type Constructor func(model string) (Model, error)

// RegistryOptions configure a Registry.
type RegistryOptions struct {
	// Providers maps the name before the colon to its constructor.
	Providers map[string]Constructor
	// Local names the providers that answer without a network; the endpoints of
	// all others have a circuit breaker each.
	Local []string
	// CacheSize bounds the models that are kept; 64 when 0.
	CacheSize int
	// Cost returns the price of a request in US dollars, for telemetry; it may be nil.
	Cost func(model string, u Usage) float64
	// Now is the clock of the breakers; time.Now when nil.
	Now func() time.Time
}

// Registry resolves names to models. Models of one endpoint share a circuit breaker:
// while the endpoint is down, they fail at once. It is safe for concurrent use.
type Registry struct {
	providers map[string]Constructor
	local     []string
	limit     int
	cost      func(model string, u Usage) float64
	now       func() time.Time

	mu       sync.Mutex
	models   map[string]Model
	breakers map[string]*breaker
}

// NewRegistry makes a registry of the providers.
func NewRegistry(o RegistryOptions) *Registry {
	if o.CacheSize <= 0 {
		o.CacheSize = 64
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Registry{
		providers: maps.Clone(o.Providers), local: slices.Clone(o.Local), limit: o.CacheSize, cost: o.Cost, now: o.Now,
		models: map[string]Model{}, breakers: map[string]*breaker{},
	}
}

// providerNames returns the names of the providers, sorted.
func (r *Registry) providerNames() []string { return slices.Sorted(maps.Keys(r.providers)) }

// Resolve finds the model named "provider:model". A bare model name (see [IsBare])
// needs no provider, and a provider's name alone is its default model. The error of
// an unknown name is an *Error of kind NotFound with similar names, that of a provider
// without a client one of kind NoModel.
func (r *Registry) Resolve(name string) (Model, error) {
	name = strings.TrimSpace(name)
	provider, model, found := strings.Cut(name, ":")
	provider = strings.ToLower(provider)
	if bare := names.BareProvider(name); !found && bare != "" {
		provider, model, found = bare, name, true
	}
	construct := r.providers[provider]
	if construct == nil {
		provider = names.Provider(provider)
		construct = r.providers[provider]
	}
	switch {
	case construct == nil && provider == withoutClient:
		return nil, &Error{Kind: NoModel, Model: printable(name), Hint: "this build has no client for Vertex AI; the same models answer under the name gemini:…, with a key in GEMINI_API_KEY"}
	case construct == nil && !found:
		return nil, notFound(name, `give the provider too, as in "openai:gpt-4.1"`)
	case construct == nil:
		return nil, notFound(name, r.providerHint(provider))
	case name != printable(name):
		return nil, notFound(name, "a model name has at most 128 printable characters")
	case !found:
		model = ""
	}
	return r.cached(provider, model, construct)
}

// cached returns the model with this name, and makes it on first use.
func (r *Registry) cached(provider, model string, construct Constructor) (Model, error) {
	key := provider + ":" + model
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, ok := r.models[key]; ok {
		return m, nil
	}
	m, err := construct(model)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(r.local, provider) {
		m = r.guard(m, provider)
	}
	m = Observe(m, r.cost)
	makeRoom(r.models, r.limit)
	r.models[key] = m
	return m, nil
}

// guard puts a model behind the breaker of its endpoint.
func (r *Registry) guard(m Model, provider string) Model {
	endpoint := provider
	if e, ok := m.(interface{ Endpoint() string }); ok {
		endpoint = e.Endpoint()
	}
	b := r.breakers[endpoint]
	if b == nil {
		b = &breaker{now: r.now}
		makeRoom(r.breakers, r.limit)
		r.breakers[endpoint] = b
	}
	return &guarded{m, b}
}

// makeRoom removes any one entry from a full map. Names come from requests, so the map
// must be bounded; an entry is cheap to make again.
func makeRoom[V any](kept map[string]V, limit int) {
	for k := range kept {
		if len(kept) < limit {
			return
		}
		delete(kept, k)
	}
}

func notFound(name, hint string) error {
	return &Error{Kind: NotFound, Model: printable(name), Hint: hint}
}

func (r *Registry) providerHint(provider string) string {
	known := r.providerNames()
	hint := fmt.Sprintf("the provider %q is unknown", printable(provider))
	if best := near.Word(provider, known); best != "" {
		hint += fmt.Sprintf("; did you mean %q?", best)
	}
	return hint + " (known: " + strings.Join(known, ", ") + ")"
}

// printable shortens a name for errors and removes its control characters.
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
