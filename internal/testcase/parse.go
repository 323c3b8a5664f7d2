package testcase

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/tree"
)

// The bounds of a file.
const (
	maxCases = 1000
	maxTurns = 100
)

// Parse reads a file of cases. The error is agent.Problems: every mistake with its line and
// column.
func Parse(file string, src []byte) (*File, error) {
	p := &parser{file: file, names: map[string]int{}}
	r := tree.Reader{
		File: file, Report: func(at tree.Position, hint, message string) { p.report(at, hint, "%s", message) },
		Hints: tree.Hints{Several: "put all cases into one list", Begin: "begin with cases: and a list"},
	}
	root := r.Read(src)
	if root == nil || len(p.problems) > 0 {
		return nil, p.problems
	}
	f := p.read(root)
	if len(p.problems) > 0 {
		arrange.By(p.problems, func(a, b agent.Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
		return nil, p.problems
	}
	return f, nil
}

// parser collects the mistakes of a file.
type parser struct {
	file     string
	problems agent.Problems
	// names are the lines of the cases by the names of their files.
	names map[string]int
}

func (p *parser) report(at tree.Position, hint, format string, args ...any) {
	if len(p.problems) < 100 {
		p.problems = append(p.problems, agent.Problem{
			Severity: agent.SeverityError, File: p.file, Line: int(at.Line), Column: int(at.Column),
			Message: fmt.Sprintf(format, args...), Hint: hint,
		})
	}
}

// read reads the file. What the file says holds for each case that says nothing else.
func (p *parser) read(root *tree.Node) *File {
	k := p.keys(root, "a file of cases")
	f := &File{Path: p.file}
	common := Case{File: p.file, Documents: k.text("documents")}
	p.shared(k, &common)
	list := k.list("cases")
	if k.ok() && len(list) == 0 {
		p.report(root.Pos, `write a list below cases:, such as - {name: greets, input: "Hello"}`, "there are no cases")
	}
	if len(list) > maxCases {
		p.report(list[maxCases].Pos, "split the file", "the file has %d cases; at most %d are read", len(list), maxCases)
		list = nil
	}
	for _, n := range list {
		c := common
		c.Headers, c.Load = maps.Clone(common.Headers), slices.Clone(common.Load)
		p.readCase(n, &c)
		f.Cases = append(f.Cases, &c)
	}
	k.end()
	return f
}

// shared reads the keys that a file and a case have.
func (p *parser) shared(k *keys, c *Case) {
	set(&c.Agent, k.text("agent"))
	set(&c.Model, k.text("model"))
	set(&c.Instructions, k.text("instructions"))
	c.Load = append(c.Load, k.texts("load")...)
	p.headers(k.get("headers"), c)
	p.limits(k.get("limits"), &c.Limits)
	if at := k.text("now"); at != "" {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			p.report(k.node.Get("now").Pos, "write it as 2026-03-01T09:00:00Z", "now is no time")
		}
		c.Now = now.UTC()
	}
	if n := k.get("golden"); n != nil {
		if n.Kind != tree.Boolean {
			p.report(n.Pos, "write true or false", "golden must be true or false, not %s", n.Kind)
		}
		c.Golden = n.Text == "true"
	}
}

func set(to *string, value string) {
	if value != "" {
		*to = value
	}
}

func (p *parser) readCase(n *tree.Node, c *Case) {
	k := p.keys(n, "a case")
	if !k.ok() {
		return
	}
	c.Line, c.Column = int(n.Pos.Line), int(n.Pos.Column)
	c.Name = k.text("name")
	c.Slug = slug(c.Name)
	switch before := p.names[c.Slug]; {
	case c.Name == "" && n.Get("name") == nil:
		p.report(n.Pos, "add name:, a few words that say what the agent should do", "the case has no name")
	case c.Slug == "" && c.Name != "":
		p.report(n.Get("name").Pos, "use letters from a to z or digits", "the name %q is none for a file", tree.Clip(c.Name, 60))
	case before > 0:
		p.report(n.Get("name").Pos, "give each case its own name", "the case in line %d has the same name for its files, %s", before, c.Slug)
	}
	p.names[c.Slug] = c.Line
	p.shared(k, c)
	p.turns(k, n, c)
	if v := k.get("expected"); v != nil {
		c.Expected = v.AppendJSON(nil)
	}
	if v := k.get("metadata"); v != nil {
		c.Metadata, _ = v.Any().(map[string]any)
		if c.Metadata == nil {
			p.report(v.Pos, "write keys with values", "metadata is a mapping, not %s", v.Kind)
		}
	}
	c.Expect, c.Events = p.checks(k.get("expect")), p.patterns(k.get("events"))
	k.end()
}

// turns reads input or turns.
func (p *parser) turns(k *keys, n *tree.Node, c *Case) {
	input, list := k.text("input"), k.list("turns")
	switch {
	case n.Get("input") != nil && n.Get("turns") != nil:
		p.report(n.Get("turns").Pos, "put the input into the list, as say:", "a case has input or turns, not both")
	case n.Get("input") != nil:
		c.Turns = []Turn{{Line: int(n.Get("input").Pos.Line), Say: input}}
	case len(list) > maxTurns:
		p.report(list[maxTurns].Pos, "split the case", "the case has %d turns; at most %d are read", len(list), maxTurns)
	case len(list) == 0 && n.Get("turns") == nil:
		p.report(n.Pos, "add input: with the user's message, or turns: with several", "the case says nothing to the agent")
	case len(list) == 0:
		p.report(n.Get("turns").Pos, `write a list, such as - say: "Hello"`, "turns is empty")
	}
	for i, t := range list {
		c.Turns = append(c.Turns, p.turn(t, i))
	}
}

func (p *parser) turn(n *tree.Node, i int) Turn {
	if n.Kind == tree.Text {
		return Turn{Line: int(n.Pos.Line), Say: n.Text}
	}
	k := p.keys(n, "a turn")
	if !k.ok() {
		return Turn{}
	}
	t := Turn{Line: int(n.Pos.Line), Say: k.text("say"), Instructions: k.text("instructions")}
	approve, answer, comment := k.get("approve"), k.get("answer"), k.text("comment")
	said := 0
	for _, given := range []bool{n.Get("say") != nil, approve != nil, answer != nil} {
		if given {
			said++
		}
	}
	if said != 1 {
		p.report(n.Pos, `write say: "Hello", approve: true or answer: {name: value}`, "a turn has one of say, approve and answer")
	}
	if approve != nil {
		if approve.Kind != tree.Boolean {
			p.report(approve.Pos, "write true or false", "approve must be true or false, not %s", approve.Kind)
		}
		t.Decision = &Decision{Accept: approve.Text == "true", Comment: comment}
	}
	if answer != nil {
		if answer.Kind != tree.Object {
			p.report(answer.Pos, "write the fields of the form with their values", "answer is a mapping, not %s", answer.Kind)
		}
		t.Decision = &Decision{Accept: true, Content: answer.AppendJSON(nil), Comment: comment}
	}
	if t.Decision != nil && i == 0 {
		p.report(n.Pos, "begin with say:", "the first turn answers a question that nobody has asked")
	}
	t.Expect, t.Events = p.checks(k.get("expect")), p.patterns(k.get("events"))
	k.end()
	return t
}

// checks reads evaluators.
func (p *parser) checks(n *tree.Node) []evaluation.Evaluator {
	if n == nil {
		return nil
	}
	list, err := evaluation.ParseNode(p.file, n)
	var problems agent.Problems
	if errors.As(err, &problems) {
		p.problems = append(p.problems, problems...)
	} else if err != nil {
		p.report(n.Pos, "see docs/testing-agents.md", "%v", err)
	}
	return list
}

// headers reads the headers that say who asks.
func (p *parser) headers(n *tree.Node, c *Case) {
	if n == nil {
		return
	}
	if n.Kind != tree.Object {
		p.report(n.Pos, "write headers with their values, such as X-User-Email: alice@example.com", "headers is a mapping, not %s", n.Kind)
		return
	}
	if c.Headers == nil {
		c.Headers = http.Header{}
	}
	for _, m := range n.Members {
		if m.Value.Kind != tree.Text && m.Value.Kind != tree.Number && m.Value.Kind != tree.Boolean {
			p.report(m.Value.Pos, "write a text", "the header %s must be a text, not %s", tree.Clip(m.Key, 60), m.Value.Kind)
			continue
		}
		if !strings.HasPrefix(strings.ToLower(m.Key), "x-") {
			p.report(m.Pos, "use those of docs/http-api.md, such as X-User-Email and X-Tenant-Id", "the header %s says nothing about who asks", tree.Clip(m.Key, 60))
		}
		c.Headers.Set(m.Key, m.Value.Text)
	}
	if _, err := identity.FromHeaders(c.Headers, identity.Identity{}); err != nil {
		p.report(n.Pos, "write another value", "%v", err)
	}
}

func (p *parser) limits(n *tree.Node, to *Limits) {
	if n == nil {
		return
	}
	k := p.keys(n, "limits")
	for name, v := range map[string]*int{
		"input_tokens": &to.InputTokens, "output_tokens": &to.OutputTokens, "total_tokens": &to.TotalTokens,
		"requests": &to.Requests, "tool_calls": &to.ToolCalls,
	} {
		if f := k.number(name); f > 0 {
			*v = int(f)
		}
	}
	if f := k.number("cost_usd"); f > 0 {
		to.CostUSD = f
	}
	if f := k.number("seconds"); f > 0 {
		to.Time = time.Duration(f * float64(time.Second))
	}
	k.end()
}

// raw returns the JSON of a node.
func raw(n *tree.Node) json.RawMessage { return n.AppendJSON(nil) }
