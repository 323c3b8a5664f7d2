package builtin

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// The bounds of the sources of a search: how many, and a title's characters.
const (
	maxSources     = 20
	maxSourceTitle = 200
)

// sourcesOf returns the knowledge that a LOOKUP or SEARCH found, each document once.
// Pieces of a document have its address. Conversations and moments are not sources; nor
// are results of FUZZY, which only resemble a name.
func sourcesOf(found rem.Result) []event.Source {
	if found.QueryType != rem.LOOKUP && found.QueryType != rem.SEARCH {
		return nil
	}
	var list []event.Source
	seen := map[string]bool{}
	for _, row := range found.Results {
		if row.EntityType != store.TypeResource && row.EntityType != store.TypeOntology && row.EntityType != store.TypeFile {
			continue
		}
		if s, document := sourceOf(row); !seen[document] && len(list) < maxSources {
			seen[document] = true
			list = append(list, s)
		}
	}
	return list
}

// sourceOf returns the source that a row is, or is a piece of, and what identifies it.
func sourceOf(row rem.Row) (s event.Source, document string) {
	var about struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	}
	_ = json.Unmarshal(row.Data, &about) // a row without these has its key
	s = event.Source{ID: row.Key, Title: tool.Cut(oneLine(about.Name), maxSourceTitle)}
	if u, ok := webURL(about.URI); ok {
		s.URL = u.String()
	} else if about.URI != "" {
		s.Name = tool.Cut(path.Base(strings.ReplaceAll(about.URI, `\`, "/")), maxSourceTitle)
	}
	if s.Title == "" {
		s.Title = row.Key
	}
	return s, cmp.Or(s.URL, about.URI, row.Key)
}
