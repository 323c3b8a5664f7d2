package foreign

import (
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/internal/tree"
)

// isDocker reports whether a file is a team of docker-agent: agents is a mapping, in p8's
// documents a list, and no other key is p8's.
func isDocker(f File) bool {
	agents := f.Root.Get("agents")
	if f.Body != nil || agents == nil || agents.Kind != tree.Object {
		return false
	}
	for _, key := range []string{"type", "description", "properties", "json_schema_extra", "tools", "services"} {
		if f.Root.Get(key) != nil {
			return false
		}
	}
	return true
}

// team is a file of docker-agent.
type team struct {
	file   File
	agents *tree.Node
	// names are p8's names of the agents, by those of the file.
	names map[string]string
}

// readDocker reads the agents of a team, the one that users talk to first.
func readDocker(f File) []Agent {
	t := team{file: f, agents: f.Root.Get("agents"), names: map[string]string{}}
	order := slices.Clone(t.agents.Members)
	if i := slices.IndexFunc(order, func(m tree.Member) bool { return m.Key == "root" }); i > 0 {
		root := order[i]
		order = slices.Insert(slices.Delete(order, i, i+1), 0, root)
	}
	for _, m := range order {
		t.names[m.Key] = t.name(m.Key)
	}
	var list []Agent
	for i, m := range order {
		b := newBuilder()
		if i == 0 {
			t.top(b)
		}
		list = append(list, t.read(b, m))
	}
	if len(list) == 0 {
		b := newBuilder()
		b.mistake(t.agents.Pos, "add root: with description and instruction", "agents has no agent")
		list = append(list, b.agent(f.Root.Pos))
	}
	return list
}

// name returns p8's name of an agent. Every team has a root, so that one gets the name of
// the file.
func (t *team) name(key string) string {
	switch {
	case key != "root" || t.file.Stem == "":
		return key
	case t.agents.Get(t.file.Stem) != nil:
		return t.file.Stem + "-root"
	}
	return t.file.Stem
}

// top reports what the file says besides agents and models.
func (t *team) top(b *builder) {
	for _, m := range t.file.Root.Members {
		switch m.Key {
		case "version", "agents", "models", "providers":
		case "metadata":
			if author := m.Value.Get("author"); author != nil {
				b.text("author", tree.Member{Key: "author", Pos: author.Pos, Value: author})
			}
		case "mcps":
			b.leave(m, serverHint(""))
		case "rag":
			b.leave(m, noKnowledge)
		case "permissions":
			b.leave(m, "write approval: always, or rules, at the tools that must ask")
		default:
			b.unknown(m)
		}
	}
}

const noKnowledge = "store the documents with `p8 upsert` and add the tool search"

// read reads one agent.
func (t *team) read(b *builder, agent tree.Member) Agent {
	b.put("name", agent.Pos, text(t.names[agent.Key], agent.Pos))
	if agent.Value.Kind != tree.Object {
		b.mistake(agent.Value.Pos, "write description, instruction and model below it", "the agent %q must be a mapping, not %s", clip(agent.Key), agent.Value.Kind)
		return b.agent(agent.Pos)
	}
	for _, m := range agent.Value.Members {
		switch m.Key {
		case "instruction":
			b.is(tree.Text, m)
		case "description":
			b.text("short_description", m)
		case "model":
			if b.is(tree.Text, m) {
				t.model(b, m.Value)
			}
		case "fallback":
			t.fallback(b, m)
		case "sub_agents":
			t.ask(b, m)
		case "handoffs":
			t.handOver(b, m)
		case "toolsets":
			b.toolsets(m)
		case "structured_output":
			b.answer(m, m.Value.Get("schema"))
		case "max_iterations":
			b.limit(m)
		case "add_date": // every agent of p8 gets the date
		case "rag":
			b.leave(m, noKnowledge)
		case "skills":
			if m.Value.Text != "false" {
				b.leave(m, noSkill)
			}
		case "add_prompt_files":
			b.leave(m, "write what the files say into the prompt")
		case "num_history_items":
			b.leave(m, "p8 keeps the context within a budget of tokens")
		case "add_environment_info", "welcome_message", "commands", "code_mode_tools", "add_description_parameter", "hooks":
			b.leave(m, "p8 has nothing like it")
		default:
			b.unknown(m)
		}
	}
	b.prompt("instruction", agent.Value.Get("instruction"), agent.Pos)
	return b.agent(agent.Pos)
}

// maxNotes bounds the notes; fewer are shown.
const maxNotes = 100

// own returns the agents of the team that a list names. It reports the others.
func (t *team) own(b *builder, m tree.Member) []*tree.Node {
	if !b.is(tree.Array, m) {
		return nil
	}
	var list []*tree.Node
	for _, v := range m.Value.Items {
		if len(b.notes) > maxNotes {
			break
		}
		name := v.Str()
		switch own := t.names[name]; {
		case own != "":
			list = append(list, ref(own, t.agents.Get(name).Get("description"), v.Pos))
		case strings.ContainsAny(name, "/:"):
			b.note(v.Pos, "store its document in p8, and name it in agents", "the agent %q of another place is left out", clip(name))
		default:
			hint := "name an agent of this file"
			if similar := near.Names(name, t.keys(), 1); len(similar) > 0 {
				hint = "did you mean " + similar[0] + "?"
			}
			b.mistake(v.Pos, hint, "%s names %q, which is no agent of this file", m.Key, clip(name))
		}
	}
	return list
}

// ref names an agent and says when to ask it.
func ref(name string, description *tree.Node, pos tree.Position) *tree.Node {
	n := &tree.Node{Kind: tree.Object, Pos: pos, Members: []tree.Member{{Key: "name", Pos: pos, Value: text(name, pos)}}}
	if description.Str() == "" {
		return n
	}
	n.Members = append(n.Members, tree.Member{Key: "description", Pos: description.Pos, Value: description})
	return n
}

func (t *team) keys() []string {
	var keys []string
	for _, m := range t.agents.Members {
		keys = append(keys, m.Key)
	}
	return keys
}

// ask lets an agent ask its sub-agents.
func (t *team) ask(b *builder, m tree.Member) {
	if list := t.own(b, m); len(list) > 0 {
		b.tool(m.Pos, "ask_agent")
		b.put("agents", m.Pos, &tree.Node{Kind: tree.Array, Pos: m.Value.Pos, Items: list})
	}
}

// handOver lets an agent hand the session over.
func (t *team) handOver(b *builder, m tree.Member) {
	if list := t.own(b, m); len(list) > 0 {
		b.tool(m.Pos, "transfer_to_agent")
		b.note(m.Pos, "name them in the prompt", "transfer_to_agent hands over to any agent, not only to those of handoffs")
	}
}
