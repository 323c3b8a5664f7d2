package postgres_test

import (
	"context"
	"fmt"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/postgres"
)

// Any number of processes share a database: what one stores, the others read. Doctor
// says what a database lacks, and how to fix it.
func Example() {
	url, drop, err := postgres.NewDatabase() // postgres://user:password@host/database
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := share(url); err != nil {
		fmt.Println(err)
	}
	if err := drop(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// tea: All about tea.
	// missing: 0
}

func share(url string) error {
	ctx := identity.With(context.Background(), identity.Identity{UserID: "ada"})
	one, err := postgres.Open(ctx, postgres.Options{URL: url}) // migrates the database
	if err != nil {
		return err
	}
	defer one.Close()
	if err := one.Ontologies().Put(ctx, &store.Ontology{Name: "tea", Content: "All about tea."}); err != nil {
		return err
	}
	other, err := postgres.Open(ctx, postgres.Options{URL: url})
	if err != nil {
		return err
	}
	defer other.Close()
	page, err := other.Ontologies().ByName(ctx, "tea")
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", page.Name, page.Content)
	missing := 0
	for _, f := range postgres.Doctor(ctx, url) {
		if !f.OK {
			missing++
			fmt.Println(f.Name, f.Detail, f.Mend)
		}
	}
	fmt.Println("missing:", missing)
	return nil
}
