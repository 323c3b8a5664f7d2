package rem_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// TestExplain keeps what EXPLAIN says of one query of each kind.
func TestExplain(t *testing.T) {
	for name, dialect := range map[string]store.Dialect{"sqlite": store.DialectSQLite, "postgres": store.DialectPostgres} {
		t.Run(name, func(t *testing.T) {
			e := rem.New(rem.Options{Knowledge: company(), Embedder: embedder{}, Dialect: dialect})
			var out strings.Builder
			for _, query := range []string{
				"EXPLAIN LOOKUP a, b",
				"EXPLAIN FUZZY a LOAD",
				`EXPLAIN SEARCH api FROM moments WHERE "category = 'x'" LIMIT 5 HYBRID`,
				"EXPLAIN TRAVERSE a TYPE manages, knows DEPTH 2 LOAD",
				"EXPLAIN TRAVERSE WITH FUZZY a DEPTH 0",
				"EXPLAIN TRAVERSE a TYPE manages DIRECTION both DEPTH 2",
				"EXPLAIN SQL SELECT name FROM moments",
			} {
				res, err := e.Run(t.Context(), query)
				if err != nil || res.QueryType != rem.EXPLAIN || res.Count != 0 || res.Plan == nil {
					t.Fatalf("%s: %+v, %v", query, res, err)
				}
				b, err := json.MarshalIndent(res.Plan, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&out, "%s\n%s\n\n", query, b)
			}
			golden.Compare(t, "testdata/explain."+name+".golden", out.String())
		})
	}
}

func TestExplainRunsNothing(t *testing.T) {
	k := company()
	e := engine(k)
	for _, query := range []string{"EXPLAIN LOOKUP a", "EXPLAIN FUZZY a", "EXPLAIN SEARCH a", "EXPLAIN TRAVERSE a"} {
		if _, err := e.Run(t.Context(), query); err != nil || k.asked != "" || k.levels != nil {
			t.Errorf("%s: asked %q, %v, %v", query, k.asked, k.levels, err)
		}
	}
	plan, err := e.Explain(t.Context(), rem.Explain{Query: rem.Select{Text: "SELECT 1"}})
	if err != nil || plan.Query != "SQL SELECT 1" || plan.Steps[0].Engine[0] != "SCAN moments" || k.asked != "SELECT 1 1000 true" {
		t.Errorf("%+v, asked %q, %v", plan, k.asked, err)
	}
	if _, err := e.Explain(t.Context(), nil); err == nil {
		t.Error("explained nothing")
	}
}
