// Package builtin has p8's own tools and resources. [Tools] returns the tools whose
// parts the options have: without a store, for example, there is no save_moments.
// [NewResources] returns the resources that can be read by URI: the caller's profile,
// sessions, files and moments, the agents, the tables.
//
//	o := builtin.Options{Engine: engine, Store: s, Documents: catalog}
//	tools, err := builtin.Tools(o)
//	registry, err := tool.NewRegistry(tools...)
//	box := &tool.Box{Local: registry, Resources: builtin.NewResources(o)}
//
// The caller comes from the context; no tool has an argument for it. Each tool has
// annotations and a schema of its answer, which its tests check.
package builtin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// Documents are the agents. Implemented by *catalog.Catalog.
type Documents interface {
	Agent(ctx context.Context, name string) (*agent.Agent, error)
	Has(ctx context.Context, name string) (bool, error)
	List(ctx context.Context, kind string) ([]catalog.Entry, error)
}

// Options are the parts that the tools work with. A tool is available only if its
// parts are set.
type Options struct {
	// Engine runs the queries of search; without it search answers that nothing is
	// stored.
	Engine *rem.Engine
	// Asker answers ask_rem.
	Asker Asker
	// Store keeps moments, profiles, agents and the results of web searches.
	Store *store.Store
	// ReadOnly protects the store: tools that write are not available, or refuse.
	ReadOnly bool
	// Documents are the agents that save_agent must not replace by accident.
	Documents Documents
	// WebSearch is the endpoint of web_search; without one the tool names the missing
	// setting.
	WebSearch WebSearch
	// HTTPClient sends the requests of web_search; nil is a client with a timeout.
	HTTPClient *http.Client
	// Now is the clock; nil is the system's.
	Now    func() time.Time
	Logger *slog.Logger
}

// filled sets the defaults.
func (o Options) filled() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// writes reports whether there is a store to write to.
func (o *Options) writes() bool { return o.Store != nil && !o.ReadOnly }

// Tools returns the tools whose parts the options have.
func Tools(o Options) ([]tool.Tool, error) {
	o = o.filled()
	var (
		tools []tool.Tool
		errs  []error
	)
	add := func(t tool.Tool, err error) {
		tools, errs = append(tools, t), append(errs, err)
	}
	add(NewSearch(o.Engine))
	add(NewAction())
	add(NewRegisterMetadata())
	add(newProfile(&o))
	add(newUpdateMetadata(&o))
	add(newWebSearch(&o))
	if o.Asker != nil {
		add(newAsk(o.Asker))
	}
	if o.Store != nil {
		add(newGetMoments(o.Store))
	}
	if o.writes() {
		add(newSaveMoments(o.Store))
	}
	if o.writes() && o.Documents != nil {
		add(newSaveAgent(&o))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return tools, nil
}

// Names returns the names of all tools, sorted.
func Names() []string {
	return []string{
		"action", "ask_rem", "get_moments", "get_user_profile", "register_metadata", "save_agent", "save_moments", "search",
		"update_user_metadata", "web_search",
	}
}

// answering makes a tool whose answer is an Out, which also gives its schema.
func answering[In, Out any](name, description string, a tool.Annotations, fn func(context.Context, In) (Out, error)) (tool.Tool, error) {
	t, err := tool.New(name, description, func(ctx context.Context, in In) (any, error) {
		out, err := fn(ctx, in)
		if err != nil {
			return nil, worded(err)
		}
		if from, ok := any(out).(interface{ sources() []event.Source }); ok {
			content, err := tool.Encode(out)
			return tool.Result{Content: content, Sources: from.sources()}, err
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	if a.Output, err = tool.OutputOf[Out](); err != nil {
		return nil, err
	}
	return tool.Annotate(t, a)
}

// worded returns an error of the store in the store's words, if they are fit for a
// model.
func worded(err error) error {
	for _, ours := range []error{store.ErrNotFound, store.ErrConflict, store.ErrInvalid, store.ErrForbidden} {
		if errors.Is(err, ours) {
			return &tool.Error{Message: err.Error()}
		}
	}
	return err
}

// failed returns a failure that the model and the client may read.
func failed(message string) error { return &tool.Error{Message: message} }

// list returns items, never nil: an answer says [], not null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
