package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// The edges of dreams, where a fragment says nothing else (p8), and the way back.
const (
	relationDream = "dream_affinity"
	weightDream   = 0.5
	backDream     = "dreamed_from"
)

// fragments are the edges of a record.
func (r record) fragments(kind string) []store.Edge {
	var list []json.RawMessage
	r.take("affinity_fragments", &list)
	var edges []store.Edge
	for i, raw := range list {
		var e store.Edge
		var said struct {
			Relation, Type string
			RelType        string `json:"rel_type"`
			Weight         *float64
		}
		if json.Unmarshal(raw, &e) != nil || json.Unmarshal(raw, &said) != nil {
			r.wrong(fmt.Sprintf(".affinity_fragments[%d]", i), "it is not what this field holds")
			continue
		}
		if store.NormalizeKey(e.Target) == "" {
			r.wrong(fmt.Sprintf(".affinity_fragments[%d].target", i), "it has no letter and no digit")
		}
		if kind == store.MomentDream {
			if said.Relation+said.Type+said.RelType == "" {
				e.Relation = relationDream
			}
			if said.Weight == nil {
				e.Weight = weightDream
			}
		}
		edges = append(edges, e)
	}
	return edges
}

// dreamName is a dream's name as a title (p8): "dream-late-trains" is "Late Trains".
// Its key stays that of the words: a name whose key would change is left alone.
func dreamName(name string) string {
	said := strings.TrimPrefix(oneLine(name), "dream-")
	words := strings.Fields(strings.ReplaceAll(said, "-", " "))
	for i, word := range words {
		runes := []rune(word)
		runes[0] = unicode.ToTitle(runes[0])
		words[i] = string(runes)
	}
	title := strings.Join(words, " ")
	if key := store.NormalizeKey(title); key == "" || key != store.NormalizeKey(said) {
		return name
	}
	return title
}

// settle finds names for dreams that are nobody else's: a dream takes the place of
// the earlier one of its key, and never that of something that happened. Another moment
// is refused that would take the place of one that p8 made.
func (t saveMoments) settle(ctx context.Context, moments []*store.Moment) error {
	var keys []string
	for _, m := range moments {
		keys = append(keys, store.NormalizeKey(m.Name))
		if m.MomentType == store.MomentDream {
			keys = append(keys, store.NormalizeKey(besides(m.Name)))
		}
	}
	nodes, err := t.store.Nodes(ctx, keys)
	if err != nil {
		return err
	}
	var ids []string
	for _, n := range nodes {
		if n.Own && n.Type == store.TypeMoment {
			ids = append(ids, n.ID)
		}
	}
	earlier := map[string]string{} // the names of the dreams that there are, by their keys
	own := map[string]string{}     // the types of what p8 made
	if len(ids) > 0 {
		found, _, err := t.store.Moments().Find(ctx, store.Filter{
			IDs: ids, Own: true, Limit: len(ids),
		})
		if err != nil {
			return err
		}
		for _, m := range found {
			switch key := store.NormalizeKey(m.Name); {
			case m.MomentType == store.MomentDream:
				earlier[key] = m.Name
			case closed(m.MomentType):
				own[key] = m.MomentType
			}
		}
	}
	for i, m := range moments {
		if m.MomentType != store.MomentDream {
			if kind := own[store.NormalizeKey(m.Name)]; kind != "" {
				return failed(fmt.Sprintf("nothing was saved: moments[%d].name: %q is the name of a moment of the type %s, which p8 made; choose another",
					i, tool.Cut(m.Name, 80), kind))
			}
			continue
		}
		taken := func(key string) bool {
			return slices.ContainsFunc(nodes, func(n store.Node) bool { return n.Key == key })
		}
		switch key := store.NormalizeKey(m.Name); {
		case earlier[key] != "":
			m.Name = earlier[key]
		case !taken(key):
		default:
			m.Name = besides(m.Name)
			if name := earlier[store.NormalizeKey(m.Name)]; name != "" {
				m.Name = name
			}
		}
	}
	return nil
}

// besides is a dream's name where something else has the one it wants.
func besides(name string) string {
	const prefix = "Dream of "
	if runes := []rune(name); len(runes) > maxName-len(prefix) {
		name = string(runes[:maxName-len(prefix)])
	}
	return prefix + name
}
