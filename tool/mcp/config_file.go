package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/tool"
)

// configFile reads the servers of an mcpServers file and collects its problems.
type configFile struct {
	name   string
	src    []byte
	getenv func(string) string
	log    *slog.Logger
	errs   []error
}

// The keys of a server. otherKeys belong to desktop programs and are ignored here.
var (
	serverKeys = []string{"command", "args", "env", "cwd", "url", "type", "transport", "headers", "disabled", "oauth"}
	oauthKeys  = []string{"client_id", "client_secret", "grant", "scopes", "token_url"}
	otherKeys  = []string{"alwaysAllow", "autoApprove", "description", "dev", "disabledTools", "enabled", "enabledTools", "envFile",
		"excludeTools", "gallery", "icon", "includeTools", "name", "startupTimeout", "timeout", "tools", "trust", "version"}
)

// read adds the servers to entries.
func (f *configFile) read(entries map[string]*entry) []error {
	root, at, err := parseJSON(f.src)
	if err != nil {
		f.wrong(at, "the file is not valid JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
		return f.errs
	}
	if !root.object {
		f.wrong(root.offset, `the file must be an object: {"mcpServers": {"name": {"command": "…"}}}`)
		return f.errs
	}
	found := false
	for _, m := range root.members {
		switch m.key {
		case "mcpServers", "servers":
			found = true
			f.servers(m.value, entries)
		default:
			if similar := near.Names(m.key, []string{"mcpServers", "servers"}, 1); len(similar) > 0 {
				f.wrong(m.offset, "the key %q is unknown: did you mean %s?", clip(m.key), similar[0])
				found = true
			}
		}
	}
	if !found {
		f.wrong(root.offset, "the file has no mcpServers")
	}
	return f.errs
}

// wrong adds a problem with its place.
func (f *configFile) wrong(offset int, format string, args ...any) {
	const most = 50
	if len(f.errs) == most {
		return
	}
	f.errs = append(f.errs, errors.New(f.place(offset)+fmt.Sprintf(format, args...)))
}

func (f *configFile) place(offset int) string {
	before := f.src[:min(offset, len(f.src))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("%s:%d:%d: ", f.name, line, column)
}

func (f *configFile) servers(n *node, entries map[string]*entry) {
	if !n.object {
		f.wrong(n.offset, "the servers must be an object, a name for each")
		return
	}
	seen := map[string]string{}
	for _, m := range n.members {
		k := key(m.key)
		switch before, double := seen[k]; {
		case double:
			f.wrong(m.offset, "the server %q is the same as %q: rename one of them", clip(m.key), clip(before))
			continue
		case k == "" || len(k) > 64 || strings.ContainsAny(k, "/\\\n"):
			f.wrong(m.offset, "the name of a server has 1 to 64 characters and no slash")
			continue
		case !usable(k, f.place(m.offset), f.log):
			continue
		}
		seen[k] = m.key
		if e := f.server(m); e != nil {
			entries[k] = e
		}
	}
}

// server returns one entry, nil for a disabled or wrong one.
func (f *configFile) server(m member) *entry {
	if !m.value.object {
		f.wrong(m.value.offset, "the server %q must be an object with command or url", clip(m.key))
		return nil
	}
	if disabled := m.value.member("disabled"); disabled != nil && disabled.value == true {
		return nil
	}
	errs := len(f.errs)
	e := &entry{name: strings.ToLower(strings.TrimSpace(m.key))}
	var kindAt int
	for _, field := range m.value.members {
		switch field.key {
		case "command":
			e.command = f.text(field)
		case "args":
			e.args = f.texts(field)
		case "env":
			e.env = f.table(field)
		case "cwd":
			e.cwd = f.text(field)
		case "url":
			if text := f.text(field); text != "" {
				u, err := parseURL(text)
				if err != nil {
					f.wrong(field.value.offset, "%v", err)
				}
				e.url = u
			}
		case "type", "transport":
			e.kind, kindAt = f.kind(field), field.value.offset
		case "headers":
			e.headers = f.table(field)
		case "oauth":
			e.oauth = f.oauth(field)
		case "disabled":
			if _, ok := field.value.value.(bool); !ok {
				f.wrong(field.value.offset, "disabled must be true or false")
			}
		default:
			f.unknown(field, serverKeys)
		}
	}
	if len(f.errs) == errs {
		f.together(m, e, kindAt)
	}
	if len(f.errs) > errs {
		return nil
	}
	return e
}

// together checks the fields of a server against one another.
func (f *configFile) together(m member, e *entry, kindAt int) {
	switch {
	case e.command == "" && e.url == nil:
		f.wrong(m.value.offset, "the server %q has neither command nor url", clip(m.key))
	case e.command != "" && e.url != nil:
		f.wrong(m.value.offset, "the server %q has command and url: take one of them away", clip(m.key))
	case e.command != "" && e.kind != kindAuto && e.kind != kindStdio:
		f.wrong(kindAt, "the server %q has a command: its type is stdio", clip(m.key))
	case e.url != nil && e.kind == kindStdio:
		f.wrong(kindAt, "the server %q has a url: its type is http or sse", clip(m.key))
	}
	if e.command != "" {
		e.kind = kindStdio
	}
}

func (f *configFile) kind(m member) string {
	kinds := map[string]string{
		"stdio": kindStdio, "http": kindStreamable, "streamable-http": kindStreamable,
		"streamablehttp": kindStreamable, "streamable_http": kindStreamable, "sse": kindSSE,
	}
	text := f.text(m)
	kind, ok := kinds[strings.ToLower(text)]
	if !ok && text != "" {
		f.wrong(m.value.offset, "the %s %q is unknown: it is stdio, http or sse", m.key, clip(text))
	}
	return kind
}

// unknown refuses a key that looks misspelt, and ignores those of other programs.
func (f *configFile) unknown(m member, known []string) {
	if slices.Contains(otherKeys, m.key) {
		return
	}
	if similar := near.Names(m.key, known, 1); len(similar) > 0 {
		f.wrong(m.offset, "the key %q is unknown: did you mean %s?", clip(m.key), similar[0])
		return
	}
	f.log.Warn("a key in the file of MCP servers is not used", "at", strings.TrimSuffix(f.place(m.offset), ": "), "key", clip(m.key))
}

// text returns a string with its variables expanded.
func (f *configFile) text(m member) string { return f.string(m.key, m.value) }

func (f *configFile) string(name string, n *node) string {
	var text string
	switch v := n.value.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = fmt.Sprint(v)
	default:
		f.wrong(n.offset, "%s must be text", name)
		return ""
	}
	out, err := expand(text, f.getenv)
	if err != nil {
		f.wrong(n.offset, "%s: %v", name, err)
		return ""
	}
	return out
}

func (f *configFile) texts(m member) []string {
	if !m.value.list {
		f.wrong(m.value.offset, "%s must be a list of texts", m.key)
		return nil
	}
	out := make([]string, len(m.value.items))
	for i, item := range m.value.items {
		out[i] = f.string(m.key, item)
	}
	return out
}

func (f *configFile) table(m member) map[string]string {
	if !m.value.object {
		f.wrong(m.value.offset, "%s must be an object of texts", m.key)
		return nil
	}
	out := make(map[string]string, len(m.value.members))
	for _, field := range m.value.members {
		out[field.key] = f.text(field)
	}
	return out
}

// member returns the value of a key, nil if it is absent.
func (n *node) member(name string) *node {
	for _, m := range n.members {
		if m.key == name {
			return m.value
		}
	}
	return nil
}

// clip shortens a text of the file for a message.
func clip(s string) string { return tool.Cut(s, 60) }
