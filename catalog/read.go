package catalog

import (
	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/store"
)

// Read parses a document that a person wrote and returns its row, which is the caller's
// own unless the caller is anonymous. A document that is not valid is an agent.Problems.
func Read(text []byte) (*agent.Agent, store.Schema, error) {
	doc, err := agent.Parse("", text)
	if err != nil {
		return nil, store.Schema{}, err
	}
	a, err := agent.Compile(doc)
	if err != nil {
		return nil, store.Schema{}, err
	}
	row, err := Row(a, text)
	row.Shared = false
	return a, row, err
}
