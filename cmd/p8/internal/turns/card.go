package turns

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/event"
)

// mostFields bounds the fields of a card.
const mostFields = 12

// card adds a card with the fields of an action.
func (p *pane) card(d *event.ActionData) {
	p.endText()
	lines := []string{p.cardEdge("╭ ", p.pen.Paint(term.Bold, show.OneLine(d.ActionType)))}
	fields := fieldsOf(d.Payload)
	widest := 0
	for _, f := range fields {
		widest = max(widest, term.Width(f.name))
	}
	for i, f := range fields {
		if i == mostFields {
			lines = append(lines, p.cardEdge("│ ", p.pen.Paint(term.Dim, "and "+show.Count(len(fields)-i, "more field"))))
			break
		}
		name := ""
		if widest > 0 {
			name = f.name + strings.Repeat(" ", widest-term.Width(f.name)) + "  "
		}
		lines = append(lines, p.cardEdge("│ ", p.pen.Paint(term.Dim, name)+f.value))
	}
	p.line(linePane, append(lines, p.cardEdge("╰", ""))...)
}

func (p *pane) cardEdge(mark, rest string) string { return p.pen.Paint(term.Yellow, mark) + rest }

// field is a field of a JSON object, as texts of one line.
type field struct{ name, value string }

// fieldsOf returns the fields of a JSON object in their order. Any other value is one field
// without a name.
func fieldsOf(object json.RawMessage) []field {
	in := json.NewDecoder(bytes.NewReader(object))
	if begin, err := in.Token(); err != nil || begin != json.Delim('{') {
		if text := show.OneLine(show.Cell(object)); text != "" {
			return []field{{"", text}}
		}
		return nil
	}
	var list []field
	for in.More() {
		name, err := in.Token()
		var value json.RawMessage
		if err != nil || in.Decode(&value) != nil {
			break
		}
		key, _ := name.(string)
		list = append(list, field{show.OneLine(key), show.OneLine(show.Cell(value))})
	}
	return list
}

// choices returns the titles of the buttons of a card that asks something, "" for none.
func choices(card json.RawMessage) string {
	var c struct {
		Actions []struct {
			Title string `json:"title"`
		} `json:"actions"`
	}
	_ = json.Unmarshal(card, &c)
	var titles []string
	for _, a := range c.Actions {
		if a.Title != "" {
			titles = append(titles, "["+show.OneLine(a.Title)+"]")
		}
	}
	return show.OneLine(strings.Join(titles, " "))
}
