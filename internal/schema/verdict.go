package schema

import (
	"errors"

	js "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// maxFailed bounds the failures that a check reports; the others are counted. maxKept
// bounds the failures in memory during a check, about 300 bytes each: thousands of
// alternatives may fail before one matches.
const (
	maxFailed = 200
	maxKept   = 5_000
)

// maxMessage bounds a failure's message, in characters, as it may list an enum.
const maxMessage = 1000

// Failures are the failures of a value.
type Failures struct {
	// List has the first failures, in the order of the value.
	List []Failure
	// More counts those that are not in List.
	More int
}

// Failure is one keyword that a value does not satisfy.
type Failure struct {
	// Path is the place, from the value's root.
	Path []string
	// Message is the reason, in English.
	Message string
}

// verdict is the result of a schema for a value; nil if the value is valid. Verdicts are
// shared: a definition with two references fails once.
type verdict struct {
	bad bool
	// final is set if the type, enum or format failed and nothing else was checked;
	// wrongType if it was the type.
	final, wrongType bool
	failed           []failed
	causes           []*verdict
	more             int // failures that were not kept
	// seen are the evaluated fields and items, if a schema needs them.
	seen *seen
}

type failed struct {
	node *node
	rest []string // of the place, below node
	kind js.ErrorKind
}

func (v *verdict) ok() bool { return v == nil || !v.bad }

// fail adds a failure of the value itself.
func (j *judgement) fail(k js.ErrorKind) { j.push(failed{node: j.node, kind: k}) }

func (j *judgement) push(f failed) {
	j.verdict.bad = true
	if j.kept++; j.kept > maxKept {
		j.verdict.more++
		return
	}
	j.verdict.failed = append(j.verdict.failed, f)
}

// add adds the failures of another verdict.
func (v *verdict) add(other *verdict) {
	if other.ok() {
		return
	}
	v.bad = true
	if len(other.failed) == 0 && len(other.causes) == 0 {
		v.more += other.more
		return
	}
	v.causes = append(v.causes, other)
}

// library adds the leaves of the library's error.
func (j *judgement) library(err error) {
	var invalid *js.ValidationError
	if !errors.As(err, &invalid) {
		return
	}
	var walk func(*js.ValidationError)
	walk = func(e *js.ValidationError) {
		if len(e.Causes) == 0 {
			j.push(failed{node: j.node, rest: e.InstanceLocation, kind: e.ErrorKind})
			switch e.ErrorKind.(type) {
			case *kind.Type:
				j.verdict.final, j.verdict.wrongType = true, true
			case *kind.Const, *kind.Enum, *kind.Format, *kind.InvalidJsonValue:
				j.verdict.final = true
			}
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(invalid)
}

// failures returns the verdict's failures with their messages.
func (v *verdict) failures() Failures {
	var out Failures
	if v.ok() {
		return out
	}
	printer := message.NewPrinter(language.English)
	visited := map[*verdict]bool{}
	var walk func(*verdict)
	walk = func(v *verdict) {
		if v.ok() || visited[v] {
			return
		}
		visited[v] = true
		out.More += v.more
		for _, f := range v.failed {
			if len(out.List) >= maxFailed {
				out.More++
				continue
			}
			out.List = append(out.List, f.words(printer))
		}
		for _, cause := range v.causes {
			walk(cause)
		}
	}
	walk(v)
	return out
}

func (f failed) words(p *message.Printer) Failure {
	return Failure{Path: append(f.node.path(), f.rest...), Message: shorten(f.kind.LocalizedString(p))}
}

// shorten cuts a long message, such as one that lists an enum.
func shorten(text string) string {
	if runes := []rune(text); len(runes) > maxMessage {
		return string(runes[:maxMessage]) + "…"
	}
	return text
}

// seen are the evaluated fields and items, as unevaluatedProperties and unevaluatedItems
// define them.
type seen struct {
	all   bool
	items int // the number of first items
	keys  map[string]struct{}
	some  map[int]struct{}
}

func (v *verdict) sees() *seen {
	if v.seen == nil {
		v.seen = &seen{}
	}
	return v.seen
}

func (s *seen) key(key string) {
	if s.keys == nil {
		s.keys = map[string]struct{}{}
	}
	s.keys[key] = struct{}{}
}

func (s *seen) item(i int) {
	if s.some == nil {
		s.some = map[int]struct{}{}
	}
	s.some[i] = struct{}{}
}

// has reports whether a child was evaluated.
func (s *seen) has(n *node) bool {
	switch {
	case s == nil:
		return false
	case s.all:
		return true
	case n.index >= 0:
		_, ok := s.some[n.index]
		return ok || n.index < s.items
	}
	_, ok := s.keys[n.key]
	return ok
}

// learn adds what a schema of the same value evaluated, if the value is valid.
func (j *judgement) learn(other *verdict) {
	if !j.s.tracks || !other.ok() || other == nil || other.seen == nil {
		return
	}
	if !j.spend(len(other.seen.keys) + len(other.seen.some)) {
		return
	}
	s := j.verdict.sees()
	s.all = s.all || other.seen.all
	s.items = max(s.items, other.seen.items)
	for key := range other.seen.keys {
		s.key(key)
	}
	for i := range other.seen.some {
		s.item(i)
	}
}
