package ask

import (
	"testing"
	"time"
)

// BenchmarkRules reads the forty sentences, without a database.
func BenchmarkRules(b *testing.B) {
	list := sentences()
	r := rules{engine: index{[]string{"sarah-chen", "project-alpha", "mike-ross"}}, when: newCalendar(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := r.propose(b.Context(), list[i%len(list)].text); err != nil {
			b.Fatal(err)
		}
	}
}
