package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// The relations between a web search and the pages that it found.
const (
	relationFound = "found"
	backFound     = "found_by"
)

// rememberWeb makes a moment of a search whose pages were stored: the query, the time,
// the pages. The same search on the same day is the same moment. A failure does not
// affect the results.
func (o *Options) rememberWeb(ctx context.Context, id identity.Identity, query string, pages []webResult) {
	now := o.Now().UTC()
	m := &store.Moment{
		Name: webMomentName(query, now), MomentType: store.MomentWebSearch, Category: categoryWeb, StartsAt: now, EndsAt: now,
		SourceSessionID: id.SessionID,
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Searched the web for %q and found:", query)
	for _, page := range pages {
		fmt.Fprintf(&b, "\n- %s (%s)", page.Name, page.URL)
		m.GraphEdges = append(m.GraphEdges, store.Edge{Target: page.Key, Relation: relationFound, Weight: 1})
	}
	m.Summary = tool.Cut(b.String(), maxMomentSummary)
	m.Metadata, _ = json.Marshal(map[string]any{"query": query, "results": len(pages)}) // a text and a number always encode
	if _, err := o.Store.PutLinked(ctx, backFound, m); err != nil {
		o.Logger.WarnContext(ctx, "a web search could not be remembered as a moment", "error", err)
	}
}

// webMomentName names a search by its words and day, and a hash that makes it unique.
func webMomentName(query string, at time.Time) string {
	const most = 60
	day := at.Format("20060102")
	sum := sha256.Sum256([]byte(day + " " + strings.ToLower(query)))
	words := store.NormalizeKey(query)
	if runes := []rune(words); len(runes) > most {
		words = string(runes[:most])
	}
	return strings.Join(strings.FieldsFunc("web-search-"+words+"-"+day+"-"+hex.EncodeToString(sum[:3]), func(r rune) bool { return r == '-' }), "-")
}
