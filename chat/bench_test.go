package chat_test

import (
	"context"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

const benchAgent = `
type: object
name: bench
description: You are a helpful assistant with access to a knowledge base.
properties:
  topic: {type: string, description: What it is about}
tools:
  - {name: echo, description: Repeats what it is told}
`

// BenchmarkTurn is a whole turn in memory: session and events kept, history
// loaded, rows written, the events read by the caller.
func BenchmarkTurn(b *testing.B) {
	usage := llm.Usage{Input: 100, Output: 10}
	text := scripted.Turn{Text: []string{"Hello", ", ", "world."}, Usage: usage}
	call := scripted.Call("echo", `{"text":"hi"}`)
	for name, script := range map[string][]scripted.Turn{"text": {text}, "tool": {call, text}} {
		b.Run(name, func(b *testing.B) {
			model := scripted.NewWith(scripted.Options{Repeat: true}, script...)
			s := newService(b, model, chat.Options{Store: newStore(b)}, benchAgent)
			ctx := as(b.Context(), "alice", "")
			b.ReportAllocs()
			for b.Loop() {
				read(b, s, ctx)
			}
		})
	}
}

// BenchmarkHistory is a text turn of a session that has ten turns already.
func BenchmarkHistory(b *testing.B) {
	model := scripted.NewWith(scripted.Options{Repeat: true}, scripted.Text("Hello, world."))
	kept := newStore(b)
	s := newService(b, model, chat.Options{Store: &fixedHistory{kept}}, benchAgent)
	ctx := as(b.Context(), "alice", "s1")
	seed := newService(b, model, chat.Options{Store: kept}, benchAgent)
	for range 10 {
		turn(b, seed, ctx, "Hi there")
	}
	b.ReportAllocs()
	for b.Loop() {
		read(b, s, ctx)
	}
}

// fixedHistory takes writes and forgets them.
type fixedHistory struct{ *store.Store }

func (fixedHistory) BeginRun(context.Context, store.RunStart) error { return nil }

func (fixedHistory) WriteRun(context.Context, store.RunWrite) (bool, error) { return false, nil }

// Runs has nothing that was left open.
func (fixedHistory) Runs(context.Context, store.RunFilter) ([]store.Run, string, error) {
	return nil, "", nil
}

// read starts a turn and reads its events, which the turn itself keeps.
func read(b *testing.B, s *chat.Service, ctx context.Context) {
	turn, err := s.Start(ctx, chat.Request{Input: "Hi there"})
	if err != nil {
		b.Fatal(err)
	}
	for _, err := range turn.Events(context.Background()) {
		if err != nil {
			b.Fatal(err)
		}
	}
}
