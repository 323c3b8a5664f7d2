package ask

import (
	"context"
	"fmt"
	"slices"

	"github.com/p8-org/p8/rem"
)

// connected reads questions about relations: "what is related to X", "who works with
// X", "what does X manage", "within two hops of X".
func (r rules) connected(ctx context.Context, w words) (proposal, error) {
	if _, x, ok := w.cut("related to|connected to|connected with|linked to|linked with|associated with|close to|next to|attached to|connections of|neighbours of|neighbors of|links of|relations of|edges of"); ok {
		if a, _, both := w.cut("is related|is connected|is linked"); both && a.len() > 1 && a.low[0] == "how" {
			return proposal{}, nil // "between" needs two walks
		}
		return r.walk(ctx, x, 0, way{direction: rem.Both})
	}
	if before, x, ok := w.cut("hops of|hops from|hop of|hop from|steps of|steps from|step from"); ok && before.len() > 0 {
		if n, ok := number(before.low[before.len()-1]); ok && n <= maxHops {
			return r.walk(ctx, x, n, way{direction: rem.Both})
		}
	}
	if x, ok := w.begins("who does|whom does|what does|which projects does|who do|what do|who did|what did"); ok {
		for _, rel := range relations {
			if name, ok := x.ends(rel.verbs); ok && name.len() > 0 {
				return r.walk(ctx, name, 0, rel.toObjects()...)
			}
		}
		return proposal{}, nil
	}
	for _, rel := range relations {
		x, ok := w.begins("who|what|which people|which projects|everyone who|everybody who|people who|list who|show who|find who|show me who|all who")
		if !ok {
			break
		}
		if x, ok = x.begins(rel.verbs); ok && x.len() > 0 {
			return r.walk(ctx, x, 0, rel.toSubjects()...)
		}
	}
	return proposal{}, nil
}

// maxHops bounds the depth of a walk.
const maxHops = 3

// walk returns a TRAVERSE from the row with this name, on the first of the ways on which
// an edge leads from it. If there is none, it is not sure that any of them is meant.
func (r rules) walk(ctx context.Context, name words, depth int, ways ...way) (proposal, error) {
	found, err := r.look(ctx, name)
	if err != nil {
		return proposal{}, err
	}
	p := proposal{Confidence: plain}
	key := found.key
	switch {
	case key != "":
	case len(found.near) > 0:
		key, p.Confidence = found.near[0], likely
	default:
		return cannot(fmt.Sprintf("nothing is called %q", name.bare().text())), nil
	}
	chosen, leads := ways[0], ways[0].types == ""
	for _, w := range ways {
		if leads {
			break
		}
		if leads, err = r.leads(ctx, key, w); err != nil {
			return proposal{}, err
		}
		if leads {
			chosen = w
		}
	}
	if !leads {
		p.Confidence = unsure
		p.Reasoning = fmt.Sprintf("%s has no such relation: no edge %s leads %s it.", key, chosen.types, map[rem.Direction]string{rem.Out: "from", rem.In: "to", rem.Both: "from or to"}[chosen.direction])
	}
	p.Query = chosen.query(key)
	if depth > 0 {
		p.Query += fmt.Sprintf(" DEPTH %d", depth)
	}
	return p, nil
}

// query is the TRAVERSE from a key.
func (w way) query(key string) string {
	query := "TRAVERSE " + rem.Quote(key)
	if w.types != "" {
		query += " TYPE " + w.types
	}
	if w.direction != rem.Out {
		query += " DIRECTION " + string(w.direction)
	}
	return query
}

// leads reports whether an edge leads from a key on a way.
func (r rules) leads(ctx context.Context, key string, w way) (bool, error) {
	q, err := r.engine.Parse(w.query(key) + " DEPTH 0")
	if err != nil {
		return false, err
	}
	res, err := r.engine.Execute(ctx, q)
	return len(res.EdgeSummary) > 0, err
}

// named reads one name, correct or slightly misspelt, or several.
func (r rules) named(ctx context.Context, w words) (proposal, error) {
	name, about := w.begins("tell me about|tell us about|what do you know about|what do we know about|what is known about|information on|information about|details on|details about|more about|about")
	who := false
	if !about {
		name, who = w.begins("who is|who was|what is|what was|show|show me|open|get|get me|give|give me|find|look up|lookup|fetch|display|see|read|pull up|bring up|where is")
	}
	if _, of, ok := name.cut("profile of|details of|status of|summary of|role of|e-mail of|email of|content of|contents of|text of"); ok {
		name = of
	}
	name, called := name.bare().begins("someone called|someone named|somebody called|somebody named|a person called|the person|person|people called|anyone called|anybody called|something called")
	if name, _ = name.begins("the|a|an|our|my"); name.len() == 0 || name.len() > maxNameWords {
		return proposal{}, nil
	}
	found, err := r.look(ctx, name)
	if err != nil {
		return proposal{}, err
	}
	switch {
	case found.key != "":
		return proposal{Query: rem.Lookup{Keys: []string{found.key}}.String(), Confidence: exact}, nil
	case len(found.near) > 0, called && found.alike:
		return proposal{Query: "FUZZY " + quoted(name.text()), Confidence: likely}, nil
	}
	if keys, err := r.several(ctx, name); err != nil || len(keys) > 1 {
		return proposal{Query: rem.Lookup{Keys: keys}.String(), Confidence: exact}, err
	}
	if p, err := r.asksOf(ctx, w); err != nil || p.Confidence > 0 {
		return p, err
	}
	if about && !who && !called {
		return proposal{Query: "SEARCH " + quoted(name.text()) + " FROM resources", Confidence: likely}, nil
	}
	return cannot(fmt.Sprintf("nothing is called %q, nor nearly so", name.text())), nil
}

// maxNameWords bounds a list of names.
const maxNameWords = 12

// several returns the keys of a list of names; none unless every name is known.
func (r rules) several(ctx context.Context, w words) ([]string, error) {
	if !slices.Contains(w.low, "and") {
		return nil, nil
	}
	var names []words
	for more := true; more; {
		var before words
		before, w, more = w.cut("and")
		names = append(names, before)
	}
	keys, err := r.keysOf(ctx, names...)
	if err != nil || slices.Contains(keys, "") {
		return nil, err
	}
	return keys, nil
}
