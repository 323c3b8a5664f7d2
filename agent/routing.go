package agent

import "strings"

// Routing is how a router recognises that a message is for this agent (the document's
// routing). An empty one says that the agent may be chosen, by its description alone.
type Routing struct {
	// Examples are messages that are for it; Keywords words and phrases, any of which
	// marks one.
	Examples []string `json:"examples,omitempty" doc:"Messages that are for this agent, as a user would write them."`
	Keywords []string `json:"keywords,omitempty" doc:"Words and phrases that mark a message for this agent."`
}

// checkRouting: rules that say something, each once.
func (r *report) checkRouting(d *Document) {
	if d.Routing == nil {
		return
	}
	_, pointer := d.at("routing")
	written := d.config("routing")
	r.checkMarks(written.get("keywords"), child(pointer, "keywords"), "keyword")
	r.checkMarks(written.get("examples"), child(pointer, "examples"), "example")
}

// checkMarks: no entry is empty or there twice, whatever its case and spaces.
func (r *report) checkMarks(list *node, pointer, what string) {
	if list == nil || list.kind != array {
		return
	}
	seen := map[string]bool{}
	for i, item := range list.items {
		if item.kind != text {
			continue // said already
		}
		switch folded := strings.ToLower(strings.Join(strings.Fields(item.text), " ")); {
		case folded == "":
			r.warnf(item.pos, element(pointer, i), "write something, or take it away", "the %s is empty", what)
		case seen[folded]:
			r.warnf(item.pos, element(pointer, i), "remove one of them", "the %s %q is there twice", what, clip(item.text, 60))
		default:
			seen[folded] = true
		}
	}
}
