package memory_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// Two servers on one PostgreSQL sum up, remind and dream at the same time: nothing is
// done twice, and nothing is left out.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	model, hook := newMind(t), newReceiver(t)
	o := harness.Options{Env: append(model.Env(), "P8_SCHEMA_DIR="+agents(t), "P8_EMBEDDING_MODEL=none", "P8_SUMMARY_MODEL=openai:gpt-4.1",
		"P8_MOMENT_TOKEN_THRESHOLD=300", "P8_DATABASE_URL="+harness.Postgres(t, ""),
		"P8_REMINDER_WEBHOOK_URL="+hook.url, "P8_REMINDER_WEBHOOK_SECRET=whsec_"+base64.StdEncoding.EncodeToString(hook.secret))}
	two := []*harness.Server{harness.Serve(t, o), harness.Serve(t, o)}
	people := []person{alice, bob, foreign}

	t.Run("moments", func(t *testing.T) {
		t.Run("sessions", func(t *testing.T) {
			for i, who := range people {
				for _, kind := range []string{"plain", unsayable} {
					t.Run(fmt.Sprintf("%d %s", i, kind), func(t *testing.T) {
						t.Parallel()
						converse(t, two, who, fmt.Sprintf("%s-%d", kind, i), kind)
					})
				}
			}
		})
		for i, who := range people {
			for _, kind := range []string{"plain", unsayable} {
				covered(t, two[i%2], who, fmt.Sprintf("%s-%d", kind, i), kind)
			}
		}
		if model.times(sumsUp) == 0 {
			t.Error("the model was not asked for summaries")
		}
	})
	t.Run("reminders", func(t *testing.T) {
		const each = 5
		due := time.Now().Add(6 * time.Second).UTC().Format(time.RFC3339)
		for i, who := range people {
			for n := range each {
				status, body := send(t, two[(i+n)%2], who, http.MethodPost, "/reminders",
					map[string]any{"name": fmt.Sprintf("walk %d", n), "description": "Put on your shoes.", "crontab": due})
				if status != http.StatusCreated {
					t.Fatalf("status %d: %s", status, body)
				}
			}
		}
		await(t, "the deliveries", func() bool { return len(hook.got()) >= each*len(people) })
		await(t, "the jobs", func() bool { return stats(t, two[0])["reminder"].States["completed"] == each*len(people) })
		for id, n := range hook.got() {
			if n != 1 {
				t.Errorf("the webhook was told of %s %d times", id, n)
			}
		}
		for i, who := range people {
			told := moments(t, two[i%2], who, "notification", "")
			if len(told) != each {
				t.Errorf("%v has %d notifications", who, len(told))
			}
			for _, m := range told {
				if hook.got()[m.ID] != 1 {
					t.Errorf("the webhook does not know the notification %s", m.ID)
				}
			}
		}
	})
	t.Run("dreams", func(t *testing.T) {
		model.dream = dreamOf("long-walks", "gardens-of-nobody")
		model.hold(dreamer)
		status := make([]int, 2)
		var wg sync.WaitGroup
		for i, s := range two {
			wg.Go(func() {
				status[i], _ = send(t, s, alice, http.MethodPost, "/dream", map[string]any{"wait": true})
				if status[i] == http.StatusConflict {
					model.release(dreamer) // one of them was told
				}
			})
		}
		wg.Wait()
		if slices.Sort(status); !slices.Equal(status, []int{http.StatusOK, http.StatusConflict}) {
			t.Errorf("two dreams at once are answered with %v", status)
		}
		// In the background: one job is enough for both.
		model.hold(dreamer)
		var queued [2]struct {
			Job       int64 `json:"job_id"`
			Duplicate bool
		}
		for i, s := range two {
			status, body := send(t, s, bob, http.MethodPost, "/dream", nil)
			if err := json.Unmarshal(body, &queued[i]); err != nil || status != http.StatusAccepted {
				t.Fatalf("status %d: %s", status, body)
			}
		}
		if queued[0].Duplicate || !queued[1].Duplicate || queued[0].Job != queued[1].Job {
			t.Errorf("queued twice: %+v", queued)
		}
		model.release(dreamer)
		await(t, "the dream", func() bool { return stats(t, two[1])["dream"].States["completed"] == 1 })
		for i, who := range []person{alice, bob} {
			if list := moments(t, two[i], who, "dream", ""); len(list) != 1 {
				t.Errorf("%v has the dreams %+v", who, list)
			}
		}
		if n := model.times(dreamer); n != 2 {
			t.Errorf("the dreaming agent asked %d times", n)
		}
	})
	for kind, k := range stats(t, two[0]) {
		if k.Errors > 0 || k.States["failed"] > 0 || k.Attempts < k.States["completed"] {
			t.Errorf("the jobs of the kind %s: %+v", kind, k)
		}
	}
}

// kindStats is how the jobs of a kind fare.
type kindStats struct {
	Kind             string
	States           map[string]int
	Attempts, Errors int
}

func stats(t *testing.T, s *harness.Server) map[string]kindStats {
	t.Helper()
	var list []kindStats
	get(t, s, person{}, "/jobs/stats", &list)
	all := map[string]kindStats{}
	for _, k := range list {
		all[k.Kind] = k
	}
	return all
}

// converse has a session whose turns alternate between the servers, and has it summed
// up by both at once again and again.
func converse(t *testing.T, two []*harness.Server, who person, session, about string) {
	const turns = 14
	for i := range turns {
		text := fmt.Sprintf("turn %d about the %s: %s", i, about, strings.Repeat("I walked along the sea and crossed a bridge. ", 6))
		two[i%2].Chat(t, harness.Ask{Agent: "diarist", Session: session, Text: text, Headers: who.headers()})
		if i%3 != 2 {
			continue
		}
		var wg sync.WaitGroup
		for _, s := range two {
			wg.Go(func() {
				status, body := send(t, s, who, http.MethodPost, "/sessions/"+session+"/compact", map[string]any{"threshold": 100})
				if status != http.StatusOK {
					t.Errorf("status %d: %s", status, body)
				}
			})
		}
		wg.Wait()
	}
}

// covered checks the moments of a session: each message is in one of them, and each
// knows those before it.
func covered(t *testing.T, s *harness.Server, who person, session, about string) {
	t.Helper()
	var built struct {
		Unsummarised int `json:"unsummarised_tokens"`
	}
	await(t, "the moments of "+session, func() bool {
		status, body := send(t, s, who, http.MethodPost, "/sessions/"+session+"/compact", map[string]any{"threshold": 1})
		return status == http.StatusOK && json.Unmarshal(body, &built) == nil && built.Unsummarised == 0
	})
	chunks := moments(t, s, who, "session_chunk", session)
	slices.SortFunc(chunks, func(a, b moment) int { return a.Metadata.Index - b.Metadata.Index })
	var rows []harness.Row
	get(t, s, who, "/sessions/"+session+"/messages?limit=500", &rows)
	if len(chunks) < 5 {
		t.Errorf("%s has %d moments", session, len(chunks))
	}
	last, messages := int64(0), 0
	for i, m := range chunks {
		if m.Metadata.Index != i || m.Metadata.First != last+1 || m.Metadata.Last < m.Metadata.First {
			t.Errorf("%s: the moment %d after message %d is %+v", session, i, last, m)
		}
		last, messages = m.Metadata.Last, messages+m.Metadata.Messages
		var previous []string
		for back := 1; i-back >= 0; back *= 2 {
			previous = append(previous, chunks[i-back].Name)
		}
		if !slices.Equal(m.Previous, previous) {
			t.Errorf("%s: before %s are %v, want %v", session, m.Name, m.Previous, previous)
		}
		if byModel := strings.HasPrefix(m.Summary, modelSummary); m.Summary == "" || byModel == (about == unsayable) {
			t.Errorf("%s: the summary of %s is %q", session, m.Name, m.Summary)
		}
	}
	if n := len(rows); n == 0 || rows[n-1].Seq != last || messages != n {
		t.Errorf("%s: the moments cover %d messages up to number %d, there are %d", session, messages, last, n)
	}
}

// dreamOf is the answer of a dreaming agent.
func dreamOf(name string, targets ...string) string {
	var affinity []any
	for i, target := range targets {
		affinity = append(affinity, map[string]any{"target": target, "relation": "dream_affinity", "weight": 0.9 - float64(i)/10, "reason": "they belong together"})
	}
	return object("dream_moments", []any{map[string]any{
		"name": name, "summary": "What was said adds up to long walks.", "topic_tags": []string{"walks"}, "emotion_tags": []string{}, "affinity_fragments": affinity,
	}}, "search_questions", []string{}, "cross_session_themes", []string{})
}
