package memory_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// place is where a test happens: a database and a model.
type place struct {
	harness.Options
	model *mind
}

// newPlace is a place with a database of its own: the embedded one, or that of the URL.
func newPlace(t *testing.T, database string, more ...string) *place {
	t.Helper()
	p := &place{model: newMind(t)}
	p.Options = harness.Options{DataDir: t.TempDir(), Env: append(append(p.model.Env(),
		"P8_SCHEMA_DIR="+agents(t), "P8_EMBEDDING_MODEL=none", "P8_SUMMARY_MODEL=none", "P8_MOMENT_TOKEN_THRESHOLD=150"), more...)}
	if database != "" {
		p.Env = append(p.Env, "P8_DATABASE_URL="+database)
	}
	return p
}

// everywhere runs a test on the embedded database and on PostgreSQL, at the same time.
func everywhere(t *testing.T, test func(t *testing.T, p *place)) {
	t.Run("embedded", func(t *testing.T) { t.Parallel(); test(t, newPlace(t, "")) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, newPlace(t, harness.Postgres(t, ""))) })
}

// p8 runs a command, which must succeed, and returns its output.
func (p *place) p8(t *testing.T, args ...string) string {
	t.Helper()
	code, out, stderr := p.try(t, args...)
	if code != 0 {
		t.Fatalf("p8 %q ended with %d: %s%s", args, code, out, stderr)
	}
	return out
}

// try runs a command to its end.
func (p *place) try(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return harness.Run(t, append([]string{"P8_DATA_DIR=" + p.DataDir}, p.Env...), args...)
}

// walk has a user talk in a session.
func walk(t *testing.T, s *harness.Server, who person, session string, turns int) {
	t.Helper()
	for range turns {
		s.Chat(t, harness.Ask{Agent: "diarist", Session: session, Headers: who.headers(),
			Text: "Today I walked along the sea and thought about Project Alpha. " + strings.Repeat("The bridge was closed. ", 8)})
	}
}

// promptKeys are the keys that a dreaming agent is shown.
var (
	promptKeys = regexp.MustCompile("(?m)^Keys?: (`[^`]+`(?:, `[^`]+`)*)$")
	quotedKey  = regexp.MustCompile("`([^`]+)`")
)

// A dream and the user's rows have edges in both directions, so each is found from the other.
func TestDreams(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		as := []string{"--user", alice.email, "--tenant", alice.tenant}
		p.p8(t, append([]string{"upsert", filepath.Join(harness.Root(t), "examples", "data"), "--no-embed"}, as...)...)
		s := harness.Serve(t, p.Options)
		walk(t, s, alice, "days", 9)
		var chunks []moment
		await(t, "the moments", func() bool {
			chunks = moments(t, s, alice, "session_chunk", "days")
			return len(chunks) > 0
		})
		targets := []string{"project-alpha", "night-of-the-lock", "sarah-chen", chunks[0].Name}
		p.model.dream = dreamOf("long-walks", targets...)
		dream := func(more ...string) string {
			return p.p8(t, append([]string{"dream", alice.email, "--tenant", alice.tenant}, more...)...)
		}

		shown := dream("--dry-run")
		for _, want := range []string{"I walked along the sea", "`" + chunks[0].Name + "`", "## Files"} {
			if !strings.Contains(shown, want) {
				t.Errorf("the dry run does not show %q:\n%.4000s", want, shown)
			}
		}
		if strings.Contains(shown, "`night-of-the-lock`") {
			t.Errorf("the dry run shows a moment of October, which was stored today:\n%.4000s", shown)
		}
		for _, line := range promptKeys.FindAllStringSubmatch(shown, -1) {
			for _, key := range quotedKey.FindAllStringSubmatch(line[1], -1) {
				if text := query(t, s, alice, "LOOKUP "+key[1]); strings.Contains(text, `"results":[]`) {
					t.Errorf("the agent is shown the key %s, which finds nothing", key[1])
				}
			}
		}
		if n := p.model.times(dreamer); n > 0 || len(moments(t, s, alice, "dream", "")) > 0 {
			t.Errorf("the dry run asked %d times", n)
		}
		if out := dream(); !strings.Contains(out, "completed") || !strings.Contains(out, "long-walks") {
			t.Errorf("p8 dream says:\n%s", out)
		}
		list := moments(t, s, alice, "dream", "")
		if len(list) != 1 {
			t.Fatalf("the dreams are %+v", list)
		}
		if got := reached(t, s, alice, "TRAVERSE long-walks DEPTH 1"); !subset(targets, got) {
			t.Errorf("the dream leads to %q, want %q", got, targets)
		}
		for _, target := range targets {
			if got := reached(t, s, alice, "TRAVERSE "+target+" TYPE dreamed_from DEPTH 1"); !slices.Contains(got, "long-walks") {
				t.Errorf("from %s there is no way back: %q", target, got)
			}
		}
		text := query(t, s, alice, "SELECT content, interests FROM users")
		if !strings.Contains(text, "Somebody who walks.") || !strings.Contains(text, "gardens") {
			t.Errorf("the profile is %s", text)
		}
		for _, other := range []person{bob, foreign, nobody} {
			if text := query(t, s, other, "TRAVERSE long-walks DEPTH 2"); strings.Contains(text, "adds up") {
				t.Errorf("%v sees the dream: %s", other, text)
			}
		}

		before := p.model.times(dreamer) + p.model.times(profiler)
		if out := dream(); !strings.Contains(out, "skipped no data") {
			t.Errorf("the second dream says:\n%s", out)
		}
		if n := p.model.times(dreamer) + p.model.times(profiler); n != before {
			t.Errorf("a dream about nothing asked the model %d times", n-before)
		}
		over(t, s, p)
	})
}

// over dreams over HTTP: in the background, and at once.
func over(t *testing.T, s *harness.Server, p *place) {
	t.Helper()
	before := p.model.times(dreamer)
	walk(t, s, alice, "days", 1)
	if status, body := send(t, s, alice, http.MethodPost, "/dream", nil); status != http.StatusAccepted || !strings.Contains(string(body), `"job_id"`) {
		t.Errorf("POST /dream: status %d: %s", status, body)
	}
	await(t, "the job", func() bool { return stats(t, s)["dream"].States["completed"] == 1 })
	if n := p.model.times(dreamer) - before; n != 1 {
		t.Errorf("the job asked %d times", n)
	}
	var done struct{ Status string }
	for _, want := range []string{"skipped_no_data", "completed"} {
		status, body := send(t, s, alice, http.MethodPost, "/dream", map[string]any{"wait": true})
		if err := json.Unmarshal(body, &done); err != nil || status != http.StatusOK || done.Status != want {
			t.Errorf("POST /dream: status %d, want %s: %s", status, want, body)
		}
		walk(t, s, alice, "days", 1)
	}
	if list := moments(t, s, alice, "dream", ""); len(list) != 1 {
		t.Errorf("a dream of the same name is there %d times", len(list))
	}
}

// reached returns the names of the rows that a query finds.
func reached(t *testing.T, s *harness.Server, who person, text string) (names []string) {
	t.Helper()
	var answer struct{ Results []map[string]any }
	if err := json.Unmarshal([]byte(query(t, s, who, text)), &answer); err != nil {
		t.Fatal(err)
	}
	for _, row := range answer.Results {
		for _, field := range []string{"key", "entity_key", "name"} {
			if name, ok := row[field].(string); ok {
				names = append(names, strings.ToLower(strings.ReplaceAll(name, " ", "-")))
			}
		}
	}
	return names
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(x string) bool { return !slices.Contains(all, x) })
}
