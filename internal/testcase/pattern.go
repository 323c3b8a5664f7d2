package testcase

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/internal/tree"
)

// Pattern describes an event: its type, and what its data must have besides.
type Pattern struct {
	Type event.Type
	// Agent is the path of the agent; "" is any.
	Agent string
	// Data is a subset of the event's data; nil is any.
	Data map[string]any
	// text is the pattern as it is written.
	text string
}

// patterns reads a list of patterns: names of types, or mappings with type and fields.
func (p *parser) patterns(n *tree.Node) []Pattern {
	if n == nil {
		return nil
	}
	if n.Kind != tree.Array {
		p.report(n.Pos, "write a list, such as [tool_call, text, done]", "events must be a list, not %s", n.Kind)
		return nil
	}
	var out []Pattern
	for _, item := range n.Items {
		x := Pattern{text: string(raw(item))}
		name := item
		if item.Kind == tree.Object {
			if name = item.Get("type"); name == nil {
				p.report(item.Pos, "add type:", "the event has no type")
				continue
			}
		}
		if name.Kind != tree.Text || x.Type.UnmarshalText([]byte(name.Text)) != nil {
			hint := "see docs/events.md"
			if similar := near.Names(name.Text, types(), 1); len(similar) > 0 {
				hint = "did you mean " + similar[0] + "?"
			}
			p.report(name.Pos, hint, "there is no event of the type %s", tree.Clip(string(raw(name)), 60))
			continue
		}
		if item.Kind == tree.Object {
			x.Agent = item.Get("agent").Str()
			x.Data, _ = decode(raw(item)).(map[string]any)
			delete(x.Data, "type")
			delete(x.Data, "agent")
		}
		out = append(out, x)
	}
	return out
}

// types are the names of all types of events.
func types() []string {
	var names []string
	for t := event.Progress; t <= event.Done; t++ {
		names = append(names, t.String())
	}
	return names
}

func decode(raw []byte) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

// matches reports whether an event is one of the pattern.
func (p *Pattern) matches(e event.Event) bool {
	if e.Type != p.Type || p.Agent != "" && p.Agent != e.Agent {
		return false
	}
	if len(p.Data) == 0 {
		return true
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return false
	}
	whole, _ := decode(raw).(map[string]any)
	data, _ := whole["data"].(map[string]any)
	if data == nil {
		data = map[string]any{"text": whole["text"]}
	}
	return within(p.Data, data)
}

// within reports whether each field of want is in got. Lists are compared as a whole.
func within(want, got any) bool {
	w, ok := want.(map[string]any)
	if !ok {
		return reflect.DeepEqual(want, got)
	}
	g, ok := got.(map[string]any)
	if !ok {
		return false
	}
	for k, v := range w {
		if value, there := g[k]; !there || !within(v, value) {
			return false
		}
	}
	return true
}

// missing returns the first pattern that no event matches, in this order; other events may
// come between.
func missing(patterns []Pattern, events []event.Event) (problem string) {
	at := 0
	for i, p := range patterns {
		found := false
		for at < len(events) && !found {
			found = p.matches(events[at])
			at++
		}
		if found {
			continue
		}
		after := ""
		if i > 0 {
			after = " after " + patterns[i-1].text
		}
		return fmt.Sprintf("there was no event %s%s", p.text, after)
	}
	return ""
}
