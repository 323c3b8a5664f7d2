package agent

import (
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// Routing recognises messages for this agent (the document's routing). An agent with an
// empty one can be chosen by its description alone.
type Routing struct {
	// Examples are messages for the agent. A message with one of the Keywords, words or
	// phrases, is for it too.
	Examples []string `json:"examples,omitempty" doc:"Messages that are for this agent, as a user would write them."`
	Keywords []string `json:"keywords,omitempty" doc:"Words and phrases that mark a message for this agent."`
}

// checkRouting refuses empty and repeated rules.
func (r *report) checkRouting(d *Document) {
	if d.Routing == nil {
		return
	}
	_, pointer := d.at("routing")
	written := d.config("routing")
	r.checkMarks(written.Get("keywords"), tree.Child(pointer, "keywords"), "keyword")
	r.checkMarks(written.Get("examples"), tree.Child(pointer, "examples"), "example")
}

// checkMarks refuses entries that are empty or equal but for case and spaces.
func (r *report) checkMarks(list *node, pointer, what string) {
	if list == nil || list.Kind != array {
		return
	}
	seen := map[string]bool{}
	for i, item := range list.Items {
		if item.Kind != text {
			continue // reported already
		}
		switch folded := strings.ToLower(strings.Join(strings.Fields(item.Text), " ")); {
		case folded == "":
			r.warnf(item.Pos, tree.Element(pointer, i), "write something, or take it away", "the %s is empty", what)
		case seen[folded]:
			r.warnf(item.Pos, tree.Element(pointer, i), "remove one of them", "the %s %q is there twice", what, clip(item.Text, 60))
		default:
			seen[folded] = true
		}
	}
}
