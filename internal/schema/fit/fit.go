// Package fit rewrites JSON Schemas into what a model's provider accepts.
//
// Authors of documents, tools and MCP servers write any JSON Schema. Providers take
// parts of it and refuse the whole request for the rest: OpenAI for an array without
// items, Anthropic for alternatives at the root, Gemini for unknown keywords. A [Target]
// is the table of one provider's rules; [Target.Fit] applies it. A [Fitter] keeps what
// it has fitted, because a run sends the same schemas with every request:
//
//	f := fit.NewFitter(fit.OpenAI())
//	parameters := f.Fit(tool.Parameters)
//
// A fitted schema is only what the model reads. Answers and arguments are validated
// against the author's own schema, so fitting may loosen a schema. It never tightens
// one, except that items of an unknown kind are texts in the oldest form of Gemini's
// schemas. [Check] lists what each provider does not learn of a schema.
package fit

import "bytes"

// Bounds of a fitted schema. References may be replaced by their targets.
const (
	maxSchemas  = 5000
	maxDepth    = 30
	maxUnfolded = 1 << 20 // bytes that references stand for
	maxLosses   = 100
)

// Target holds what a provider accepts of JSON Schema.
type Target struct {
	// name is the provider's name, for warnings.
	name string
	// rules rewrite keywords. A keyword without a rule is sent unchanged if rest is set,
	// else left out.
	rules map[string]rule
	rest  bool
	// item describes the items of an array whose schema does not; nil if the provider
	// accepts such an array.
	item func() object
	// tuples: prefixItems is accepted.
	tuples bool
	// rootObject: the root is an object with properties and without alternatives.
	rootObject bool
	// property reports whether a property may have this name; nil accepts every name.
	property func(name string) bool
	// refs are the references that are accepted.
	refs references
	// oneType: a schema has a single type.
	oneType bool
	// empty replaces a schema that says nothing or cannot be read.
	empty func() object
}

// references are the references that a provider accepts below the root.
type references uint8

const (
	localRefs references = iota // to definitions, properties and the root
	defsRefs                    // those to definitions, without other keywords beside them
	noRefs
)

// Kind is what happened to a part of a schema that a provider does not accept.
type Kind uint8

// The kinds of losses.
const (
	// OpenItems: the schema does not describe the items of an array.
	OpenItems Kind = iota
	// Dropped: a keyword is left out, so the model does not know of it.
	Dropped
	// Described: a keyword at the root is only in the description.
	Described
	// Name: a property with this name is only in the description.
	Name
	// Cut: the schema is too deep or too large from here on.
	Cut
)

// Loss is a part of a schema that a provider does not accept.
type Loss struct {
	Kind Kind
	// Path leads to the schema with the Keyword, or to the property.
	Path    []string
	Keyword string
}

// Fit rewrites a schema. One that needs no change is returned as it is. Whatever is in
// raw, the result is a JSON object.
func (t *Target) Fit(raw []byte) (fitted []byte, lost []Loss) {
	root, err := parse(raw)
	c := cleaner{t: t, root: root, left: maxSchemas, room: maxUnfolded}
	if err != nil {
		c.lose(Cut, "")
		return appendValue(nil, t.empty()), c.lost
	}
	out := c.clean(root, 0)
	if t.rootObject {
		out = c.plainRoot(out)
	}
	if len(out) == 0 {
		out = t.empty()
	}
	fitted = appendValue(make([]byte, 0, len(raw)), out)
	if bytes.Equal(fitted, appendValue(make([]byte, 0, len(raw)), root)) {
		return raw, c.lost
	}
	return fitted, c.lost
}
