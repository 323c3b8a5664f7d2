package memory_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

const (
	// facts are planted in every turns/facts-th turn.
	facts = 20
	// budget is the setting's default, in tokens.
	budget = 8000
)

// fact was said once and must be found again.
func fact(i int) string {
	return fmt.Sprintf("locker %d opens with %04d-%s", i, 1111+i*397, strings.Repeat("QXZ", 1+i%3))
}

// A session of a thousand turns (250 in the short form) costs a bounded context, and
// nothing in it is lost:
// from what the model is shown last, each fact is a few LOOKUPs away.
func TestThousandTurns(t *testing.T) {
	t.Parallel()
	t.Run("flat", func(t *testing.T) { longSession(t, "diarist", harness.Count(t, 250, 1000), "") })
	t.Run("nested", func(t *testing.T) { longSession(t, "chronicler", harness.Count(t, 100, 200), "") })
	t.Run("postgres", func(t *testing.T) { longSession(t, "diarist", harness.Count(t, 100, 200), harness.Postgres(t, "")) })
}

func longSession(t *testing.T, agent string, turns int, database string) {
	provider := harness.Aimock(t, fixtures(t, turns))
	env := append(provider.Env(), "P8_SCHEMA_DIR="+agents(t), "P8_EMBEDDING_MODEL=none", "P8_SUMMARY_MODEL=none")
	if database != "" {
		env = append(env, "P8_DATABASE_URL="+database)
	}
	s := harness.Serve(t, harness.Options{Env: env})
	for i := range turns {
		s.Chat(t, harness.Ask{Agent: agent, Session: "diary", Text: said(i, turns), Headers: alice.headers()})
	}
	await(t, "the moments", func() bool {
		var p struct {
			Unsummarised int `json:"unsummarised_tokens"`
		}
		var chunks []struct{}
		get(t, s, alice, "/moments?session_id=diary&moment_type=session_chunk&limit=500", &chunks)
		_, body := send(t, s, alice, "POST", "/sessions/diary/compact", struct{}{})
		return json.Unmarshal(body, &p) == nil && p.Unsummarised < 6000 && len(chunks) > 2
	})
	s.Chat(t, harness.Ask{Agent: agent, Session: "diary", Text: "turn last: what do you know?", Headers: alice.headers()})

	journal := provider.Journal(t)
	most := 0
	for i, x := range journal {
		n := historyTokens(x)
		most = max(most, n)
		if n > budget {
			t.Errorf("request %d has a history of %d tokens", i, n)
		}
	}
	t.Logf("%d turns: the longest history has %d tokens", turns, most)
	if most < budget/2 {
		t.Errorf("the longest history has %d tokens: the budget is not used", most)
	}
	last := journal[len(journal)-1]
	var shown strings.Builder
	for _, m := range last.Body.Messages {
		shown.WriteString(m.Text())
		shown.WriteByte('\n')
	}
	for _, want := range []string{"[Session context]", "REM LOOKUP"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("the last request has no %q", want)
		}
	}
	if turns == 1000 && !strings.Contains(shown.String(), "Earlier in this conversation:") {
		t.Error("the last request has no memory of what is long past")
	}
	search(t, s, shown.String(), turns)
}

// search follows every key from what the model sees until all facts are found.
func search(t *testing.T, s *harness.Server, shown string, turns int) {
	found := map[int]int{} // a fact and the number of LOOKUPs on the way to it
	look := func(text string, hops int) {
		for i := range facts {
			if _, known := found[i]; !known && strings.Contains(text, fact(i)) {
				found[i] = hops
			}
		}
	}
	look(shown, 0)
	seen, front := map[string]bool{}, keysIn(shown)
	lookups := 0
	for hops := 1; len(front) > 0 && len(found) < facts; hops++ {
		var next []string
		for _, key := range front {
			if seen[key] {
				continue
			}
			seen[key] = true
			if lookups++; lookups > 4*turns {
				t.Fatalf("%d facts of %d after %d LOOKUPs", len(found), facts, lookups)
			}
			row := query(t, s, alice, "LOOKUP "+key)
			if strings.Contains(row, `"results":[]`) {
				t.Errorf("the key %s finds nothing", key)
			}
			if lookups%10 == 0 { // other callers do not find it
				for _, other := range []person{bob, nobody, foreign} {
					if text := query(t, s, other, "LOOKUP "+key); !strings.Contains(text, `"results":[]`) {
						t.Errorf("%v reads %s: %.300s", other, key, text)
					}
				}
			}
			keys, texts := keysOf(t, row)
			look(texts, hops)
			next = append(next, keys...)
		}
		front = next
	}
	deepest := 0
	for i := range facts {
		if hops, ok := found[i]; !ok {
			t.Errorf("the fact %q was not found", fact(i))
		} else {
			deepest = max(deepest, hops)
		}
	}
	t.Logf("%d facts, the farthest %d LOOKUPs away; %d keys followed", len(found), deepest, lookups)
	if deepest > 8 {
		t.Errorf("a fact is %d LOOKUPs away", deepest)
	}
}

// lookupKeys are hints as they are printed, keyForms the keys that rows name.
var (
	lookupKeys = regexp.MustCompile(`REM LOOKUP ("[^"]+"|[^\s\]]+)`)
	keyForms   = regexp.MustCompile(`^(session-[0-9a-f]{6,}-\d{8}-chunk-\d+|session-diary-msg-\d+)$`)
)

// keysIn are the keys that a text names.
func keysIn(text string) (keys []string) {
	for _, m := range lookupKeys.FindAllStringSubmatch(text, -1) {
		if key := strings.TrimRight(m[1], ".,"); key != "to" { // "Use REM LOOKUP to retrieve …"
			keys = append(keys, key)
		}
	}
	return keys
}

// keysOf are the keys in an answer, and all its texts.
func keysOf(t *testing.T, answer string) (keys []string, texts string) {
	t.Helper()
	var all any
	if err := json.Unmarshal([]byte(answer), &all); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v)
			b.WriteByte('\n')
			if keyForms.MatchString(v) {
				keys = append(keys, v)
			}
			keys = append(keys, keysIn(v)...)
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(all)
	return keys, b.String()
}

// historyTokens is what a request has between its instructions and its message, as
// it is estimated.
func historyTokens(x harness.Exchange) int {
	n := 0
	for i, m := range x.Body.Messages[:max(0, len(x.Body.Messages)-1)] {
		text := m.Text()
		if i == 0 || strings.HasPrefix(text, "[Context]") {
			continue
		}
		n += (len([]rune(text))+3)/4 + 4
	}
	return n
}

// said is the user's message of a turn.
func said(i, turns int) string {
	text := fmt.Sprintf("turn %d: today I walked %d steps and thought about gardens, bridges and the sea", i, 1000+i*7)
	if every := turns / facts; i%every == 0 {
		text += ". Please note that " + fact(i/every)
	}
	return text
}

// fixtures make the provider answer each turn at length.
func fixtures(t *testing.T, turns int) string {
	t.Helper()
	type match struct {
		UserMessage string `json:"userMessage"`
	}
	type fixture struct {
		Match    match             `json:"match"`
		Response map[string]string `json:"response"`
	}
	long := strings.Repeat("A walk of that length is a good day's work, and gardens, bridges and the sea are worth a thought. ", 9)
	list := []fixture{{match{"turn "}, map[string]string{"content": long}}}
	raw, err := json.Marshal(map[string]any{"fixtures": list})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "fixtures.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
