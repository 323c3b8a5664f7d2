package ask_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// Without a language model, rules read the plain cases.
func Example() {
	ctx := identity.With(context.Background(), identity.Identity{UserID: "alice", TenantID: "acme"})
	dir, err := os.MkdirTemp("", "p8")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	err = s.Ontologies().Put(ctx,
		&store.Ontology{Name: "Sarah Chen", Base: store.Base{GraphEdges: []store.Edge{{Target: "project-alpha", Relation: "manages", Weight: 1}}}},
		&store.Ontology{Name: "Project Alpha"})
	if err != nil {
		log.Fatal(err)
	}
	asker, err := ask.New(ask.Options{Engine: rem.New(rem.Options{Knowledge: s})})
	if err != nil {
		log.Fatal(err)
	}
	for _, question := range []string{"Who is Sarah Chen?", "Who is Sara Chn?", "What does Sarah Chen manage?", "Is she happy?"} {
		a, err := asker.Ask(ctx, question, ask.Request{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n  %s (%.2f): %d found\n", question, a.Query, a.Confidence, a.Count)
	}
	// Output:
	// Who is Sarah Chen?
	//   LOOKUP sarah-chen (1.00): 1 found
	// Who is Sara Chn?
	//   FUZZY "Sara Chn" (0.75): 1 found
	// What does Sarah Chen manage?
	//   TRAVERSE sarah-chen TYPE manages (0.90): 2 found
	// Is she happy?
	//    (0.20): 0 found
}
