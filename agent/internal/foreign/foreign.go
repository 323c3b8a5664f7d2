// Package foreign reads the agent files of other programs: sub-agents of Claude Code, teams
// of docker-agent, agent specs of Pydantic AI and assistants of OpenAI.
//
// [Read] recognises a file by its keys and turns it into the trees of p8's documents. The
// nodes keep the positions of the file, so the checks of documents report its lines. What
// a file asks for and p8 does not have becomes a [Note], never a tool that does nothing.
package foreign

import (
	"fmt"

	"github.com/p8-org/p8/internal/tree"
)

// File is a file that was read.
type File struct {
	// Root is the mapping of the file, for Markdown that of its front matter.
	Root *tree.Node
	// Body is the text below the front matter, nil for YAML and JSON.
	Body *tree.Node
	// Name is the file's name without its folder, Stem without its ending.
	Name, Stem string
}

// Agent is one agent of a file.
type Agent struct {
	// Root is the tree of p8's document.
	Root  *tree.Node
	Notes []Note
}

// Note is something that p8 does not do, or a mistake.
type Note struct {
	// Mistake is true if the file cannot be used.
	Mistake       bool
	Pos           tree.Position
	Message, Hint string
}

// Formats are the kinds of files.
const (
	ClaudeCode      = "claude-code"
	DockerAgent     = "docker-agent"
	PydanticAI      = "pydantic-ai"
	OpenAIAssistant = "openai-assistant"
)

// format reads one kind of file.
type format struct {
	name string
	// owns reports whether a file is of this kind.
	owns func(File) bool
	read func(File) []Agent
}

// formats returns all kinds. At most one of them owns a file.
func formats() []format {
	return []format{
		{ClaudeCode, isClaude, readClaude},
		{DockerAgent, isDocker, readDocker},
		{OpenAIAssistant, isAssistant, readAssistant},
		{PydanticAI, isPydantic, readPydantic},
	}
}

// Read returns the agents of a file and its format, "" if the file is no other program's.
func Read(f File) (string, []Agent) {
	for _, format := range formats() {
		if format.owns(f) {
			return format.name, format.read(f)
		}
	}
	return "", nil
}

// IsAgent reports whether the front matter of a Markdown file is an agent's.
func IsAgent(f File) bool { return isClaude(f) }

// builder collects a document of p8.
type builder struct {
	fields map[string]tree.Member
	// schema has the members of the answer's schema.
	schema []tree.Member
	// tools are those of the agent, named their names.
	tools  []*tree.Node
	named  map[string]bool
	limits []tree.Member
	notes  []Note
}

func newBuilder() *builder {
	return &builder{fields: map[string]tree.Member{}, named: map[string]bool{}}
}

// order returns the order of a document's keys.
func order() []string {
	return []string{
		"name", "version", "short_description", "description", "structured_output", "", "tools", "agents",
		"model", "fallback", "temperature", "max_tokens", "top_p", "stop", "reasoning_effort", "limits",
		"tags", "category", "author",
	}
}

// agent returns the document; pos is where its text begins.
func (b *builder) agent(pos tree.Position) Agent {
	if len(b.tools) > 0 {
		b.put("tools", b.tools[0].Pos, &tree.Node{Kind: tree.Array, Pos: b.tools[0].Pos, Items: b.tools})
	}
	if len(b.limits) > 0 {
		b.put("limits", b.limits[0].Pos, &tree.Node{Kind: tree.Object, Pos: b.limits[0].Pos, Members: b.limits})
	}
	root := &tree.Node{Kind: tree.Object, Pos: pos, Members: []tree.Member{{Key: "type", Pos: pos, Value: text("object", pos)}}}
	for _, key := range order() {
		if key == "" {
			root.Members = append(root.Members, b.schema...)
		} else if m, ok := b.fields[key]; ok {
			root.Members = append(root.Members, m)
		}
	}
	return Agent{Root: measured(root), Notes: b.notes}
}

// measured measures the nodes that were made here; the others are measured already.
func measured(n *tree.Node) *tree.Node {
	if n.Weight == 0 {
		for _, v := range n.Items {
			measured(v)
		}
		for _, m := range n.Members {
			measured(m.Value)
		}
		n.Measure()
	}
	return n
}

func text(s string, pos tree.Position) *tree.Node {
	return &tree.Node{Kind: tree.Text, Text: s, Pos: pos}
}

func (b *builder) put(key string, pos tree.Position, value *tree.Node) {
	b.fields[key] = tree.Member{Key: key, Pos: pos, Value: value}
}

// take puts the value of a member under p8's key, unless it is null.
func (b *builder) take(key string, m tree.Member) {
	if m.Value.Kind != tree.Null {
		b.put(key, m.Pos, m.Value)
	}
}

// text puts a text, and reports any other kind of value.
func (b *builder) text(key string, m tree.Member) {
	if b.is(tree.Text, m) {
		b.take(key, m)
	}
}

// is reports whether a value has a kind. Another kind is a mistake; null is not.
func (b *builder) is(kind tree.Kind, m tree.Member) bool {
	if m.Value.Kind != kind && m.Value.Kind != tree.Null {
		b.mistake(m.Value.Pos, "", "%s must be %s, not %s", clip(m.Key), kind, m.Value.Kind)
	}
	return m.Value.Kind == kind
}

// note reports something that p8 does otherwise.
func (b *builder) note(pos tree.Position, hint, format string, args ...any) {
	b.notes = append(b.notes, Note{Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// leave reports a key that is left out.
func (b *builder) leave(m tree.Member, hint string) {
	b.note(m.Pos, hint, "%s is left out", clip(m.Key))
}

// unknown reports a key that the format does not have.
func (b *builder) unknown(m tree.Member) {
	b.note(m.Pos, "p8 does not know what it means", "the key %q is left out", clip(m.Key))
}

func (b *builder) mistake(pos tree.Position, hint, format string, args ...any) {
	b.notes = append(b.notes, Note{Mistake: true, Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// clip shortens a text of the file for a message.
func clip(s string) string {
	const limit = 60
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return s
}
