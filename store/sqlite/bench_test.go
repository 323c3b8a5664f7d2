package sqlite

import (
	"fmt"
	"testing"

	"github.com/p8-org/p8/store"
)

func BenchmarkOpenNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(b.Context(), Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkTurn(b *testing.B) {
	s := openStore(b)
	ctx := caller(b.Context())
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		session := fmt.Sprint("s", i%100)
		if err := s.BeginTurn(ctx, store.Session{ID: session, AgentName: "general"}, message(session, "How are you?")); err != nil {
			b.Fatal(err)
		}
		if err := s.FinishTurn(ctx, message(session, "I am well, thank you."), ""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMessages50(b *testing.B) {
	s := openStore(b)
	ctx := caller(b.Context())
	for i := range 20 {
		session := fmt.Sprint("s", i)
		if err := s.BeginTurn(ctx, store.Session{ID: session}, message(session, "x")); err != nil {
			b.Fatal(err)
		}
		var rows []*store.Message
		for range 49 {
			rows = append(rows, message(session, "A sentence that is about as long as sentences in a conversation are."))
		}
		if err := s.Append(ctx, rows...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		list, err := s.Messages(ctx, "s7", store.MessageFilter{Last: 50})
		if err != nil || len(list) != 50 {
			b.Fatal(len(list), err)
		}
	}
}

func knowledge(b *testing.B, n int) *store.Store {
	b.Helper()
	s := openStore(b)
	words := []string{"quarterly", "report", "sarah", "chen", "project", "review", "budget", "plan", "meeting", "notes", "agent", "memory"}
	var rows []*store.Resource
	for i := range n {
		name := fmt.Sprintf("%s-%s-%d", words[i%12], words[i/12%12], i)
		rows = append(rows, &store.Resource{Name: name, Content: fmt.Sprintf("Text number %d about %s and %s.", i, words[i/144%12], words[i/7%12])})
	}
	if err := s.Resources().Put(caller(b.Context()), rows...); err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkLookup(b *testing.B) {
	s := knowledge(b, 10_000)
	ctx := caller(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		if list, err := s.Lookup(ctx, "quarterly-quarterly-5040"); err != nil || len(list) != 1 {
			b.Fatal(list, err)
		}
	}
}

func BenchmarkFuzzy10k(b *testing.B) {
	s := knowledge(b, 10_000)
	ctx := caller(b.Context())
	for _, text := range []string{"sarah chen", "what does the quarterly report say", "notes-agent-9999", "xyzzy"} {
		b.Run(text, func(b *testing.B) {
			if _, err := s.Fuzzy(ctx, text, 0, 0); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Fuzzy(ctx, text, 0, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
