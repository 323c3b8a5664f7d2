package builtin

import (
	"context"
	"errors"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/rem"
)

// addREM adds the tables and the query types.
func (r *Resources) addREM(o *Options) {
	if o.Engine != nil {
		r.add("rem://schema/entities", "entities", "Tables", "The tables that queries may name, with their columns.", typeJSON,
			func(context.Context, string) (string, error) { return encoded(o.Engine.Tables(), nil) }, nil)
	}
	r.add("rem://schema/query-types", "query-types", "Query types", "The REM dialect on a page: LOOKUP, FUZZY, SEARCH, TRAVERSE, SQL.", typeMarkdown,
		func(context.Context, string) (string, error) { return rem.Grammar(), nil }, nil)
}

// agentEntry is an agent in the list.
type agentEntry struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	URI         string `json:"uri"`
}

// addAgents adds the documents.
func (r *Resources) addAgents(documents Documents) {
	const prefix = "rem://agents"
	valid := func(ctx context.Context) ([]catalog.Entry, error) {
		all, err := documents.List(ctx, "")
		var usable []catalog.Entry
		for _, e := range all {
			if len(e.Problems) == 0 {
				usable = append(usable, e)
			}
		}
		return usable, err
	}
	r.add(prefix, "agents", "Agents", "The agents that the user can talk to.", typeJSON, func(ctx context.Context, _ string) (string, error) {
		found, err := valid(ctx)
		entries := make([]agentEntry, len(found))
		for i, e := range found {
			entries[i] = agentEntry{e.Name, e.Kind, e.Version, e.Description, prefix + "/" + e.Name}
		}
		return encoded(entries, err)
	}, nil)
	r.add(prefix+"/{name}", "agent", "Agent", "The document of an agent.", typeYAML, func(ctx context.Context, name string) (string, error) {
		a, err := documents.Agent(ctx, name)
		var missing *catalog.NotFoundError
		var bad *catalog.NameError
		var invalid *catalog.InvalidError
		switch {
		case errors.As(err, &missing):
			return "", unknown("agent", name, missing.Near)
		case errors.As(err, &bad), errors.As(err, &invalid):
			return "", failed(err.Error())
		case err != nil:
			return "", err
		}
		text, err := a.Document.MarshalYAML()
		return string(text), err
	}, func(ctx context.Context) ([]string, error) {
		found, err := valid(ctx)
		names := make([]string, len(found))
		for i, e := range found {
			names[i] = e.Name
		}
		return names, err
	})
}
