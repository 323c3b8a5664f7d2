package sqlgate

import (
	"strings"
)

// parser is a recursive descent over the tokens. It refuses unknown syntax by name.
type parser struct {
	tokens []token
	i      int
	depth  int
	rels   int
}

func (p *parser) peek() token { return p.tokens[p.i] }

func (p *parser) ahead(n int) token {
	return p.tokens[min(p.i+n, len(p.tokens)-1)]
}

func (p *parser) next() token {
	t := p.tokens[p.i]
	if t.kind != end {
		p.i++
	}
	return t
}

// is reports whether the next tokens are these words.
func (p *parser) is(words ...string) bool {
	for n, w := range words {
		if t := p.ahead(n); t.kind != word || t.text != w {
			return false
		}
	}
	return true
}

func (p *parser) isSymbol(s string) bool {
	t := p.peek()
	return t.kind == symbol && t.text == s
}

// accept consumes the words if they are next, and reports whether they were.
func (p *parser) accept(words ...string) bool {
	if !p.is(words...) {
		return false
	}
	p.i += len(words)
	return true
}

func (p *parser) acceptSymbol(s string) bool {
	if !p.isSymbol(s) {
		return false
	}
	p.i++
	return true
}

func (p *parser) expect(w string) *fault {
	if !p.accept(w) {
		return p.unexpected("write " + strings.ToUpper(w) + " here")
	}
	return nil
}

func (p *parser) expectSymbol(s string) *fault {
	if !p.acceptSymbol(s) {
		return p.unexpected("write " + s + " here")
	}
	return nil
}

// refusals advise what to write instead of words that people often use and the gate does
// not support.
var refusals = map[string]string{
	"insert":      "only reading is allowed: write a SELECT",
	"update":      "only reading is allowed: write a SELECT",
	"delete":      "only reading is allowed: write a SELECT",
	"merge":       "only reading is allowed: write a SELECT",
	"into":        "SELECT INTO would make a table; leave INTO out",
	"for":         "locking (FOR UPDATE, FOR SHARE) is not allowed; leave it out",
	"values":      "VALUES is not a query here; write SELECT … UNION ALL SELECT …",
	"table":       "write SELECT * FROM the table",
	"explain":     "ask for the plan with EXPLAIN before the whole query, not in SQL",
	"tablesample": "TABLESAMPLE is not available; use ORDER BY random() LIMIT n",
	"grouping":    "GROUPING SETS are not available; write one GROUP BY per query and UNION ALL",
	"rollup":      "ROLLUP is not available; write one GROUP BY per query and UNION ALL",
	"cube":        "CUBE is not available; write one GROUP BY per query and UNION ALL",
	"collate":     "COLLATE is not available; leave it out",
	"similar":     "SIMILAR TO is not available; use LIKE, or ~ with a regular expression",
	"overlaps":    "OVERLAPS is not available; compare the four times",
	"natural":     "NATURAL JOIN would join on the system columns; write ON or USING",
	"fetch":       "write LIMIT n",
	"window":      "write what OVER needs in its own parentheses",
	"isnull":      "write IS NULL",
	"notnull":     "write IS NOT NULL",
	"symmetric":   "write the smaller bound first",
	"row":         "row values are not available; compare column by column",
}

// unexpected returns the error of the next token.
func (p *parser) unexpected(advice string) *fault {
	t := p.peek()
	what := "“" + t.text + "”"
	switch t.kind {
	case end:
		return faultf(t.at, "the statement ends too early; %s", advice)
	case str:
		what = "a text in quotes"
	case word:
		if why, ok := refusals[t.text]; ok {
			return faultf(t.at, "%s is not allowed here: %s", strings.ToUpper(t.text), why)
		}
	}
	if t.text == ";" {
		return faultf(t.at, "only one statement is run; remove what follows the semicolon")
	}
	return faultf(t.at, "%s is not understood here; %s", what, advice)
}

// enter goes one level deeper; it refuses to go beyond maxDepth.
func (p *parser) enter() *fault {
	if p.depth++; p.depth > maxDepth {
		return faultf(p.peek().at, "the statement nests more than %d deep; use WITH to name its parts", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func (p *parser) statement() (*query, *fault) {
	if !p.is("select") && !p.is("with") && !p.isSymbol("(") {
		t := p.peek()
		if t.kind == end {
			return nil, faultf(t.at, "there is no statement; write SELECT …")
		}
		if why, ok := refusals[t.text]; ok && t.kind == word {
			return nil, faultf(t.at, "%s is not allowed: %s", strings.ToUpper(t.text), why)
		}
		return nil, faultf(t.at, "a statement begins with SELECT or WITH; only reading is allowed")
	}
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	if p.acceptSymbol(";") && p.peek().kind != end {
		return nil, faultf(p.peek().at, "only one statement is run; remove what follows the semicolon")
	}
	if p.peek().kind != end {
		return nil, p.unexpected("the statement should end, or a clause (FROM, WHERE, GROUP BY, ORDER BY, LIMIT) begin")
	}
	return q, nil
}
