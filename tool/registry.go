package tool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"p8/agent"
)

// Registry knows the tools of this process by name. The zero value is empty
// and ready; it may be used by several goroutines.
type Registry struct {
	mu    sync.RWMutex
	tools map[string]Tool
}

// NewRegistry holds the given tools; the error tells everything that is wrong
// with them.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := new(Registry)
	var errs []error
	for _, t := range tools {
		errs = append(errs, r.Register(t))
	}
	return r, errors.Join(errs...)
}

// Register adds a tool. A name that is taken is an error, and so is a spec
// that [NewBase] refuses.
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

// Names are the names of all tools, sorted.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.tools))
}

// Missing is a declared tool that this process does not have.
type Missing struct {
	Ref agent.ToolRef
	// Near are names that the author may have meant.
	Near []string
}

// Local reports whether a server's name means this process.
func Local(server string) bool { return server == "" || server == "local" || server == "rem" }

// Resolve picks the tools that a document declares, in its order and each
// once. A tool that is not here or lives on another server is missing.
func (r *Registry) Resolve(refs []agent.ToolRef) (tools []Tool, missing []Missing) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	seen := make(map[[2]string]bool, len(refs))
	for _, ref := range refs {
		server := ref.Server
		if Local(server) {
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
			m.Near = near(ref.Name, slices.Sorted(maps.Keys(r.tools)))
		}
		missing = append(missing, m)
	}
	return tools, missing
}

// near is the up to three names that are a few slips of the pen away.
func near(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, other := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(other)); d <= max(1, len(name)/3) {
			found = append(found, candidate{other, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var out []string
	for _, c := range found[:min(3, len(found))] {
		out = append(out, c.name)
	}
	return out
}

// distance is the Levenshtein distance of two short names, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
