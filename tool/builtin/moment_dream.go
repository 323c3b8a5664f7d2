package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"p8/store"
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
// the earlier one of its key, and never that of something that happened.
func (t saveMoments) settle(ctx context.Context, moments []*store.Moment) error {
	dreams := slices.DeleteFunc(slices.Clone(moments), func(m *store.Moment) bool { return m.MomentType != store.MomentDream })
	if len(dreams) == 0 {
		return nil
	}
	var keys []string
	for _, m := range dreams {
		keys = append(keys, store.NormalizeKey(m.Name), store.NormalizeKey(besides(m.Name)))
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
	if len(ids) > 0 {
		found, _, err := t.store.Moments().Find(ctx, store.Filter{
			IDs: ids, Equal: map[string]any{"moment_type": store.MomentDream}, Limit: len(ids),
		})
		if err != nil {
			return err
		}
		for _, m := range found {
			earlier[store.NormalizeKey(m.Name)] = m.Name
		}
	}
	for _, m := range dreams {
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
