package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/identity"
)

// A catalog finds agents by name; an unknown name is an error with near names.
func Example() {
	documents := fstest.MapFS{
		"tea.yaml": {Data: []byte("type: object\nname: tea-maker\nversion: 1.0.0\ndescription: You make tea.\n")},
	}
	agents, err := catalog.New(catalog.Options{Builtin: documents})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := identity.With(context.Background(), identity.Identity{UserID: "ada"})
	maker, err := agents.Agent(ctx, "Tea Maker")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(maker.Document.Name, maker.Document.Version)
	_, err = agents.Agent(ctx, "tea-makr")
	var unknown *catalog.NotFoundError
	if errors.As(err, &unknown) {
		fmt.Println(unknown)
	}
	// Output:
	// tea-maker 1.0.0
	// there is no agent "tea-makr"; did you mean "tea-maker"?
}
