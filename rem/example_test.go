package rem_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// An engine answers queries over a store.
func Example() {
	dir, err := os.MkdirTemp("", "p8-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := identity.With(context.Background(), identity.Identity{UserID: "ada"})
	s, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	err = s.Ontologies().Put(ctx,
		&store.Ontology{Name: "Sarah Chen", Content: "Leads the kettle team.", Base: store.Base{
			GraphEdges: []store.Edge{{Target: "bob", Relation: "manages", Weight: 1}}}},
		&store.Ontology{Name: "Bob", Content: "Builds kettles."},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	engine := rem.New(rem.Options{Knowledge: s})
	for _, query := range []string{
		"LOOKUP sarah-chen",
		"FUZZY sara chn",
		"SEARCH kettles FROM ontologies",
		"TRAVERSE sarah-chen TYPE manages",
		"SQL SELECT name FROM ontologies ORDER BY name",
	} {
		found, err := engine.Run(ctx, query)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(query)
		for _, row := range found.Results {
			if row.Key == "" {
				fmt.Println("  ", string(row.Data))
				continue
			}
			fmt.Println("  ", row.Key, row.EntityType)
		}
	}
	// Output:
	// LOOKUP sarah-chen
	//    sarah-chen ontology
	// FUZZY sara chn
	//    sarah-chen ontology
	// SEARCH kettles FROM ontologies
	//    bob ontology
	//    sarah-chen ontology
	// TRAVERSE sarah-chen TYPE manages
	//    sarah-chen ontology
	//    bob ontology
	// SQL SELECT name FROM ontologies ORDER BY name
	//    {"name":"Bob"}
	//    {"name":"Sarah Chen"}
}

// A query has one canonical form; a mistake has a place and shows the right form.
func ExampleParse() {
	q, err := rem.Parse(`search what is tea? from resources limit 3`)
	fmt.Println(q, err)
	_, err = rem.Parse(`TRAVERSE`)
	var mistake *rem.SyntaxError
	if errors.As(err, &mistake) {
		fmt.Println(mistake.Error())
	}
	// Output:
	// SEARCH "what is tea?" FROM resources LIMIT 3 <nil>
	// column 9: TRAVERSE needs a key; write TRAVERSE key [TYPE relation, relation] [DIRECTION in|out|both] [DEPTH 1] [LIMIT 20] [LOAD], or TRAVERSE [TYPE relation] WITH query
}
