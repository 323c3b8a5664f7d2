// Package builtin has the tools that p8 itself brings. [Tools] makes those that
// a deployment has the parts for: without a store there is nothing to keep a
// moment in, so there is no save_moments either.
//
//	tools, err := builtin.Tools(builtin.Options{Engine: engine})
//	registry, err := tool.NewRegistry(tools...)
//
// Who is asking comes from the context; no tool has an argument for it.
package builtin

import (
	"errors"

	"p8/rem"
	"p8/tool"
)

// Options say what the tools work with. What is nil costs its tools; search,
// action and register_metadata are always there.
type Options struct {
	// Engine runs the queries of search, which without it says that nothing is
	// stored.
	Engine *rem.Engine
}

// Tools are the tools that the options have the parts for.
func Tools(o Options) ([]tool.Tool, error) {
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
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return tools, nil
}
