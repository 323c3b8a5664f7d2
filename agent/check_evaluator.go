package agent

import (
	"strings"

	"github.com/p8-org/p8/internal/scoring"
	"github.com/p8-org/p8/internal/tree"
)

// checkEvaluator checks how an evaluator scores: weights, derived scores, labels, expressions
// and pass marks.
func (r *report) checkEvaluator(d *Document) {
	if d.Is() != KindEvaluator {
		return
	}
	_, mistakes := scoring.Read(d.root)
	for _, m := range mistakes {
		pos := position{}
		if m.Node != nil {
			pos = r.within(m.Node, m.At)
		}
		r.errorf(pos, m.Pointer, m.Hint, "%s", m.Message)
	}
}

// within returns the position of a character of a text of one line, the position of the text
// if the source has it in another form.
func (r *report) within(n *node, at int) position {
	line, column := int(n.Pos.Line), int(n.Pos.Column)
	if n.Kind != text || line < 1 || line > len(r.lines) {
		return n.Pos
	}
	source := []rune(r.lines[line-1])
	source = source[min(len(source), column-1):]
	offset := 0
	if len(source) > 0 && (source[0] == '"' || source[0] == '\'') {
		offset = 1
	}
	if !strings.HasPrefix(string(source[offset:]), n.Text) {
		return n.Pos
	}
	return tree.At(n.Pos.Line, n.Pos.Column+int32(offset+at))
}
