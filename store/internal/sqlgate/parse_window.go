package sqlgate

import (
	"slices"
	"strings"
)

func (p *parser) window() (*window, *fault) {
	w := &window{}
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	var err *fault
	if p.accept("partition", "by") {
		if w.partition, err = p.list(); err != nil {
			return nil, err
		}
	}
	if p.accept("order", "by") {
		if w.order, err = p.orderBy(); err != nil {
			return nil, err
		}
	}
	if w.frame, err = p.frame(); err != nil {
		return nil, err
	}
	return w, p.expectSymbol(")")
}

var frameWords = []string{"rows", "range", "groups"}

// frame parses ROWS|RANGE|GROUPS [BETWEEN bound AND] bound.
func (p *parser) frame() (string, *fault) {
	t := p.peek()
	if t.kind != word || !slices.Contains(frameWords, t.text) {
		return "", nil
	}
	p.next()
	out := strings.ToUpper(t.text) + " "
	if !p.accept("between") {
		b, err := p.bound()
		return out + b, err
	}
	lo, err := p.bound()
	if err != nil {
		return "", err
	}
	if err := p.expect("and"); err != nil {
		return "", err
	}
	hi, err := p.bound()
	return out + "BETWEEN " + lo + " AND " + hi, err
}

func (p *parser) bound() (string, *fault) {
	if p.accept("current", "row") {
		return "CURRENT ROW", nil
	}
	n := "UNBOUNDED"
	if t := p.peek(); t.kind == number && !strings.ContainsAny(t.text, ".eE") && len(t.text) < 10 {
		n = p.next().text
	} else if !p.accept("unbounded") {
		return "", p.unexpected("a window's bound is UNBOUNDED PRECEDING, n PRECEDING, CURRENT ROW, n FOLLOWING or UNBOUNDED FOLLOWING")
	}
	switch {
	case p.accept("preceding"):
		return n + " PRECEDING", nil
	case p.accept("following"):
		return n + " FOLLOWING", nil
	}
	return "", p.unexpected("write PRECEDING or FOLLOWING")
}
