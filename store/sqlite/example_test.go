package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// A folder holds one database, which one process writes; others may read it meanwhile.
func Example() {
	dir, err := os.MkdirTemp("", "p8-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := readBeside(dir); err != nil {
		fmt.Println(err)
	}
	// Output:
	// tea: All about tea.
	// second writer: in use
	// write through the reader: refused
}

func readBeside(dir string) error {
	ctx := identity.With(context.Background(), identity.Identity{UserID: "ada"})
	s, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Ontologies().Put(ctx, &store.Ontology{Name: "tea", Content: "All about tea."}); err != nil {
		return err
	}
	reader, err := sqlite.Open(ctx, sqlite.Options{Dir: dir, ReadOnly: true})
	if err != nil {
		return err
	}
	defer reader.Close()
	page, err := reader.Ontologies().ByName(ctx, "tea")
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", page.Name, page.Content)
	if _, err := sqlite.Open(ctx, sqlite.Options{Dir: dir}); errors.Is(err, sqlite.ErrInUse) {
		fmt.Println("second writer: in use")
	}
	if err := reader.Ontologies().Put(ctx, &store.Ontology{Name: "coffee"}); errors.Is(err, sqlite.ErrReadOnly) {
		fmt.Println("write through the reader: refused")
	}
	return nil
}
