package models

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"github.com/p8-org/p8/llm/internal/names"
)

// Bounds of a file.
const (
	maxFile     = 512 << 10
	maxRows     = 5000
	maxName     = 200
	maxTokens   = 1e9
	maxPrice    = 1e5
	maxProblems = 20
)

// row is a model as a file describes it, under all of its names.
type row struct {
	names []string
	// info holds the fields of the row that keys names.
	info Info
	keys members
}

// over returns the model with this name: the row's fields over the former ones. The
// price and the price of long requests are replaced together.
func (r *row) over(before Info, name string) *Info {
	i := before
	i.Name, i.AsOf = name, r.info.AsOf
	if r.keys["context"] != nil {
		i.Context = r.info.Context
	}
	if r.keys["output"] != nil {
		i.Output = r.info.Output
	}
	if r.keys["price"] != nil {
		i.Priced, i.Price = true, r.info.Price
		i.Long, i.LongAbove = r.info.Long, r.info.LongAbove
	}
	if r.keys["can"] != nil {
		i.Images, i.Documents, i.Tools = r.info.Images, r.info.Documents, r.info.Tools
		i.Reasoning, i.NativeOutput = r.info.Reasoning, r.info.NativeOutput
	}
	return &i
}

// reader reads one file and collects its problems.
type reader struct {
	file     string
	asOf     string
	seen     map[string]bool
	problems []error
}

// parse reads a file: its rows, or every problem.
func parse(file, src string) ([]row, error) {
	r := &reader{file: file, seen: map[string]bool{}}
	rows := r.rows(src)
	if r.problems != nil {
		return nil, errors.Join(r.problems...)
	}
	return rows, nil
}

func (r *reader) rows(src string) []row {
	root, err := parseYAML(r.file, src)
	if err != nil {
		r.problems = append(r.problems, err)
		return nil
	}
	top := r.members(root, "the file", "as_of", "models")
	if n := top["as_of"]; n != nil {
		r.asOf = r.text(n)
		if _, err := time.Parse(time.DateOnly, r.asOf); err != nil {
			r.bad(n, "as_of is not a day: write it as 2025-12-31")
		}
	}
	list := r.list(top["models"], "models")
	if top["models"] == nil && r.problems == nil {
		r.bad(root, "there are no models: write a list named models")
	}
	if len(list) > maxRows {
		r.bad(list[maxRows], "more than %d models: shorten the list", maxRows)
		return nil
	}
	rows := make([]row, len(list))
	for i, n := range list {
		rows[i] = r.row(n)
	}
	return rows
}

func (r *reader) row(n ast.Node) row {
	out := row{keys: r.members(n, "a model", "name", "also", "context", "output", "price", "long", "can"), info: Info{AsOf: r.asOf}}
	if out.keys == nil {
		return out
	}
	if out.keys["name"] == nil {
		r.bad(n, "this model has no name: write name: provider:model")
		return out
	}
	for _, n := range append([]ast.Node{out.keys["name"]}, r.list(out.keys["also"], "also")...) {
		out.names = append(out.names, r.name(n))
	}
	i := &out.info
	i.Context = int(r.number(out.keys["context"], "context", 1, maxTokens))
	i.Output = int(r.number(out.keys["output"], "output", 1, maxTokens))
	if p := out.keys["price"]; p != nil {
		i.Price = r.price(p, r.members(p, "price", "input", "cached", "cache_write", "output"))
	}
	if p := out.keys["long"]; p != nil {
		if out.keys["price"] == nil {
			r.bad(p, "long needs the price of shorter requests beside it: add price")
		}
		keys := r.members(p, "long", "above", "input", "cached", "cache_write", "output")
		i.Long, i.LongAbove = r.price(p, keys), int(r.number(keys["above"], "above", 1, maxTokens))
		if keys != nil && keys["above"] == nil {
			r.bad(p, "long does not say for which requests: add above, in tokens")
		}
	}
	for _, n := range r.list(out.keys["can"], "can") {
		r.ability(n, i)
	}
	return out
}

// name returns provider:model in the table's form.
func (r *reader) name(n ast.Node) string {
	name := r.text(n)
	provider, model, _ := strings.Cut(name, ":")
	name = names.Provider(strings.ToLower(provider)) + ":" + model
	odd := func(c rune) bool { return !unicode.IsGraphic(c) || c == ' ' }
	switch star := strings.IndexByte(name, '*'); {
	case provider == "" || model == "" || len(name) > maxName || strings.ContainsFunc(name, odd):
		r.bad(n, "this is not the name of a model: write provider:model, such as openai:gpt-4.1*")
	case star >= 0 && star != len(name)-1:
		r.bad(n, "a star stands only at the end of a name: write provider:beginning*")
	case r.seen[name]:
		r.bad(n, "%s is in this file already: put the two together", name)
	}
	r.seen[name] = true
	return name
}

func (r *reader) price(n ast.Node, keys members) Price {
	get := func(name string, other float64) float64 {
		if keys[name] == nil {
			return other
		}
		return r.number(keys[name], name, 0, maxPrice)
	}
	if keys != nil && (keys["input"] == nil || keys["output"] == nil) {
		r.bad(n, "a price has input and output: add the one that is missing, in US dollars for a million tokens")
	}
	input := get("input", 0)
	return Price{Input: input, Cached: get("cached", input), CacheWrite: get("cache_write", input), Output: get("output", 0)}
}

func (r *reader) ability(n ast.Node, i *Info) {
	switch r.text(n) {
	case "images":
		i.Images = true
	case "documents":
		i.Documents = true
	case "tools":
		i.Tools = true
	case "reasoning":
		i.Reasoning = true
	case "native_output":
		i.NativeOutput = true
	default:
		r.bad(n, "can knows images, documents, tools, reasoning and native_output: take one of them")
	}
}

// bad records a problem at a node.
func (r *reader) bad(n ast.Node, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, at(r.file, start(n), fmt.Sprintf(format, args...)))
	}
}

// known lists keys for a message.
func known(keys []string) string {
	return strings.Join(keys[:len(keys)-1], ", ") + " and " + keys[len(keys)-1]
}

// members holds the values of a mapping by key.
type members map[string]ast.Node

func (r *reader) members(n ast.Node, what string, keys ...string) members {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		r.bad(n, "%s is a mapping: write %s below it", what, known(keys))
		return nil
	}
	out := members{}
	for _, v := range values {
		key := v.Key.GetToken().Value
		if !slices.Contains(keys, key) {
			r.bad(v, "%s has no %q: it knows %s", what, key, known(keys))
			continue
		}
		out[key] = v.Value
	}
	return out
}
