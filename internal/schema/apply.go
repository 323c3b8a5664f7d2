package schema

import (
	js "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// The drafts with different keywords.
const (
	draft4    = 4
	draft6    = 6
	draft2020 = 2020
)

func (j *judgement) object() {
	s, fields := j.schema, j.node.children()
	for name, dependency := range s.Dependencies {
		if sub, ok := dependency.(*js.Schema); ok && j.has(name) {
			j.same(sub)
		}
	}
	var extra []string
	for i := range fields {
		n := &fields[i]
		evaluated := false
		if sub := s.Properties[n.key]; sub != nil {
			evaluated = true
			j.field(sub, n)
		}
		for re, sub := range s.PatternProperties {
			if !j.spend(len(n.key) * j.part.patterns[re] / 128) {
				return
			}
			if re.MatchString(n.key) {
				evaluated = true
				j.field(sub, n)
			}
		}
		if !evaluated {
			switch additional := s.AdditionalProperties.(type) {
			case bool:
				if evaluated = true; !additional {
					extra = append(extra, n.key)
				}
			case *js.Schema:
				evaluated = true
				j.field(additional, n)
			}
		}
		if evaluated && j.s.tracks {
			j.verdict.sees().key(n.key)
		}
		if j.err != nil {
			return
		}
	}
	if len(extra) > 0 {
		j.fail(&kind.AdditionalProperties{Properties: extra})
	}
	if s.PropertyNames != nil && s.DraftVersion > draft4 {
		for i := range fields {
			name := &node{value: fields[i].key, up: j.node.up, key: j.node.key, index: j.node.index}
			j.field(s.PropertyNames, name)
			if j.err != nil {
				return
			}
		}
	}
	if s.DraftVersion > draft6 {
		for name, sub := range s.DependentSchemas {
			if j.has(name) {
				j.same(sub)
			}
		}
	}
}

// has reports whether the object has a field.
func (j *judgement) has(name string) bool {
	fields, _ := j.node.value.(map[string]any)
	_, ok := fields[name]
	return ok
}

func (j *judgement) array() {
	s, items := j.schema, j.node.children()
	first, rest := s.PrefixItems, s.Items2020
	if s.DraftVersion < draft2020 {
		first, rest = nil, nil
		switch held := s.Items.(type) {
		case *js.Schema:
			rest = held
		case []*js.Schema:
			first = held
			rest, _ = s.AdditionalItems.(*js.Schema)
			if allowed, ok := s.AdditionalItems.(bool); ok {
				if j.s.tracks {
					j.verdict.sees().all = true
				}
				if !allowed && len(items) > len(held) {
					j.fail(&kind.AdditionalItems{Count: len(items) - len(held)})
				}
			}
		}
	}
	for i := range items {
		switch {
		case i < len(first):
			j.field(first[i], &items[i])
		case rest != nil:
			j.field(rest, &items[i])
		}
		if j.err != nil {
			return
		}
	}
	if j.s.tracks && (rest != nil || len(first) > 0) {
		s := j.verdict.sees()
		s.all, s.items = s.all || rest != nil, max(s.items, len(first))
	}
	j.contains(items)
}

func (j *judgement) contains(items []node) {
	s := j.schema
	if s.Contains == nil {
		return
	}
	var failures verdict
	var matched []int
	kept := j.kept
	for i := range items {
		v := j.eval(s.Contains, &items[i])
		if j.err != nil {
			return
		}
		if !v.ok() {
			failures.add(v)
			continue
		}
		matched = append(matched, i)
		if j.s.tracks && s.DraftVersion >= draft2020 {
			j.verdict.sees().item(i)
		}
	}
	few := s.MinContains == nil && len(matched) == 0 || s.MinContains != nil && len(matched) < *s.MinContains
	if !few {
		j.kept = kept
	}
	switch {
	case few && !failures.ok():
		j.verdict.add(&failures)
	case few && s.MinContains != nil:
		j.fail(&kind.MinContains{Got: matched, Want: *s.MinContains})
	case few:
		j.fail(&kind.Contains{})
	}
	if s.MaxContains != nil && len(matched) > *s.MaxContains {
		j.fail(&kind.MaxContains{Got: matched, Want: *s.MaxContains})
	}
}

// choices are the keywords that combine schemas of the same value.
func (j *judgement) choices() {
	s := j.schema
	if s.Not != nil {
		kept := j.kept
		v := j.eval(s.Not, j.node)
		j.kept = kept
		if v.ok() {
			j.fail(&kind.Not{})
		}
	}
	for _, sub := range s.AllOf {
		j.same(sub)
	}
	if len(s.AnyOf) > 0 {
		j.anyOf(s.AnyOf)
	}
	if len(s.OneOf) > 0 {
		j.oneOf(s.OneOf)
	}
	if s.If == nil {
		return
	}
	kept := j.kept
	v := j.eval(s.If, j.node)
	j.kept = kept
	j.learn(v)
	switch {
	case v.ok() && s.Then != nil:
		j.same(s.Then)
	case !v.ok() && s.Else != nil:
		j.same(s.Else)
	}
}

// anyOf adds the failures of all alternatives, or only those of the single alternative of
// the value's type: it does not help a model that its object could have been null.
func (j *judgement) anyOf(alternatives []*js.Schema) {
	var failures verdict
	var meant *verdict
	matched, near, kept := false, 0, j.kept
	for _, sub := range alternatives {
		v := j.eval(sub, j.node)
		if j.err != nil {
			return
		}
		if v.ok() {
			matched, j.kept = true, kept
			j.learn(v)
			if !j.s.tracks {
				return
			}
			continue
		}
		failures.add(v)
		if !v.wrongType {
			near++
			meant = v
		}
	}
	switch {
	case matched:
	case near == 1:
		j.verdict.add(meant)
	default:
		j.verdict.add(&failures)
	}
}

func (j *judgement) oneOf(alternatives []*js.Schema) {
	var failures verdict
	matched, kept := -1, j.kept
	for i, sub := range alternatives {
		v := j.eval(sub, j.node)
		switch {
		case j.err != nil:
			return
		case !v.ok():
			failures.add(v)
		case matched >= 0:
			j.fail(&kind.OneOf{Subschemas: []int{matched, i}})
			return
		default:
			matched = i
			j.learn(v)
		}
	}
	if matched < 0 {
		j.verdict.add(&failures)
		return
	}
	j.kept = kept
}

func (j *judgement) unevaluated() {
	s := j.schema.UnevaluatedProperties
	if _, list := j.node.value.([]any); list {
		s = j.schema.UnevaluatedItems
	}
	if s == nil {
		return
	}
	children := j.node.children()
	for i := range children {
		if !j.verdict.seen.has(&children[i]) {
			j.field(s, &children[i])
		}
		if j.err != nil {
			return
		}
	}
	j.verdict.sees().all = true
}
