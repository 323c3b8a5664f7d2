package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
)

// BenchmarkRecall measures the reading for the next turn, in sessions of several lengths:
// the cost does not depend on the length.
func BenchmarkRecall(b *testing.B, s *store.Store, ctx context.Context) {
	sentence := strings.Repeat("A sentence of a conversation. ", 7)
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	sizes := []int{50, 10_000}
	for _, n := range sizes {
		id := fmt.Sprint("session of ", n)
		check(s.BeginTurn(ctx, store.Session{ID: id}, userMessage("x")))
		for from := 1; from < n; from += 1000 {
			var rows []*store.Message
			for i := from; i < min(n, from+1000); i++ {
				rows = append(rows, &store.Message{SessionID: id, Type: store.MessageAssistant, Content: text(sentence), TokenCount: 50})
			}
			check(s.Append(ctx, rows...))
		}
		for after := int64(0); after+120 < int64(n); after += 120 {
			c := chunkOf(id, fmt.Sprintf("%s part %d", id, after), after, after+120)
			c.Moment.Summary = sentence
			if after+240 >= int64(n) {
				c.Memory = &store.Message{Content: text(sentence)}
			}
			check(s.PutChunk(ctx, c))
		}
	}
	for _, n := range sizes {
		id := fmt.Sprint("session of ", n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				rec, err := s.Recall(ctx, store.RecallQuery{SessionID: id, Tokens: 8000, Moments: 3, User: true, Runs: true})
				if err != nil || !rec.Found || len(rec.Messages) < 49 {
					b.Fatal(err, len(rec.Messages))
				}
			}
		})
	}
}
