package memory_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

func said(kind, content string) store.Message { return store.Message{Type: kind, Content: &content} }

// A model is sent the newest rows that fit the budget; nothing stored is changed.
func ExampleCompose() {
	rows := []store.Message{
		said(store.MessageUser, "What is tea?"),
		said(store.MessageAssistant, strings.Repeat("Tea is a drink. ", 50)),
		said(store.MessageUser, "And coffee?"),
		said(store.MessageAssistant, "Another one."),
	}
	sent := memory.Compose(&store.Recalled{Messages: rows}, memory.Policy{Budget: 50})
	for _, m := range sent.Messages {
		fmt.Println(m.Role, m.Content)
	}
	fmt.Println("older rows wait:", sent.More)
	// Output:
	// user And coffee?
	// assistant Another one.
	// older rows wait: true
}

// A Builder sums up what a session has said, each range of messages once.
func ExampleBuilder() {
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
	builder, err := memory.NewBuilder(memory.BuilderOptions{Store: s, Threshold: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, question := range []string{"What is green tea?", "What is black tea?", "Which one has more caffeine?"} {
		ask := said(store.MessageUser, question)
		ask.TokenCount = 60
		answer := said(store.MessageAssistant, "It depends.")
		answer.SessionID, answer.TokenCount = "tea-time", 60
		if err := s.BeginTurn(ctx, store.Session{ID: "tea-time"}, &ask); err != nil {
			fmt.Println(err)
			return
		}
		if err := s.FinishTurn(ctx, &answer, ""); err != nil {
			fmt.Println(err)
			return
		}
	}
	for range 2 {
		built, err := builder.Build(ctx, "tea-time", 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(built.Moments), "new moments,", built.Unsummarised, "tokens not summed up")
	}
	// Output:
	// 2 new moments, 120 tokens not summed up
	// 0 new moments, 120 tokens not summed up
}
