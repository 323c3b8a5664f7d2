package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/p8-org/p8/internal/tree"
)

// State describes the state that an agent and the client share. It is safe for concurrent
// use.
type State struct {
	// Schema is the JSON Schema of the state, an object.
	Schema json.RawMessage
	// Arguments is the schema of a change: any of the properties.
	Arguments json.RawMessage
	// Predictions are complete: each has a tool and an argument.
	Predictions []Prediction

	validator *validator
}

// Validate returns every failure of a state as "/pointer: message", none if it is valid. The
// error is the context's.
func (s *State) Validate(ctx context.Context, raw []byte) ([]string, error) {
	return s.validator.validate(ctx, raw)
}

// prepareState computes the state of a valid document.
func (d *Document) prepareState() {
	n := d.config("state")
	if len(d.State) == 0 || n == nil {
		return
	}
	schema, change := &node{Kind: object}, &node{Kind: object}
	if n.Get("type") == nil {
		typ := member{Key: "type", Value: &node{Kind: text, Text: "object"}}
		schema.Members, change.Members = append(schema.Members, typ), append(change.Members, typ)
	}
	for _, m := range n.Members {
		schema.Members = append(schema.Members, m)
		switch m.Key {
		case "required", "minProperties", "default", "description", "title":
		default:
			change.Members = append(change.Members, m)
		}
	}
	d.state = &State{Schema: schema.AppendJSON(nil), Arguments: change.AppendJSON(nil)}
	d.state.validator = newValidator(d.state.Schema)
	for _, p := range d.PredictState {
		p.Tool, p.Argument = cmp.Or(p.Tool, UpdateState), cmp.Or(p.Argument, p.StateKey)
		d.state.Predictions = append(d.state.Predictions, p)
	}
}

// checkState checks the schema of the shared state, and what refers to it.
func (r *report) checkState(d *Document) {
	n := d.config("state")
	pos, pointer := d.at("state")
	switch {
	case n == nil || n.Kind == null:
		if len(d.PredictState) > 0 {
			at, p := d.item("predict_state", 0)
			r.errorf(at, p, "add state: with the properties of the state", "predict_state needs a state")
		}
		return
	case n.Kind != object:
		r.errorf(n.Pos, pointer, "write properties: below it, one key for each part of the state", "state must be a mapping, not %s", n.Kind)
		return
	}
	before := len(r.list.Errors())
	if t := n.Get("type"); t != nil && t.Str() != "object" {
		r.errorf(t.Pos, tree.Child(pointer, "type"), "write type: object", "the type of a state is object")
	}
	properties := n.Get("properties")
	if len(properties.List()) == 0 {
		r.errorf(pos, pointer, "add properties", "state has no properties: there is nothing to share")
	}
	s := &schemaCheck{report: r, root: n, strict: true}
	s.schema(n, pointer)
	r.compileSchema(n, pointer, n, len(r.list.Errors()) == before)
	r.checkPredictions(d, properties)
}

func (r *report) checkPredictions(d *Document, properties *node) {
	var keys []string
	for _, m := range properties.List() {
		keys = append(keys, m.Key)
	}
	var tools []string
	for _, t := range d.Tools {
		tools = append(tools, t.Name)
	}
	for i, p := range d.PredictState {
		at, pointer := d.item("predict_state", i)
		if p.StateKey != "" && !slices.Contains(keys, p.StateKey) {
			r.errorf(at, pointer, cmp.Or(didYouMean(p.StateKey, keys), "add it to the properties of state"), "the state has no property %q", clip(p.StateKey, 60))
		}
		switch {
		case p.Tool == "" || p.Tool == UpdateState:
			if p.Argument != "" && p.Argument != p.StateKey {
				r.errorf(at, pointer, "take tool_argument away", "the arguments of %s have the names of the state", UpdateState)
			}
		case !slices.Contains(tools, p.Tool):
			r.warnf(at, pointer, cmp.Or(didYouMean(p.Tool, tools), "add it to tools"), "the tool %q is not among the tools", clip(p.Tool, 60))
		}
	}
}
