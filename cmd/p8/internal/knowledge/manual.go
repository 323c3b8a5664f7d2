package knowledge

import (
	"context"
	"fmt"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/docs"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/rem"
)

const pageFolder = "docs/"

// manualPages is how many pages an answer of the manual names.
const manualPages = 3

// Page returns the page of p8's manual with that key, which may be written as its file,
// docs/KEY.md: some pages have the name of a command.
func Page(key string) (docs.Page, bool) {
	key = strings.TrimSuffix(strings.TrimPrefix(key, pageFolder), ".md")
	pages, err := docs.Pages()
	if err != nil {
		return docs.Page{}, false
	}
	for _, p := range pages {
		if p.Key == key {
			return p, true
		}
	}
	return docs.Page{}, false
}

// AnswerFromManual prints the pages of p8's manual that are about a question. It needs no
// database.
func AnswerFromManual(ctx context.Context, a *command.App, question string) error {
	ctx = identity.With(ctx, identity.Identity{})
	s, err := wiring.OpenManual(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	e := rem.New(rem.Options{Knowledge: s})
	words := []rune(question)
	text := string(words[:min(len(words), rem.MaxText)])
	// As the search tool does with plain words.
	found, err := e.Execute(ctx, rem.Fuzzy{Text: text, Threshold: 0.2, Limit: manualPages, Manual: true})
	if err == nil && found.Count == 0 {
		found, err = e.Execute(ctx, rem.Search{Text: text, Tables: []string{rem.Manual}, Limit: manualPages})
	}
	if err != nil {
		return explainQuery(text, err)
	}
	for _, row := range found.Results {
		if p, ok := Page(row.Key); ok {
			fmt.Fprintf(a.Stdout, "%s\n%s\n  p8 help %s%s\n\n", p.Title, p.Summary, pageFolder, p.Key)
		}
	}
	if found.Count == 0 {
		return fmt.Errorf("p8's manual has nothing about %q: `p8 help` lists the commands, `p8 help docs/search` the pages", strings.TrimSpace(question))
	}
	return nil
}
