package agent

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/p8-org/p8/agent/internal/foreign"
)

// maxAgents bounds the agents of one file.
const maxAgents = 100

// ParseFile reads the agents of a file: a document of p8, as [Parse] does, or the file of
// another program. These are sub-agents of Claude Code (.md), teams of docker-agent and
// agent specs of Pydantic AI (.yaml, .yml, .json), and assistants of OpenAI (.json). The
// keys of the file decide; [Document.Format] says which it is. The first document is the
// agent that users talk to. What p8 does not have is a warning.
//
// The error is [Problems]. Markdown that is no agent has one, too; see [Ordinary].
func ParseFile(file string, src []byte) ([]*Document, error) {
	r := newReport(file, src)
	f, ok := r.readFile(src)
	if !ok {
		return nil, r.list
	}
	format, agents := foreign.Read(f)
	if len(agents) > maxAgents {
		r.errorf(f.Root.Pos, "", "split it", "the file has %d agents; at most %d are read", len(agents), maxAgents)
		return nil, r.list
	}
	if format == "" {
		d, err := r.document(f.Root)
		if err != nil {
			return nil, err
		}
		return []*Document{d}, nil
	}
	var docs []*Document
	var problems Problems
	for _, a := range agents {
		d, all := r.foreign(format, a)
		problems = append(problems, all...)
		docs = append(docs, d)
	}
	if problems = append(problems, twins(docs)...); problems.Err() != nil {
		return nil, once(problems)
	}
	return docs, nil
}

// once sorts problems and drops repeated ones: agents may share a model with a mistake.
func once(problems Problems) Problems {
	problems.sort()
	return slices.Compact(problems)
}

// readFile reads Markdown, YAML or JSON; ok is false after an error.
func (r *report) readFile(src []byte) (f foreign.File, ok bool) {
	if !isMarkdown(r.file) {
		root := r.read(src)
		return foreignFile(r.file, root), root != nil
	}
	if !r.reader().Legible(src) {
		return f, false
	}
	return r.readMarkdown(src)
}

func foreignFile(file string, root *node) foreign.File {
	return foreign.File{Root: root, Name: file[strings.LastIndexAny(file, `/\`)+1:], Stem: nameOf(file)}
}

// foreign checks the document of another program's agent. It returns all problems.
func (r *report) foreign(format string, a foreign.Agent) (*Document, Problems) {
	own := &report{file: r.file, lines: r.lines, count: map[Severity]int{}}
	mistaken := false
	for _, n := range a.Notes {
		severity := SeverityWarning
		if n.Mistake {
			severity, mistaken = SeverityError, true
		}
		own.add(severity, n.Pos, "", n.Hint, "%s", n.Message)
	}
	if mistaken { // problems that follow from a mistake are not reported
		return nil, own.list
	}
	notes := slices.Clone(own.list)
	notes.sort()
	d, err := own.document(a.Root)
	if err != nil {
		return nil, own.list
	}
	d.Format, d.left = format, notes
	return d, d.Warnings
}

// twins reports agents of one file that have the same name.
func twins(docs []*Document) Problems {
	taken := map[string]bool{}
	var list Problems
	for _, d := range docs {
		if d == nil {
			continue
		}
		names := d.Names()
		if slices.ContainsFunc(names, func(name string) bool { return taken[name] }) {
			pos, pointer := d.at("name")
			r := &report{file: d.report.file, lines: d.report.lines, count: map[Severity]int{}}
			r.errorf(pos, pointer, "give each its own", "the file has two agents named %s", clip(names[0], 60))
			list = append(list, r.list...)
		}
		for _, name := range names {
			taken[name] = true
		}
	}
	return list
}

// Convert returns the document as YAML, for one of another program with comments that say
// where it comes from and what is left out.
func (d *Document) Convert() ([]byte, error) {
	text, err := d.MarshalYAML()
	if err != nil || d.Format == "" {
		return text, err
	}
	var b strings.Builder
	comment := func(s string) { b.WriteString("# " + strings.Map(printable, s) + "\n") }
	comment("Converted from " + path.Base(strings.ReplaceAll(d.report.file, `\`, "/")) + " (" + d.Format + ").")
	if len(d.left) > 0 {
		comment("What is different here:")
	}
	for _, p := range d.left {
		where := fmt.Sprintf("- line %d: ", p.Line)
		p.Line, p.Pointer, p.File, p.Severity = 0, "", "", ""
		comment(where + p.Error())
	}
	return append([]byte(b.String()), text...), nil
}

// printable replaces what does not belong into a comment of one line.
func printable(c rune) rune {
	if c < ' ' || c >= 0x7f && c <= 0xa0 || c == 0x2028 || c == 0x2029 || c >= 0xfe00 && c <= 0xffff {
		return ' '
	}
	return c
}
