package sqlgate

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A node of a rule: exactly one of its fields is set.
type node struct {
	word, rule, token string
	seq, alt          []node
	option, repeat    *node
}

// ebnf reads the rules of GRAMMAR.md.
type ebnf struct {
	tokens []string
	i      int
}

func grammar(t testing.TB) map[string]node {
	t.Helper()
	page, err := os.ReadFile("GRAMMAR.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```ebnf\n")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("GRAMMAR.md has no rules")
	}
	p := &ebnf{tokens: regexp.MustCompile(`"[^"]+"|\w+|[^\s\w"]`).FindAllString(text, -1)}
	rules := make(map[string]node)
	for p.i < len(p.tokens) {
		name := p.tokens[p.i]
		if p.tokens[p.i+1] != "=" {
			t.Fatalf("%s: no rule begins here", strings.Join(p.tokens[p.i:min(p.i+5, len(p.tokens))], " "))
		}
		p.i += 2
		rules[name] = p.alternatives()
		p.i++ // the dot
	}
	return rules
}

func (p *ebnf) alternatives() node {
	alt := []node{p.sequence()}
	for p.tokens[p.i] == "|" {
		p.i++
		alt = append(alt, p.sequence())
	}
	if len(alt) == 1 {
		return alt[0]
	}
	return node{alt: alt}
}

func (p *ebnf) sequence() node {
	var seq []node
	for {
		tok := p.tokens[p.i]
		if strings.Contains(".|)]}", tok) {
			return node{seq: seq}
		}
		p.i++
		switch {
		case strings.Contains("([{", tok):
			inner := p.alternatives()
			p.i++ // the closing sign
			switch tok {
			case "(":
				seq = append(seq, inner)
			case "[":
				seq = append(seq, node{option: &inner})
			case "{":
				seq = append(seq, node{repeat: &inner})
			}
		case tok[0] == '"':
			seq = append(seq, node{word: strings.Trim(tok, `"`)})
		case strings.ToUpper(tok) == tok:
			seq = append(seq, node{token: tok})
		default:
			seq = append(seq, node{rule: tok})
		}
	}
}

func (n node) walk(visit func(node)) {
	visit(n)
	for _, x := range slices.Concat(n.seq, n.alt) {
		x.walk(visit)
	}
	for _, x := range []*node{n.option, n.repeat} {
		if x != nil {
			x.walk(visit)
		}
	}
}

// deriver makes random sentences.
type deriver struct {
	rules map[string]node
	least map[string]int
	*rand.Rand
	out []string
}

const unbounded = 1 << 20

// depth is how many rules the shortest sentence of a node nests.
func (d *deriver) depth(n node) int {
	deepest := 0
	for _, x := range n.seq {
		deepest = max(deepest, d.depth(x))
	}
	if n.alt != nil {
		deepest = unbounded
		for _, x := range n.alt {
			deepest = min(deepest, d.depth(x))
		}
	}
	if n.rule != "" {
		least, known := d.least[n.rule]
		if !known {
			return unbounded
		}
		return least + 1
	}
	return deepest
}

func newDeriver(rules map[string]node, seed uint64) *deriver {
	d := &deriver{rules: rules, least: make(map[string]int), Rand: rand.New(rand.NewPCG(seed, 1))}
	for changed := true; changed; {
		changed = false
		for name, n := range rules {
			if depth := d.depth(n); depth < unbounded {
				if old, known := d.least[name]; !known || depth < old {
					d.least[name], changed = depth, true
				}
			}
		}
	}
	return d
}

// tokens are examples of what the grammar leaves to lists.
var exampleTokens = map[string][]string{
	"NAME": {"a", `"b c"`, "name"}, "TEXT": {`'x'`, `'o''brien'`}, "NUMBER": {"1", "0.5", "1e3"}, "COUNT": {"1", "20"},
	"INTERVAL": {`'7 days'`, `'7' DAY`}, "FIELD": {"year", "'dow'"}, "TYPE": {"text", "int", "jsonb", "date"},
	"FUNCTION": {"coalesce", "greatest"}, "AGGREGATE": {"max", "jsonb_agg"}, "ORDERED": {"percentile_cont"}, "WINDOW": {"rank", "row_number"},
	"SETFUNCTION": {"jsonb_array_elements", "jsonb_each"},
}

func (d *deriver) derive(n node, budget int) {
	switch {
	case n.word != "":
		d.out = append(d.out, n.word)
	case n.token != "":
		list := exampleTokens[n.token]
		d.out = append(d.out, list[d.IntN(len(list))])
	case n.rule != "":
		d.derive(d.rules[n.rule], budget-1)
	case n.alt != nil:
		list := n.alt
		if budget < 30 {
			shortest := slices.MinFunc(n.alt, func(a, b node) int { return d.depth(a) - d.depth(b) })
			list = []node{shortest}
		}
		d.derive(list[d.IntN(len(list))], budget)
	case n.option != nil, n.repeat != nil:
		inner, most := n.option, 1
		if inner == nil {
			inner, most = n.repeat, 2
		}
		for range most {
			if budget >= 30 && d.IntN(5) == 0 {
				d.derive(*inner, budget)
			}
		}
	}
	for _, x := range n.seq {
		d.derive(x, budget)
	}
}

// TestGrammarIsUnderstood: the parser accepts every sentence of GRAMMAR.md.
func TestGrammarIsUnderstood(t *testing.T) {
	rules := grammar(t)
	parsed := 0
	for seed := range uint64(4000) {
		d := newDeriver(rules, seed)
		d.derive(rules["statement"], 55)
		text := strings.Join(d.out, " ")
		if len(text) > MaxLength {
			continue
		}
		tokens, err := scan(text)
		if err != nil {
			t.Fatalf("%s\n\t%s", text, err.problem)
		}
		p := &parser{tokens: tokens}
		if _, err := p.statement(); err != nil {
			if strings.Contains(err.problem, "nests more than") || strings.Contains(err.problem, "relations") {
				continue
			}
			t.Fatalf("%s\n\tat %d: %s", text, position(text, err.at), err.problem)
		}
		parsed++
	}
	if parsed < 3000 {
		t.Errorf("only %d sentences were short enough to be parsed", parsed)
	}
}

// TestGrammarIsComplete: GRAMMAR.md and the parser have the same words.
func TestGrammarIsComplete(t *testing.T) {
	inRules := make(map[string]bool)
	for name, n := range grammar(t) {
		n.walk(func(n node) {
			if n.word != "" {
				inRules[strings.ToLower(n.word)] = true
			}
			if n.token != "" && exampleTokens[n.token] == nil {
				t.Errorf("the rule %s names %s, which nothing explains", name, n.token)
			}
		})
	}
	taken, seen := wordsTaken(t)
	for w := range inRules {
		if !seen[w] && functions[w].max == 0 && castTypes[w] == Unknown {
			t.Errorf("GRAMMAR.md has %q, which the parser never takes", w)
		}
	}
	for w := range taken {
		if !inRules[w] {
			t.Errorf("the parser takes %q, which GRAMMAR.md does not have", w)
		}
	}
}

// wordsTaken returns the words and signs in the parser's code: taken by its methods and in
// its lists; seen also has all that it compares a token with.
func wordsTaken(t *testing.T) (taken, seen map[string]bool) {
	t.Helper()
	taken, seen = make(map[string]bool), make(map[string]bool)
	add := func(e ast.Expr, words ...map[string]bool) {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == gotoken.STRING {
			w, err := strconv.Unquote(l.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, list := range words {
				list[w] = true
			}
		}
	}
	files, err := filepath.Glob("parse*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "types.go") {
		f, err := goparser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				name := ""
				switch fun := n.Fun.(type) {
				case *ast.SelectorExpr:
					name = fun.Sel.Name
				case *ast.Ident:
					name = fun.Name
				}
				if slices.Contains([]string{"accept", "expect", "acceptSymbol", "expectSymbol", "oneOf", "leftAssociative", "chain"}, name) {
					for _, arg := range n.Args {
						add(arg, taken, seen)
					}
				} else if name == "is" {
					for _, arg := range n.Args {
						add(arg, seen)
					}
				}
			case *ast.BinaryExpr:
				add(n.Y, seen)
			case *ast.CompositeLit: // the words of joins, frames and truth values
				if a, ok := n.Type.(*ast.ArrayType); ok && fmt.Sprint(a.Elt) == "string" && file != "types.go" {
					for _, e := range n.Elts {
						add(e, taken, seen)
					}
				}
			case *ast.FuncDecl:
				if n.Name.Name != "keyword" {
					return true
				}
				ast.Inspect(n, func(n ast.Node) bool {
					if c, ok := n.(*ast.CaseClause); ok {
						for _, e := range c.List {
							add(e, taken, seen)
						}
					}
					return true
				})
			}
			return true
		})
	}
	return taken, seen
}
