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

// The default relations of the edges from dreams (p8), and of the edges back.
const (
	relationDream = "dream_affinity"
	weightDream   = 0.5
	backDream     = "dreamed_from"
)

// fragments returns the edges of a record.
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

// dreamName returns a dream's name as a title (p8): "dream-late-trains" is "Late
// Trains". A name whose key would change is left alone.
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

// settle gives dreams free names. A dream replaces an earlier dream with its key, and
// no other moment. A moment that would replace one of p8's own is refused.
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
	earlier := map[string]string{} // names of the existing dreams, by key
	own := map[string]string{}     // types of p8's own moments, by key
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

// besides returns another name for a dream whose name is taken.
func besides(name string) string {
	const prefix = "Dream of "
	if runes := []rune(name); len(runes) > maxName-len(prefix) {
		name = string(runes[:maxName-len(prefix)])
	}
	return prefix + name
}
