package chat_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// A session that remembers: the model is sent the first turn with the second. With a
// folder instead of Memory, the session outlives the process.
func Example() {
	documents := fstest.MapFS{"greeter.yaml": {Data: []byte(`
type: object
name: greeter
description: You greet people by their name.
`)}}
	agents, err := catalog.New(catalog.Options{Builtin: documents})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := scripted.New(scripted.Text("Hello, ", "Ada!"), scripted.Text("You are Ada."))
	models := llm.NewRegistry(llm.RegistryOptions{Providers: map[string]llm.Constructor{
		"scripted": func(string) (llm.Model, error) { return model, nil },
	}})
	kept, err := sqlite.Open(context.Background(), sqlite.Options{Memory: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer kept.Close()
	service, err := chat.New(chat.Options{Catalog: agents, Models: models, Store: kept, DefaultModel: "scripted:demo"})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := identity.With(context.Background(), identity.Identity{
		UserID: identity.UserID("ada@example.com"), SessionID: "tea-time",
	})
	for _, input := range []string{"I am Ada.", "Who am I?"} {
		turn, err := service.Start(ctx, chat.Request{Agent: "greeter", Input: input})
		if err != nil {
			fmt.Println(chat.Describe(err).Message)
			return
		}
		for e := range turn.Events(ctx) {
			switch e.Type {
			case event.Text:
				fmt.Print(e.Text)
			case event.Done:
				fmt.Println()
			}
		}
	}

	rows, err := kept.Messages(ctx, "tea-time", store.MessageFilter{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range rows {
		fmt.Println(row.Seq, row.Type, *row.Content)
	}
	// Output:
	// Hello, Ada!
	// You are Ada.
	// 1 user I am Ada.
	// 2 assistant Hello, Ada!
	// 3 user Who am I?
	// 4 assistant You are Ada.
}
