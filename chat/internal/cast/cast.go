// Package cast finds the agent that answers a turn, its model, the fallback models, and the
// tools that its document declares.
//
// A [Cast] is made once and never changed. A turn that is handed over to another
// agent gets another one.
package cast

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// Catalog finds agents by name.
type Catalog interface {
	Agent(ctx context.Context, name string) (*agent.Agent, error)
}

// Models finds models by "provider:model".
type Models interface {
	Resolve(name string) (llm.Model, error)
}

// Tools finds the tools that a document declares.
type Tools interface {
	Resolve(ctx context.Context, a *agent.Agent) tool.Resolved
}

// Script answers in place of a model.
type Script = func(ctx context.Context, input string, options map[string]string) iter.Seq2[event.Event, error]

// Options are what a Finder works with.
type Options struct {
	Models Models
	// Tools may be nil: then agents have none.
	Tools Tools
	// DefaultModel is used if neither the request nor the document names a model; Fallback
	// takes over if the document names no fallback of its own.
	DefaultModel string
	Fallback     []string
	// Script returns the script of an agent; nil for most.
	Script func(agent string) Script
	// Agents lists the agents that the caller may use; nil lists none.
	Agents func(ctx context.Context) ([]catalog.Routable, error)
	// Message words an error for a client.
	Message func(error) string
	Logger  *slog.Logger
}

// Finder makes casts.
type Finder struct{ o Options }

// New makes a Finder.
func New(o Options) *Finder { return &Finder{o} }

// Wanted is what a request adds to the agent's document.
type Wanted struct {
	// Model is "provider:model"; "" leaves it to the document.
	Model string
	// Output is the answer's schema, unless the agent has one of its own.
	Output *llm.Output
	// ClientTools are tools that the client runs itself. A tool of the document wins
	// over one of the same name.
	ClientTools []tool.Tool
	// Inline says that the document came with the request: it has no script.
	Inline bool
	// Routed says that the agent may give the session back to p8.
	Routed bool
}

// Cast is what answers a turn.
type Cast struct {
	Agent *agent.Agent
	// Name is the agent's, ModelName the chosen model's, or the agent's if a script
	// answers.
	Name, ModelName string
	// Model falls back on other models.
	Model   llm.Model
	Tools   []tool.Tool
	Chained tool.Tool
	// ChainedMissing says why Chained is nil although the document names one.
	ChainedMissing string
	Warnings       []event.WarningData
	// Absent names the declared tools that are not available now, each with the reason.
	Absent []string
	// Script answers in place of the model; nil for most.
	Script Script
}

// Cast finds the model and the tools of an agent. The error is the model's.
func (f *Finder) Cast(ctx context.Context, a *agent.Agent, w Wanted) (Cast, error) {
	if !w.Inline && f.o.Script != nil {
		if script := f.o.Script(a.Name); script != nil {
			return Cast{Agent: a, Name: a.Name, ModelName: a.Name, Script: script}, nil
		}
	}
	c := Cast{Agent: a.WithOutput(w.Output), Name: a.Name}
	if err := f.findModel(&c, w.Model); err != nil {
		return Cast{}, err
	}
	f.findTools(ctx, &c, w.Routed)
	c.addClientTools(w.ClientTools)
	return c, nil
}

// ModelName returns the model that a turn uses: the document's override_model, else the
// request's, else the document's model, else the default.
func ModelName(a *agent.Agent, request, fallback string) string {
	return cmp.Or(a.OverrideModel, request, a.Model, fallback)
}

// findModel finds the model and its fallbacks. A fallback that does not exist is a warning.
func (f *Finder) findModel(c *Cast, wanted string) error {
	model, err := f.o.Models.Resolve(ModelName(c.Agent, wanted, f.o.DefaultModel))
	if err != nil {
		return err
	}
	c.Model, c.ModelName = model, model.Name()
	names := f.fallback(c.Agent)
	if len(names) == 0 {
		return nil
	}
	models, known := []llm.Model{model}, map[string]bool{c.ModelName: true}
	for _, name := range names {
		m, err := f.o.Models.Resolve(name)
		if err != nil {
			c.Warnings = append(c.Warnings, event.WarningData{
				Code:    "fallback_unavailable",
				Message: fmt.Sprintf("the model %s cannot take over for %s: %s", name, c.ModelName, f.o.Message(err)),
			})
			continue
		}
		if !known[m.Name()] {
			known[m.Name()] = true
			models = append(models, m)
		}
	}
	if len(models) > 1 {
		c.Model = llm.NewFallback(llm.FallbackOptions{Models: models, Logger: f.o.Logger})
	}
	return nil
}

// fallback returns the models that take over: the document's, else the settings'. A
// document with an override_model gets none from the settings.
func (f *Finder) fallback(a *agent.Agent) []string {
	if len(a.Fallback) > 0 || a.OverrideModel != "" {
		return a.Fallback
	}
	return f.o.Fallback
}
