package foreign

import (
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// prompt puts the system prompt. Without one, the description of the agent takes its place;
// without both it is empty, which the checks of documents report. key is what the format
// calls the prompt.
func (b *builder) prompt(key string, prompt *tree.Node, pos tree.Position) {
	about, described := b.fields["short_description"]
	switch {
	case prompt != nil && prompt.Kind == tree.Text && strings.TrimSpace(prompt.Text) != "":
		b.put("description", prompt.Pos, prompt)
	case described && about.Value.Kind == tree.Text && strings.TrimSpace(about.Value.Text) != "":
		b.note(pos, "", "the agent has no %s: its description is the prompt", key)
		delete(b.fields, "short_description")
		b.put("description", about.Pos, about.Value)
	case prompt == nil || prompt.Kind == tree.Null || prompt.Kind == tree.Text:
		b.put("description", pos, text("", pos))
	}
}

// answer makes the agent answer with JSON that follows a schema; at is the key that has it.
func (b *builder) answer(at tree.Member, schema *tree.Node) {
	if schema == nil || schema.Kind != tree.Object {
		b.mistake(at.Value.Pos, "write a JSON Schema of type object", "%s has no schema", clip(at.Key))
		return
	}
	if kind := schema.Get("type"); kind != nil && kind.Str() != "object" {
		b.mistake(kind.Pos, "put the value into a property of an object", "an answer must be an object")
		return
	}
	b.put("structured_output", at.Pos, &tree.Node{Kind: tree.Boolean, Text: "true", Pos: at.Pos})
	for _, m := range schema.Members {
		switch {
		case m.Key == "type":
		case m.Key == "title":
		case m.Key == "description":
			b.note(m.Pos, "say it in the prompt", "the description of the whole answer is left out")
		case tree.IsSchemaKey(m.Key):
			b.schema = append(b.schema, m)
		default:
			b.note(m.Pos, "it is no keyword of JSON Schema", "the key %q of the schema is left out", clip(m.Key))
		}
	}
}

// effort puts how much the model thinks.
func (b *builder) effort(m tree.Member) {
	switch v := m.Value; {
	case v.Kind == tree.Null, v.Kind == tree.Boolean && v.Text == "true":
	case v.Kind == tree.Boolean:
		b.put("reasoning_effort", m.Pos, text("none", v.Pos))
	case v.Kind == tree.Text && isEffort(v.Text):
		b.put("reasoning_effort", m.Pos, v)
	default:
		b.note(v.Pos, "write reasoning_effort: none, minimal, low, medium or high", "%s is left out", clip(m.Key))
	}
}

func isEffort(s string) bool {
	switch s {
	case "none", "minimal", "low", "medium", "high":
		return true
	}
	return false
}

// limit bounds the calls of the model. 0 is no bound.
func (b *builder) limit(m tree.Member) {
	if b.is(tree.Number, m) && m.Value.Text != "0" {
		b.limits = append(b.limits, tree.Member{Key: "request_limit", Pos: m.Pos, Value: m.Value})
	}
}
