package storetest

import (
	"fmt"
	"testing"

	"github.com/p8-org/p8/store"
)

// page is a page with edges.
func page(name string, shared bool, edges ...store.Edge) *store.Ontology {
	return &store.Ontology{Base: store.Base{Shared: shared, GraphEdges: edges}, Name: name, Content: name}
}

// inward: edges are found by their targets, after every way to write and remove them.
func inward(t *testing.T, open Open) {
	s := open(t)
	ann, bob, eve := as("acme", "ann"), as("acme", "bob"), as("umbra", "ann")
	to := func(target, relation string, weight float64) store.Edge {
		return store.Edge{Target: target, Relation: relation, Weight: weight}
	}
	sarah := page("Sarah Chen", true, to("Mike Johnson", "Reports_To", 0.5), to("mike-johnson", "reports-to", 0.9), to("nobody", "knows", 1))
	must(t, s.Ontologies().Put(ann, sarah, page("Tom", false, to("mike johnson", "reports to", 0), to("MIKE-JOHNSON", "likes", 0.1))))
	must(t, s.Ontologies().Put(bob, page("Secret", false, to("mike-johnson", "reports-to", 1))))
	must(t, s.Ontologies().Put(eve, page("Other", true, to("mike-johnson", "reports-to", 1))))
	find := func(keys, relations []string, limit int) []string {
		return each(get[[]store.Link](t)(s.Inward(ann, keys, relations, limit)), func(l store.Link) string {
			return fmt.Sprintf("%s %s %s %s %v %t", l.Key, l.Type, l.Relation, l.Target, l.Weight, l.Own)
		})
	}
	mike := []string{"Mike  Johnson"}
	const tom, liked, chen = "tom ontology reports to mike-johnson 1 true", "tom ontology likes mike-johnson 0.1 true", "sarah-chen ontology reports-to mike-johnson 0.9 false"
	wantEqual(t, "all", find(mike, nil, 10), []string{tom, chen, liked})
	wantEqual(t, "one relation", find(mike, []string{"LIKES"}, 10), []string{liked})
	wantEqual(t, "two relations, one of each owner", find(mike, []string{"reports_to", "likes"}, 1), []string{tom, chen, liked})
	wantEqual(t, "a limit for each owner", find(mike, nil, 1), []string{tom, chen})
	wantEqual(t, "several keys", find([]string{"nobody", "mike-johnson", "nothing"}, []string{"knows", "likes"}, 10),
		[]string{liked, "sarah-chen ontology knows nobody 1 false"})
	wantEqual(t, "no key", find([]string{"", "-"}, nil, 10), none)
	wantEqual(t, "no relation", find(mike, []string{"-"}, 10), none)

	// Every way to change a row changes its edges.
	sarah.GraphEdges = []store.Edge{to("mike-johnson", "knows", 1)}
	must(t, s.Ontologies().Put(ann, sarah))
	wantEqual(t, "changed", find(mike, []string{"knows", "reports-to"}, 10), []string{"sarah-chen ontology knows mike-johnson 1 false", tom})
	sarah.Name = "Sarah Miller"
	must(t, s.Ontologies().Put(ann, sarah))
	wantEqual(t, "renamed", find(mike, []string{"knows"}, 10), []string{"sarah-miller ontology knows mike-johnson 1 false"})
	must(t, s.Ontologies().Delete(ann, sarah.ID))
	wantEqual(t, "deleted", find(mike, []string{"knows"}, 10), none)
	sarah.Name = "Sarah Chen"
	must(t, s.Ontologies().Put(ann, sarah))
	wantEqual(t, "stored again", find(mike, []string{"knows"}, 10), []string{"sarah-chen ontology knows mike-johnson 1 false"})
	moment := &store.Moment{Name: "kickoff", Base: store.Base{GraphEdges: []store.Edge{to("tom", "about", 0.7)}}}
	get[[]store.Linked](t)(s.PutLinked(ann, "mentioned-in", moment))
	wantEqual(t, "linked", find([]string{"kickoff", "tom"}, nil, 10),
		[]string{"tom ontology mentioned-in kickoff 0.7 true", "kickoff moment about tom 0.7 true"})
	before := find([]string{"mike-johnson", "kickoff", "tom", "nobody"}, nil, 10)
	get[int64](t)(s.Maintenance().RebuildKeys(t.Context()))
	wantEqual(t, "rebuilt", find([]string{"mike-johnson", "kickoff", "tom", "nobody"}, nil, 10), before)
}

// inwardHub: reading the edges to a key with very many of them costs as much as the
// returned rows.
func inwardHub(t *testing.T, open Open) {
	s := open(t)
	ann := as("acme", "ann")
	const rows = 1200
	batch := make([]*store.Ontology, rows)
	for i := range batch {
		batch[i] = page(fmt.Sprintf("page %04d", i), true, store.Edge{Target: "hub", Relation: "links-to", Weight: float64(i+1) / rows})
	}
	batch[7].GraphEdges[0].Relation = "owns"
	must(t, s.Ontologies().Put(ann, batch...))
	links := get[[]store.Link](t)(s.Inward(ann, []string{"hub"}, nil, 3))
	wantEqual(t, "the heaviest", each(links, func(l store.Link) string { return l.Key }), []string{"page-1199", "page-1198", "page-1197"})
	links = get[[]store.Link](t)(s.Inward(ann, []string{"hub"}, []string{"owns"}, 3))
	wantEqual(t, "a rare relation", each(links, func(l store.Link) string { return l.Key }), []string{"page-0007"})
}
