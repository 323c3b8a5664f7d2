package converse

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/documents"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/cmd/p8/internal/watch"
)

// development is what p8 dev adds to a chat: a watched folder.
type development struct {
	dir     string
	folder  *watch.Folder
	reports chan watch.Report
	// wants is the agent that the user named, "" for any of the folder; agent is the one of
	// the folder that answers, "" if none does.
	wants, agent string
	// broken: wants is a document with errors.
	broken bool
	// mistaken maps agents to the files that had them before they got errors.
	mistaken map[string]string
}

// newDevelopment reads the folder.
func newDevelopment(t *turns.Runner, dir, wants string, checker *documents.Checker) (*development, error) {
	d := &development{dir: dir, wants: wants, reports: make(chan watch.Report), mistaken: map[string]string{}}
	entries, err := t.Catalog.List(t.Ctx, "")
	if err != nil {
		return nil, turns.Explain(t.Parts, err)
	}
	above := new(catalog.Ranking)
	for _, e := range entries {
		above.AboveFolder(e)
		if e.Origin == catalog.File && len(e.Problems) > 0 && slices.Contains(e.Names, wants) {
			d.broken = true
		}
	}
	d.folder = watch.New(dir, above, func(path string, src []byte) ([][]string, agent.Problems) {
		if agent.Ordinary(path, src) {
			return nil, nil
		}
		names, problems, err := checker.Check(path, src)
		if err != nil {
			problems = append(problems, agent.Problem{Severity: agent.SeverityWarning, File: path, Message: err.Error()})
		}
		return names, problems
	})
	if err := d.folder.Scan(); err != nil {
		return nil, notFolder(dir, nil)
	}
	for _, doc := range d.folder.Documents() {
		if doc.Name != "" && (wants == "" || slices.Contains(doc.Agents, wants)) {
			d.agent = cmp.Or(wants, doc.Name)
			break
		}
	}
	printNotices(t, d.opening())
	return d, nil
}

// start watches the folder until the returned function is called.
func (d *development) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		d.folder.Watch(ctx, d.reports)
	}()
	return func() {
		cancel()
		<-over
	}
}

// first returns the agent that answers first.
func (d *development) first() string {
	if d.broken {
		return chat.DefaultAgent
	}
	return cmp.Or(d.agent, d.wants)
}

// follow returns the agent that answers after a change, "" if it stays the same. current is
// the one that answers now.
func (d *development) follow(current string, changes []watch.Change) (next string) {
	for _, c := range changes {
		was := c.Was
		for agent, path := range d.mistaken {
			if path == c.Path {
				was = agent
				delete(d.mistaken, agent)
			}
		}
		first := d.agent == "" && (d.wants == "" || d.wants == c.Name)
		renamed := was != "" && was == current
		switch {
		case c.Name == "" && was != "" && !c.Gone:
			d.mistaken[was] = c.Path
		case c.Name != "" && c.Name != current && next == "" && (first || renamed):
			d.agent, next = c.Name, c.Name
		}
	}
	return next
}

// ready returns an error if the document of the agent has got errors and still has them.
func (d *development) ready(t *turns.Runner, agent string) error {
	if d == nil || d.mistaken[agent] == "" {
		return nil
	}
	if _, err := t.Catalog.Agent(t.Ctx, agent); err == nil {
		return nil
	}
	return fmt.Errorf("%s cannot answer: mend %s first", show.OneLine(agent), show.OneLine(d.mistaken[agent]))
}

// found returns the reports of the watcher, nil without one.
func (d *development) found() <-chan watch.Report {
	if d == nil {
		return nil
	}
	return d.reports
}

// opening says what is in the folder.
func (d *development) opening() []notice {
	list := d.folder.Documents()
	var agents []string
	var notes []notice
	for _, doc := range list {
		for _, name := range doc.Agents {
			agents = append(agents, show.OneLine(name))
		}
		notes = append(notes, problemNotices(doc.Problems)...)
	}
	dir := show.OneLine(d.dir)
	head := note("watching %s: %s", dir, show.Count(len(list), "document"))
	switch {
	case len(list) == 0:
		head = note("watching %s, which has no documents yet: `p8 init %s` writes one; until then %s answers", dir, dir, cmp.Or(d.first(), chat.DefaultAgent))
	case len(agents) > 1:
		head = note("watching %s: %s; agents: %s", dir, show.Count(len(list), "document"), names(agents))
	}
	notes = append([]notice{head}, few(notes, d.dir)...)
	if sub := subFolder(d.dir); len(list) == 0 && sub != "" {
		notes = append(notes, note("sub-folders are not read: give one, as in `p8 dev %s`", show.OneLine(sub)))
	}
	if n := d.folder.Left(); n > 0 {
		notes = append(notes, note("only the first %d documents are read: move the others, %d of them, to another folder", catalog.MaxFiles, n))
	}
	if d.agent == "" && len(list) > 0 {
		notes = append(notes, note("%s answers until a document is valid", cmp.Or(d.first(), chat.DefaultAgent)))
	}
	return notes
}

// names lists some names.
func names(list []string) string {
	const most = 8
	text := ""
	for i, name := range list[:min(len(list), most)] {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
