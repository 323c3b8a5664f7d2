package tool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/near"
)

// Registry has the tools of this process by name. The zero value is empty and ready;
// it is safe for concurrent use.
type Registry struct {
	mu    sync.RWMutex
	tools map[string]Tool
}

// NewRegistry returns a registry of the given tools; the error names every problem.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := new(Registry)
	var errs []error
	for _, t := range tools {
		errs = append(errs, r.Register(t))
	}
	return r, errors.Join(errs...)
}

// Register adds a tool. It fails for a name that is taken, and for a spec that
// [NewBase] refuses.
func (r *Registry) Register(t Tool) error {
	spec := t.Spec()
	if _, err := NewBase(spec); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.tools[spec.Name]; taken {
		return fmt.Errorf("tool: %s is registered already", spec.Name)
	}
	if r.tools == nil {
		r.tools = map[string]Tool{}
	}
	r.tools[spec.Name] = t
	return nil
}

// Names returns the names of all tools, sorted.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.tools))
}

// Get returns the tool of that name, nil if no tool has the name.
func (r *Registry) Get(name string) Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.tools[name]
}

// maxNear bounds the suggestions for a missing tool.
const maxNear = 3

// Missing is a declared tool that this process does not have.
type Missing struct {
	Ref agent.ToolRef
	// Near are similar names.
	Near []string
	// Reason is why it is missing, unless the name is unknown: its server is unknown
	// or down. It is fit for a client and a model.
	Reason string
	// Also are other tools that are missing for the same reason.
	Also []string
}

// Message says what is missing, why, and similar names.
func (m Missing) Message() string {
	text := "the tool " + m.Ref.Name + " is not available here"
	if n := len(m.Also); n > 0 {
		all := append([]string{m.Ref.Name}, m.Also[:n-1]...)
		text = "the tools " + strings.Join(all, ", ") + " and " + m.Also[n-1] + " are not available here"
	}
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	if len(m.Near) > 0 {
		text += "; did you mean " + strings.Join(m.Near, " or ") + "?"
	}
	return text
}

// Resolve returns the tools that a document declares, in its order, each once. Unknown
// tools and those of servers are missing.
func (r *Registry) Resolve(refs []agent.ToolRef) (tools []Tool, missing []Missing) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	seen := make(map[[2]string]bool, len(refs))
	for _, ref := range refs {
		server := ref.Server
		if ref.Local() {
			server = ""
		}
		key := [2]string{server, ref.Name}
		if seen[key] {
			continue
		}
		seen[key] = true
		if t, ok := r.tools[ref.Name]; ok && server == "" {
			tools = append(tools, t)
			continue
		}
		m := Missing{Ref: ref}
		if server == "" {
			m.Near = near.Names(ref.Name, slices.Sorted(maps.Keys(r.tools)), maxNear)
		}
		missing = append(missing, m)
	}
	return tools, missing
}
