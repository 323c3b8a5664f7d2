package evaluation

import (
	"fmt"
	"slices"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/internal/tree"
)

// Parse reads one check, or a list of them, in YAML or JSON:
//
//   - type: contains
//     value: Oslo
//   - {type: tool_called, tool: search, times: 1}
//
// docs/evaluators.md describes the types. The error is agent.Problems: every mistake, with
// its line and column.
func Parse(file string, src []byte) ([]Evaluator, error) {
	var problems agent.Problems
	r := tree.Reader{File: file, Hints: tree.Hints{Begin: "begin with type: and the name of a check"}}
	r.Report = func(at tree.Position, hint, message string) {
		problems = append(problems, problem(file, at, "", hint, message))
	}
	root := r.Read(src)
	if root == nil || len(problems) > 0 {
		return nil, problems
	}
	return ParseNode(file, root)
}

// maxChecks bounds the checks of a list.
const maxChecks = 1000

// ParseNode is Parse for a part of a document that is already read. Checks of one list that
// have the same name are numbered: contains, contains-2.
func ParseNode(file string, n *tree.Node) ([]Evaluator, error) {
	items, pointer := []*tree.Node{n}, func(int) string { return "" }
	if n != nil && n.Kind == tree.Array {
		items, pointer = n.Items, func(i int) string { return tree.Element("", i) }
	}
	if len(items) > maxChecks {
		return nil, agent.Problems{problem(file, n.Pos, "", "split the list", fmt.Sprintf("the list has %d checks; at most %d are read", len(items), maxChecks))}
	}
	var list []Evaluator
	var problems agent.Problems
	taken := map[string]int{}
	for i, item := range items {
		s := &spec{file: file, node: item, pointer: pointer(i)}
		c := s.check()
		if len(s.problems) > 0 {
			problems = append(problems, s.problems...)
			continue
		}
		if taken[c.name]++; taken[c.name] > 1 {
			c.name = fmt.Sprintf("%s-%d", c.name, taken[c.name])
		}
		list = append(list, c)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return list, nil
}

// Types returns the types of checks, in alphabetical order.
func Types() []string {
	var names []string
	for _, t := range types() {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

// checkType is a type of checks; read takes its keys from a specification.
type checkType struct {
	name string
	read func(*spec) judge
}

// selfAware passes from 0.5 on, other checks from 1 on.
const selfAware = "self_awareness"

func types() []checkType {
	return []checkType{
		{"exact", exact}, {"contains", contains}, {"regex", matches},
		{"json_schema", jsonSchema}, {"json_path", jsonPath}, {"numeric", numeric},
		{"tool_called", toolCalled}, {"tool_order", toolOrder}, {"no_forbidden_tool", noForbiddenTool},
		{"latency", latency}, {"cost", cost}, {"tokens", tokens}, {"error", failure},
		{"retrieval_precision", retrievalPrecision}, {"retrieval_recall", retrievalRecall},
		{selfAware, selfAwareness},
	}
}

// check reads a check, which is of no use if there are problems.
func (s *spec) check() *check {
	if s.node == nil {
		s.node = &tree.Node{}
	}
	if s.node.Kind != tree.Object {
		s.fail("", "write type: and the name of a check, such as {type: contains, value: Oslo}", "a check is a mapping, not %s", s.node.Kind)
		return nil
	}
	typ := s.required("type")
	all := types()
	i := slices.IndexFunc(all, func(t checkType) bool { return t.name == typ })
	if i < 0 {
		if typ != "" {
			s.fail("type", oneOf(typ, Types()), "there is no check of type %q", tree.Clip(typ, 60))
		}
		return nil
	}
	c := &check{name: s.text("name"), mark: 1}
	if c.name == "" {
		c.name = typ
	}
	if typ == selfAware {
		c.mark = 0.5
	}
	c.judge = all[i].read(s)
	if mark, given := s.number("pass_mark", 0, 1); given {
		c.mark = mark
	}
	s.unknown()
	return c
}

// oneOf is the hint for a misspelt name.
func oneOf(name string, names []string) string {
	if similar := near.Names(name, names, 1); len(similar) > 0 {
		return "did you mean " + similar[0] + "?"
	}
	return "there are " + enumerate(names)
}

func problem(file string, at tree.Position, pointer, hint, message string) agent.Problem {
	return agent.Problem{
		Severity: agent.SeverityError, File: file, Line: int(at.Line), Column: int(at.Column),
		Pointer: pointer, Message: message, Hint: hint,
	}
}
