package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
)

// BenchmarkSearchSessions measures searches for the sessions of a user with that many
// messages, 20 a session, in a database where another user has as many.
func BenchmarkSearchSessions(b *testing.B, s *store.Store, messages int) {
	const each, words = 20, 50
	for _, user := range []string{"u", "v"} {
		for i := 0; i < messages; i += each {
			var list []*store.Message
			for j := i; j < i+each; j++ {
				var text strings.Builder
				fmt.Fprintf(&text, "common rare%d", j/10)
				if j%10 == 0 {
					text.WriteString(" tenth")
				}
				for w := range words {
					fmt.Fprintf(&text, " word%d", (j*words+w*w)%20_000)
				}
				list = append(list, userMessage(text.String()))
			}
			if err := s.BeginTurn(as("t", user), store.Session{ID: fmt.Sprintf("session-%d", i/each), Name: fmt.Sprint("Title ", i)}, list...); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, query := range []string{"nowhere", "rare5", "tenth", "common", "common tenth word17"} {
		b.Run(strings.ReplaceAll(query, " ", "+"), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.Sessions(as("t", "u"), store.SessionFilter{Words: query, Limit: 20}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
