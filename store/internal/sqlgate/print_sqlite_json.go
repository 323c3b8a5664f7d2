package sqlgate

import (
	"strconv"
	"strings"
)

// key prints json -> key. SQLite takes a key that begins with $ for a path.
func (p *printer) key(json, key expr) {
	p.expr(json)
	k, ok := key.(*literal)
	if u, minus := key.(*unary); minus && u.op == "-" {
		_, ok = u.x.(*literal)
		k = &literal{info: u.info, kind: number}
	}
	switch {
	case !ok:
		p.only(key.base().at, "a computed key of ->")
	case k.kind != str:
		p.put(" -> ")
		p.expr(key)
	default:
		p.keyText(k.at, k.text)
	}
}

func (p *printer) keyText(at int, text string) {
	if strings.Contains(text, `"`) {
		p.only(at, "a key with a double quote")
	}
	p.put(" -> ", quoteText(`$."`+text+`"`))
}

// path prints json #> '{a,0}'.
func (p *printer) path(e *binary) {
	l, ok := e.r.(*literal)
	if !ok || !strings.HasPrefix(l.text, "{") || !strings.HasSuffix(l.text, "}") {
		p.only(e.r.base().at, "a path that is not like '{a,b}'")
		return
	}
	if e.op == "#>>" {
		p.put("p8_json_text(")
		defer p.put(")")
	}
	p.expr(e.l)
	for _, part := range strings.Split(strings.Trim(l.text, "{}"), ",") {
		part = strings.Trim(strings.TrimSpace(part), `"`)
		if _, err := strconv.Atoi(part); err == nil {
			p.put(" -> ", part)
			continue
		}
		p.keyText(l.at, part)
	}
}

func (p *printer) contains(a, b expr) { p.pair("p8_json_contains", a, b) }
