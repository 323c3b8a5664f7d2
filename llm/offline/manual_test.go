package offline_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An agent whose prompt names the manual reads it for what nothing else is about.
func TestManual(t *testing.T) {
	own := library{"tea-plan": "How do we sell more tea?"}
	manual := library{"sessions": "Every message is stored in sessions."}
	find := func(query string) string {
		if text, ok := strings.CutSuffix(query, " FROM manual"); ok {
			return manual.find(text)
		}
		if strings.HasPrefix(query, "LOOKUP sessions") {
			return manual.find(query)
		}
		return own.find(query)
	}
	const fuzzy = ` THRESHOLD 0.2 LIMIT 8`
	for _, test := range []struct {
		prompt, question string
		rounds           [][]string
	}{
		{"SEARCH words FROM manual", "sessions?", [][]string{{`LOOKUP sessions`, `FUZZY "sessions"` + fuzzy}}},
		{"SEARCH words FROM manual", "message", [][]string{{`LOOKUP message`, `FUZZY "message"` + fuzzy}, {`FUZZY "message"` + fuzzy + ` FROM manual`}, {`LOOKUP sessions`}}},
		{"SEARCH words FROM manual", "tea", [][]string{{`LOOKUP tea`, `FUZZY "tea"` + fuzzy}, {`LOOKUP tea-plan`}}},
		{"You search.", "message", [][]string{{`LOOKUP message`, `FUZZY "message"` + fuzzy}}},
	} {
		if rounds, _ := talkTo(t, test.prompt, test.question, find); !cmp.Equal(rounds, test.rounds) {
			t.Errorf("%s: %s", test.question, cmp.Diff(test.rounds, rounds))
		}
	}
}
