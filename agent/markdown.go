package agent

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/p8-org/p8/agent/internal/foreign"
	"github.com/p8-org/p8/internal/tree"
)

// maxFront bounds front matter, in bytes.
const maxFront = 64 << 10

// markdown is a Markdown file in two parts.
type markdown struct {
	front, body string
	// line is the first line of the body.
	line int
	// open is true if the front matter does not end.
	open bool
}

// isMarkdown reports whether a file is Markdown, by its name.
func isMarkdown(file string) bool { return strings.EqualFold(path.Ext(file), ".md") }

// splitMarkdown separates front matter, which is between two lines ---, the first of them
// the file's first line. ok is false without one.
func splitMarkdown(src []byte) (m markdown, ok bool) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	line, rest, _ := bytes.Cut(src, []byte("\n"))
	if string(bytes.TrimRight(line, " \t\r")) != "---" {
		return m, false
	}
	m.line = 2
	for at := 0; at < len(rest) && at <= maxFront; {
		line, _, ended := bytes.Cut(rest[at:], []byte("\n"))
		next := at + len(line)
		if ended {
			next++
		}
		m.line++
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			m.front, m.body = string(rest[:at]), string(rest[next:])
			return m, true
		}
		at = next
	}
	m.front, m.open = string(rest[:min(len(rest), maxFront)]), true
	return m, true
}

// Ordinary reports whether a file is Markdown and no agent, such as a README. A file with
// another ending is never ordinary.
func Ordinary(file string, src []byte) bool {
	if !isMarkdown(file) {
		return false
	}
	m, ok := splitMarkdown(src)
	if !ok {
		return true
	}
	root := newReport(file, nil).front(m)
	if root == nil {
		return !meant(m.front)
	}
	f := foreignFile(file, root)
	f.Body = &node{}
	return !foreign.IsAgent(f)
}

// frontKey is a key at the beginning of a line.
var frontKey = regexp.MustCompile(`(?m)^(name|description|tools|disallowedTools|model|color|permissionMode|mcpServers|maxTurns|skills|hooks|memory|background|isolation|effort|initialPrompt|version|tags|author|category|title|layout|date):(?:[ \t\r]|$)`)

// meant reports whether front matter that cannot be read is an agent's.
func meant(front string) bool {
	has := map[string]bool{}
	for _, key := range frontKey.FindAllStringSubmatch(front, -1) {
		has[key[1]] = true
	}
	return has["name"] && has["description"] && (has["tools"] || has["model"] || has["permissionMode"] || has["mcpServers"])
}

// front reads front matter; nil after an error.
func (r *report) front(m markdown) *node {
	if m.open {
		return nil
	}
	if root := r.frontTree(m.front); root != nil && r.list.Err() == nil {
		return root
	}
	// Other programs take a description that is no YAML, such as "Use this when: …".
	again := newReport(r.file, nil)
	if root := again.frontTree(mend(m.front)); root != nil && again.list.Err() == nil {
		r.list = nil
		return root
	}
	return nil
}

// frontTree reads YAML; nil after an error. An empty line stands for the first ---.
func (r *report) frontTree(front string) *node {
	read := r.reader()
	return r.mapping(read.Bounded(read.YAML([]byte("\n" + front))))
}

// mend puts a description into quotes: the text up to the next key. Every line stays where
// it is.
func mend(front string) string {
	lines := strings.SplitAfter(front, "\n")
	for i, line := range lines {
		value, found := strings.CutPrefix(line, "description:")
		if !found {
			continue
		}
		end := i + 1
		for end < len(lines) && !frontKey.MatchString(lines[end]) {
			end++
		}
		value = strings.TrimSpace(value + strings.Join(lines[i+1:end], ""))
		lines[i] = "description: " + string(tree.AppendQuoted(nil, value)) + strings.Repeat("\n", end-i)
		clear(lines[i+1 : end])
		break
	}
	return strings.Join(lines, "")
}

// readMarkdown reads an agent in Markdown; ok is false after an error.
func (r *report) readMarkdown(src []byte) (f foreign.File, ok bool) {
	m, found := splitMarkdown(src)
	switch {
	case !found, Ordinary(r.file, src):
		r.errorf(tree.At(1, 1), "", "begin with a line ---, name: my-agent, description: when to ask it, and a line ---; the prompt follows",
			"this Markdown is no agent: it has no front matter with the name and the description of one")
		return f, false
	case m.open:
		r.errorf(tree.At(1, 1), "", "write a line --- below its last key", "the front matter does not end within %d KiB", maxFront>>10)
		return f, false
	}
	root := r.front(m)
	if root == nil {
		return f, false
	}
	body := strings.ReplaceAll(m.body, "\r\n", "\n")
	first := len(body) - len(strings.TrimLeft(body, "\n\t "))
	line := m.line + strings.Count(body[:first], "\n")
	if body = strings.Trim(body, "\n\t "); body != "" {
		body += "\n"
	}
	f = foreignFile(r.file, root)
	f.Body = (&node{Kind: text, Text: body, Pos: tree.At(int32(line), 1)}).Measure()
	return f, true
}
