package bench

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/postgres"
)

// emptyPostgres is a store on a database of its own.
func emptyPostgres(tb testing.TB) *store.Store {
	tb.Helper()
	url := harness.Postgres(tb, "")
	s, err := postgres.Open(context.Background(), postgres.Options{URL: url, MaxConns: 4, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// who has the sessions of these benchmarks.
func who(session string) context.Context {
	return identity.With(context.Background(), identity.Identity{TenantID: "t", UserID: "u", SessionID: session})
}

// fill makes a session of so many messages, with the moments that sum it up.
func fill(tb testing.TB, s *store.Store, session string, messages int) {
	tb.Helper()
	ctx := who(session)
	question, answer := "And what about the bridge at the harbour of Lisbon, which one is it?", strings.Repeat("It is the one that people cross on foot. ", 8)
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	must(s.PutSession(ctx, store.Session{ID: session}))
	for at := 0; at < messages; {
		var rows []*store.Message
		for ; at < messages && len(rows) < 500; at += 2 {
			rows = append(rows,
				&store.Message{SessionID: session, Type: store.MessageUser, Content: &question, TokenCount: 17},
				&store.Message{SessionID: session, Type: store.MessageAssistant, Content: &answer, TokenCount: 82})
		}
		must(s.Append(ctx, rows...))
	}
	b, err := memory.NewBuilder(memory.BuilderOptions{Store: s, Logger: slog.New(slog.DiscardHandler)})
	must(err)
	for {
		built, err := b.Build(ctx, session, 0)
		must(err)
		if len(built.Moments) == 0 {
			break
		}
	}
}

// BenchmarkContext is what the next turn of a session is shown, read and composed.
func BenchmarkContext(b *testing.B) {
	for _, engine := range []struct {
		name string
		open func(testing.TB) *store.Store
	}{{"embedded", embedded}, {"postgres", emptyPostgres}} {
		b.Run(engine.name, func(b *testing.B) {
			s := engine.open(b)
			for _, messages := range []int{100, 10_000} {
				session := fmt.Sprint("of-", messages)
				fill(b, s, session, messages)
				for _, p := range []struct {
					name   string
					policy memory.Policy
				}{
					{"flat", memory.Policy{Breadcrumbs: true, KeepLast: 5, Moments: 3, Budget: 8000}},
					{"nested", memory.Policy{ReplayTools: true, Hints: true, KeepLast: 5, Moments: 3, Budget: 8000, ResultChars: 20_000}},
				} {
					b.Run(fmt.Sprintf("%d messages/%s", messages, p.name), func(b *testing.B) {
						b.ReportAllocs()
						ctx := who(session)
						shown := 0
						for b.Loop() {
							rec, err := s.Recall(ctx, p.policy.Query(session))
							if err == nil {
								err = memory.Attachments(ctx, s, &rec, p.policy)
							}
							if err != nil {
								b.Fatal(err)
							}
							shown = memory.Compose(&rec, p.policy).Tokens
						}
						b.ReportMetric(float64(shown), "tokens")
					})
				}
			}
		})
	}
}

// BenchmarkTurnOfALongSession is a whole stored turn in sessions of different lengths.
func BenchmarkTurnOfALongSession(b *testing.B) {
	for _, messages := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("%d messages", messages), func(b *testing.B) {
			s := embedded(b)
			fill(b, s, "long", messages)
			turns := service(b, textModel(), s)
			b.ReportAllocs()
			for b.Loop() {
				turn, err := turns.Start(who("long"), chat.Request{Input: "What is the weather like?"})
				if err != nil {
					b.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(who("long"), time.Minute)
				if _, err := turn.Wait(ctx); err != nil {
					b.Fatal(err)
				}
				cancel()
			}
		})
	}
}
