// Package docs holds p8's own user documentation as Markdown, one page a file.
//
// A new database gets every page as p8's manual, so that an agent can answer questions
// about p8. A page's key is its file name without ".md", its first paragraph is its
// summary.
package docs

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// Page is one page of the documentation.
type Page struct {
	// Key is the file's name without ".md": "getting-started".
	Key string
	// Title is the text of the first heading.
	Title string
	// Summary is the first paragraph.
	Summary string
	// Text is the whole page, Markdown.
	Text string
}

// internal are pages for those who work on p8, not with it.
var internal = []string{"rough_edges.md"}

// Pages are the pages for users, by key.
func Pages() ([]Page, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	var pages []Page
	for _, name := range names {
		if slices.Contains(internal, name) {
			continue
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		pages = append(pages, parse(name, string(text)))
	}
	return pages, nil
}

// parse reads "# Title", a blank line and the first paragraph.
func parse(name, text string) Page {
	p := Page{Key: strings.TrimSuffix(path.Base(name), ".md"), Text: text}
	head, rest, _ := strings.Cut(text, "\n\n")
	p.Title = strings.TrimSpace(strings.TrimPrefix(head, "#"))
	paragraph, _, _ := strings.Cut(rest, "\n\n")
	p.Summary = strings.Join(strings.Fields(paragraph), " ")
	return p
}
