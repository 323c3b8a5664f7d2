package bench

import "testing"

// recallEntities is enough for the embedded store to search by codes.
const recallEntities = 6000

// TestFuzzyRecall holds what FUZZY finds to the exact ranking.
func TestFuzzyRecall(t *testing.T) {
	for _, engine := range []string{onSQLite, onPostgres} {
		t.Run(engine, func(t *testing.T) {
			k := open(t, engine, recallEntities)
			for _, kind := range fuzzyKinds {
				if got := k.fuzzyRecall(t, fuzzyQuestions(kind, 40, k.entities)); got < 0.98 {
					t.Errorf("%s: a recall of %.3f among ten, want 0.98", kind, got)
				}
			}
		})
	}
}

// TestSearchRecall holds what SEARCH finds to the exact ranking.
func TestSearchRecall(t *testing.T) {
	for engine, want := range map[string]float64{onSQLite: 0.99, onPostgres: 0.97} {
		t.Run(engine, func(t *testing.T) {
			k := open(t, engine, recallEntities)
			texts, vectors := k.searches(t, 384, 40)
			for name, got := range k.searchRecall(t, 384, texts, vectors) {
				if got < want {
					t.Errorf("%s: a recall of %.3f among ten, want %.2f", name, got, want)
				}
			}
		})
	}
}
