package agent

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/internal/tree"
)

var semver = regexp.MustCompile(`^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)

// at returns the position of a configuration key, in json_schema_extra or at the
// root; the beginning of the document if it is absent.
func (d *Document) at(key string) (position, string) {
	for _, m := range d.root.Get(extraKey).List() {
		if m.Key == key {
			return m.Pos, "/" + extraKey + tree.Child("", key)
		}
	}
	for _, m := range d.root.Members {
		if m.Key == key {
			return m.Pos, tree.Child("", key)
		}
	}
	return d.root.Pos, ""
}

// checkNames requires a usable name and a prompt.
func (r *report) checkNames(d *Document) {
	if d.Name == "" && d.ShortName == "" && d.FullyQualifiedName == "" {
		where := "at the top"
		if d.Dialect == Nested {
			where = "in " + extraKey
		}
		r.errorf(d.root.Pos, "", "add name: my-agent "+where,
			"the document has no name: one of name, short_name and fully_qualified_name is required")
	} else if len(d.allNames()) == 0 || Kebab(d.Name+d.ShortName+d.FullyQualifiedName) == "" {
		pos, pointer := d.at("name")
		r.errorf(pos, pointer, "use letters, digits and dashes", "the name has no letter or digit")
	}
	for _, n := range [][2]string{{"name", d.Name}, {"short_name", d.ShortName}, {"fully_qualified_name", d.FullyQualifiedName}} {
		pos, pointer := d.at(n[0])
		switch {
		case len(n[1]) > maxName:
			r.errorf(pos, pointer, "shorten it", "%s is longer than %d bytes", n[0], maxName)
		case strings.ContainsAny(n[1], `/\`) || strings.Contains(n[1], ".."):
			r.errorf(pos, pointer, "use letters, digits, dashes and single dots", "%s looks like a path", n[0])
		case strings.TrimSpace(n[1]) != n[1] || strings.ContainsFunc(n[1], unicode.IsControl):
			r.errorf(pos, pointer, "use letters, digits and dashes", "%s has white space around it or control characters in it", n[0])
		}
	}
	if d.Version != "" && !semver.MatchString(d.Version) {
		pos, pointer := d.at("version")
		r.warnf(pos, pointer, "write it as 1.0.0", "version %q is not MAJOR.MINOR.PATCH", clip(d.Version, 60))
	}
	if n := d.root.Get("description"); n == nil {
		r.errorf(d.root.Pos, "", "add description: | with who the agent is and what it does", "description is missing: it is the system prompt")
	} else if n.Kind == text && strings.TrimSpace(n.Text) == "" || n.Kind == null {
		r.warnf(n.Pos, "/description", "say who the agent is and what it does", "description is empty: the agent has no system prompt")
	}
}

// checkTools refuses two tools with one name, and invalid names of models.
func (r *report) checkTools(d *Document) {
	pos, pointer := d.at("tools")
	items := d.config("tools")
	seen := map[[2]string]bool{}
	for i, t := range d.Tools {
		at, p := pos, pointer
		if items != nil && i < len(items.Items) {
			at, p = items.Items[i].Pos, tree.Element(pointer, i)
		}
		server := t.Server
		if t.Local() {
			server = ""
		}
		if t.Name != "" && seen[[2]string{server, t.Name}] {
			r.errorf(at, p, "remove one of them; the model could not tell them apart", "the tool %q is declared twice", clip(t.Name, 60))
		}
		seen[[2]string{server, t.Name}] = true
		if t.ApprovalMessage != "" && (t.Approval == nil || !t.Approval.Always && len(t.Approval.Rules) == 0) {
			r.warnf(at, p, "add approval: always, or rules", "the tool %q has an approval_message and asks for no approval", clip(t.Name, 60))
		}
		if t.IfInterrupted != "" && t.Local() && t.Name == askAgent {
			r.warnf(at, p, "take if_interrupted away", "if_interrupted has no effect on %s: after a crash, the run of the agent that it asked is resumed", askAgent)
		}
	}
	for _, m := range [][2]string{{"model", d.Model}, {"override_model", d.OverrideModel}, {"routing_model", d.RoutingModel}, {"chained_tool", d.ChainedTool}} {
		if strings.ContainsFunc(m[1], unicode.IsSpace) {
			pos, pointer := d.at(m[0])
			r.errorf(pos, pointer, "write one name", "%s cannot contain white space", m[0])
		}
	}
}

// askAgent is the tool with which agents ask agents.
const askAgent = "ask_agent"

// checkAgents requires that every agent is named once.
func (r *report) checkAgents(d *Document) {
	seen := map[string]bool{}
	for i, a := range d.Agents {
		at, p := d.item("agents", i)
		name := Kebab(a.Name)
		switch {
		case a.Name == "": // reported already
		case name == "":
			r.errorf(at, p, "use letters, digits and dashes", "the name of the agent has no letter or digit")
		case seen[name]:
			r.warnf(at, p, "remove one of them", "the agent %q is named twice", clip(a.Name, 60))
		}
		seen[name] = true
	}
}

// config returns the value of a configuration key in either place.
func (d *Document) config(key string) *node {
	if n := d.root.Get(extraKey).Get(key); n != nil {
		return n
	}
	return d.root.Get(key)
}

// checkModes checks fields that depend on each other.
func (r *report) checkModes(d *Document) {
	properties := d.root.Get("properties")
	if d.StructuredOutput && len(properties.List()) == 0 {
		pos, pointer := d.at("structured_output")
		r.errorf(pos, pointer, "add properties, or take structured_output away", "structured_output needs properties: there is nothing to answer with")
	}
	if d.ChainedTool != "" && !d.StructuredOutput {
		pos, pointer := d.at("chained_tool")
		r.warnf(pos, pointer, "add structured_output: true", "chained_tool is only called with a structured answer")
	}
	if d.config("mcp_servers") != nil {
		pos, pointer := d.at("mcp_servers")
		r.warnf(pos, pointer, "name the server of each tool in tools", "mcp_servers is no longer used")
	}
}

// CheckTools compares the declared tools with those that exist: names of this
// process's tools, "server/name" for those of MCP servers, and "server/" for a
// server whose tools need not be known. Each tool that does not exist is a
// warning with the nearest name, or all names; for a server that does not exist,
// the nearest server. For a resource, and a tool that reads one, only the server is
// checked.
func (d *Document) CheckTools(known []string) Problems {
	r := &report{file: d.report.file, lines: d.report.lines, count: map[Severity]int{}}
	k := knownTools(known)
	for i, t := range d.Tools {
		at, p := d.item("tools", i)
		servers := k.servers[near.Fold(t.Server)]
		switch {
		case t.reads():
		case t.LocalBeside(k.servers[ServerREM] != nil) && slices.Contains(k.names, t.Name) || !t.LocalBeside(k.servers[ServerREM] != nil) && slices.Contains(servers, t.Name):
		case t.LocalBeside(k.servers[ServerREM] != nil):
			r.warnf(at, p, cmp.Or(didYouMean(t.Name, k.names), listed(k.names)), "the tool %q does not exist here and is left out", clip(t.Name, 60))
		case servers == nil && len(k.serverNames) > 0:
			r.warnf(at, p, cmp.Or(didYouMean(t.Server, k.serverNames), "there are "+strings.Join(k.serverNames[:min(8, len(k.serverNames))], ", ")),
				"the MCP server %q of the tool %q does not exist here and the tool is left out", clip(t.Server, 60), clip(t.Name, 60))
		case servers == nil:
			r.warnf(at, p, "set MCP_SERVER_<NAME> or P8_MCP_CONFIG", "the tool %q is left out: no MCP server is configured here, %q is needed", clip(t.Name, 60), clip(t.Server, 60))
		case len(servers) > 0:
			hint := ""
			if similar := near.Names(t.Name, servers, 1); len(similar) > 0 {
				hint = "did you mean " + t.Server + "/" + similar[0] + "?"
			}
			r.warnf(at, p, cmp.Or(hint, listed(servers)), "the tool %q of the server %q does not exist here and is left out", clip(t.Name, 60), clip(t.Server, 60))
		}
	}
	r.checkServers(d, k)
	r.checkChained(d, k)
	return r.list
}

// checkChained requires that the chained tool is one of this process,
// "server/name", or declared in tools.
func (r *report) checkChained(d *Document, k toolNames) {
	name := d.ChainedTool
	server, remote, found := strings.Cut(name, "/")
	servers := k.servers[near.Fold(server)]
	switch {
	case name == "", slices.Contains(k.names, name):
	case slices.ContainsFunc(d.Tools, func(t ToolRef) bool { return t.Name == name }):
	case found && (slices.Contains(servers, remote) || servers != nil && len(servers) == 0):
	default:
		pos, pointer := d.at("chained_tool")
		r.warnf(pos, pointer, cmp.Or(didYouMean(name, k.names), listed(k.names)), "the chained tool %q does not exist here; the answer is given all the same", clip(name, 60))
	}
}

// toolNames are the tools that exist, by server.
type toolNames struct {
	// names are all tools, as passed to CheckTools.
	names       []string
	serverNames []string
	// servers holds the tools of each server by its folded name; the list
	// of a server whose tools are not known is empty, not nil.
	servers map[string][]string
}

func knownTools(known []string) toolNames {
	k := toolNames{servers: map[string][]string{}}
	for _, full := range known {
		server, name, remote := strings.Cut(full, "/")
		if remote && k.servers[near.Fold(server)] == nil {
			k.serverNames = append(k.serverNames, server)
			k.servers[near.Fold(server)] = []string{}
		}
		if remote && name != "" {
			k.servers[near.Fold(server)] = append(k.servers[near.Fold(server)], name)
		}
		if !remote || name != "" {
			k.names = append(k.names, full)
		}
	}
	return k
}

// listed returns the tools that fit into a hint.
func listed(known []string) string {
	const most = 8
	switch {
	case len(known) == 0:
		return "there are no tools here"
	case len(known) > most:
		return "there are " + strings.Join(known[:most], ", ") + " and more"
	}
	return "there are " + strings.Join(known, ", ")
}

// didYouMean returns a hint with the name nearest to name, "" if no name is similar.
func didYouMean(name string, names []string) string {
	if similar := near.Names(name, names, 1); len(similar) > 0 {
		return "did you mean " + similar[0] + "?"
	}
	return ""
}
