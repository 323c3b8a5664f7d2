package evaluation_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/p8-org/p8/internal/evaluation"
)

// TestDocs reads the examples of docs/evaluators.md and judges by them.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/evaluators.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 3 {
		t.Fatalf("the page has %d examples", len(blocks))
	}
	if list, err := evaluation.Parse("docs", blocks[0][1]); err != nil || len(list) != 5 {
		t.Errorf("%d checks, %v", len(list), err)
	}
	judge := string(blocks[1][1])
	for _, src := range []string{judge, judge + string(blocks[2][1])} {
		e, err := evaluation.Document(compile(t, src), &answers{value: `{"accuracy":1,"completeness":5,"invented":false,"reasoning":"r"}`})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := e.Evaluate(t.Context(), say("x")); err != nil || !*v.Overall.Pass || v.Overall.Explanation != "r" && v.Overall.Label != "sourced" {
			t.Errorf("%+v, %v", v, err)
		}
	}
}
