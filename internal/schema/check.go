package schema

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	js "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/p8-org/p8/internal/arrange"
)

// MaxSteps bounds a check. A step checks one value against one schema; all of them take a
// few tenths of a second.
const MaxSteps = 300_000

// maxMemo bounds the verdicts that a check remembers, about 100 bytes each. Beyond it,
// only the budget bounds the check.
const maxMemo = 100_000

// ErrSteps reports that a check took more than [MaxSteps].
var ErrSteps = fmt.Errorf("checking the value takes more than %d steps", MaxSteps)

// Validate returns every failure of a value that encoding/json decoded into any, with or
// without json.Number. If the error is not nil (ErrSteps, or the context's cause), the
// value was not fully checked.
func (s *Schema) Validate(ctx context.Context, value any) (Failures, error) {
	_, failures, err := s.check(ctx, value, MaxSteps)
	return failures, err
}

func (s *Schema) check(ctx context.Context, value any, budget int) (steps int, failures Failures, err error) {
	c := &check{s: s, ctx: ctx, budget: budget}
	v := c.eval(s.root, &node{value: value})
	if c.err != nil {
		return c.steps, Failures{}, c.err
	}
	return c.steps, v.failures(), nil
}

// check is the validation of one value against one schema.
type check struct {
	s      *Schema
	ctx    context.Context
	steps  int
	budget int
	err    error // ended it early
	memo   map[pair]*verdict
	kept   int // failures held by verdicts in use
}

type pair struct {
	schema *js.Schema
	node   *node
}

// spend takes steps from the budget, and reports whether the check goes on.
func (c *check) spend(n int) bool {
	if c.err != nil {
		return false
	}
	before := c.steps
	c.steps += n
	const often = 1024 // steps between two looks at the context
	switch {
	case c.steps > c.budget:
		c.err = ErrSteps
	case (before == 0 || before/often != c.steps/often) && c.ctx.Err() != nil:
		c.err = context.Cause(c.ctx)
	}
	return c.err == nil
}

// metaKeywords are the keywords of the meta-schemas.
const metaKeywords = 40

// eval checks one value against one schema. The verdict of a valid value is nil.
func (c *check) eval(s *js.Schema, n *node) *verdict {
	if !c.spend(1) {
		return nil
	}
	p := c.s.parts[s]
	if !p.shared {
		return c.judge(s, p, n)
	}
	key := pair{s, n}
	if v, ok := c.memo[key]; ok {
		return v
	}
	v := c.judge(s, p, n)
	if c.memo == nil {
		c.memo = map[pair]*verdict{}
	}
	if len(c.memo) < maxMemo && c.err == nil {
		c.memo[key] = v
	}
	return v
}

func (c *check) judge(s *js.Schema, p *part, n *node) *verdict {
	switch {
	case s.Bool != nil && *s.Bool:
		return nil
	case p.flat != nil && !c.spend(p.cost(n.value)):
		return nil
	case isMeta(s) && !c.spend(metaKeywords*size(n.value)):
		return nil
	}
	j := judgement{check: c, schema: s, part: p, node: n}
	switch {
	case s.Bool != nil:
		j.fail(&kind.FalseSchema{})
		return j.done()
	case isMeta(s):
		j.library(s.Validate(n.value))
		return j.done()
	case p.flat != nil && !p.plain(n.value):
		j.library(p.flat.Validate(n.value))
		if j.verdict.final {
			return j.done()
		}
	}
	if s.Ref != nil {
		j.same(s.Ref)
	}
	if s.Ref == nil || s.DraftVersion >= 2019 {
		j.applicators()
	}
	return j.done()
}

// judgement is the check of one value against one schema.
type judgement struct {
	*check
	schema  *js.Schema
	part    *part
	node    *node
	verdict verdict
}

// applicators walks the keywords that hold schemas.
func (j *judgement) applicators() {
	switch j.node.value.(type) {
	case map[string]any:
		j.object()
	case []any:
		j.array()
	}
	j.choices()
	j.unevaluated()
}

// same checks the same value against another schema and adds its failures.
func (j *judgement) same(s *js.Schema) *verdict {
	v := j.eval(s, j.node)
	j.verdict.add(v)
	j.learn(v)
	return v
}

// field checks a field or an item against a schema.
func (j *judgement) field(s *js.Schema, n *node) *verdict {
	v := j.eval(s, n)
	j.verdict.add(v)
	return v
}

func (j *judgement) done() *verdict {
	v := j.verdict // not j, so that the closure does not keep it
	switch {
	case !v.bad && v.seen == nil:
		return nil
	case len(v.failed) == 0 && v.more == 0 && len(v.causes) == 1 && !v.causes[0].wrongType:
		return v.causes[0]
	}
	return &v
}

// node is a value and its place. Its children are made on demand.
type node struct {
	value any
	up    *node
	key   string
	index int // in a list
	kids  []node
	open  bool
}

// children are the fields, by name, or the items.
func (n *node) children() []node {
	if n.open {
		return n.kids
	}
	n.open = true
	switch v := n.value.(type) {
	case map[string]any:
		n.kids = make([]node, 0, len(v))
		for key, value := range v {
			n.kids = append(n.kids, node{value: value, up: n, key: key, index: -1})
		}
		arrange.By(n.kids, func(a, b node) int { return compare(a.key, b.key) })
	case []any:
		n.kids = make([]node, len(v))
		for i, value := range v {
			n.kids[i] = node{value: value, up: n, index: i}
		}
	}
	return n.kids
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// path leads from the root to n.
func (n *node) path() []string {
	var out []string
	for ; n.up != nil; n = n.up {
		token := n.key
		if n.index >= 0 {
			token = strconv.Itoa(n.index)
		}
		out = append(out, token)
	}
	slices.Reverse(out)
	return out
}
