package memory_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// If a server is killed in a dream, the next one completes it, whoever requests it: the
// dreams exist once, and the model is called at most once more.
func TestKilledInADream(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		stop     stopper
		database bool
		// asked is how often the agents may ask.
		dreamer, profiler int
	}{
		{"while the model dreams", during(dreamer), false, 2, 1},
		{"while the answer is stored", atTheStore, false, 2, 1},
		{"while the profile is made", during(profiler), false, 1, 2},
		{"while the model dreams, PostgreSQL", during(dreamer), true, 2, 1},
		{"while the chained tool works, PostgreSQL", atTheTool, true, 1, 1},
		{"while the profile is made, PostgreSQL", during(profiler), true, 1, 2},
	} {
		for _, again := range []string{"asked", "queued"} {
			if tc.database && again == "queued" {
				continue // the job is run again when the time of its kind is over
			}
			t.Run(tc.name+", "+again, func(t *testing.T) {
				t.Parallel()
				// On a database that is not shared, no wait for the dead server is necessary.
				database, grace := "", 2*patience
				if tc.database {
					database, grace = harness.Postgres(t, ""), 15*time.Second
				}
				p := newPlace(t, database, "P8_RUN_GRACE="+grace.String())
				p.DataDir = harness.Disk(t)
				p.died(t, database, again, tc.stop)
				if d, u := p.model.times(dreamer), p.model.times(profiler); d > tc.dreamer || u > tc.profiler {
					t.Errorf("the dreaming agent asked %d times, that of the profile %d times", d, u)
				}
			})
		}
	}
}

// stopper stops a dream at the moment where its server is killed; free continues it.
type stopper func(t *testing.T, p *place, database string, begin func()) (free func())

// died kills a server during a dream and checks the result.
func (p *place) died(t *testing.T, database, again string, stop stopper) {
	p.model.dream = dreamOf("long-walks", "walk-to-the-sea")
	s := harness.Serve(t, p.Options)
	if status, body := send(t, s, alice, http.MethodPost, "/moments", map[string]any{"name": "walk-to-the-sea", "summary": "The first of many."}); status != http.StatusCreated {
		t.Fatalf("status %d: %s", status, body)
	}
	walk(t, s, alice, "days", 3)
	gone := make(chan struct{})
	free := stop(t, p, database, func() {
		if again == "queued" {
			send(t, s, alice, http.MethodPost, "/dream", nil)
			close(gone)
			return
		}
		go func() {
			defer close(gone)
			// The verb asks the server, or dreams itself where the database is shared.
			_, _, _ = p.try(t, "dream", alice.email, "--tenant", alice.tenant, "--server", s.URL)
		}()
	})
	s.Kill()
	<-gone
	free()

	s = harness.Serve(t, p.Options)
	if again == "queued" {
		await(t, "the dream's job", func() bool { return stats(t, s)["dream"].States["completed"] == 1 })
	} else {
		var done struct{ Status string }
		await(t, "the dream", func() bool {
			status, body := send(t, s, alice, http.MethodPost, "/dream", map[string]any{"wait": true})
			if status != http.StatusOK && status != http.StatusConflict {
				t.Fatalf("status %d: %s", status, body)
			}
			return status == http.StatusOK && json.Unmarshal(body, &done) == nil && done.Status == "completed"
		})
	}
	if list := moments(t, s, alice, "dream", ""); len(list) != 1 {
		t.Errorf("the dreams are %+v", list)
	}
	var target []struct {
		Edges []struct{ Target, Relation string } `json:"graph_edges"`
	}
	get(t, s, alice, "/moments?moment_type=note", &target)
	if len(target) != 1 || len(target[0].Edges) != 1 || target[0].Edges[0].Relation != "dreamed_from" {
		t.Errorf("the way back is %+v", target)
	}
	var sessions []struct{ ID, Mode string }
	get(t, s, alice, "/sessions?mode=dreaming", &sessions)
	if len(sessions) != 2 {
		t.Errorf("the dreaming sessions are %+v", sessions)
	}
	for _, x := range sessions {
		var rows []harness.Row
		get(t, s, alice, "/sessions/"+x.ID+"/messages", &rows)
		said := 0
		for _, row := range rows {
			if row.Type == "assistant" {
				said++
			}
		}
		if said != 1 {
			t.Errorf("the session %s has %d answers", x.ID, said)
		}
	}
}

// during is when an agent has asked the model, which does not answer.
func during(agent string) stopper {
	return func(t *testing.T, p *place, _ string, begin func()) func() {
		p.model.hold(agent)
		begin()
		receive(t, p.model.came, agent)
		return func() { p.model.release(agent) }
	}
}

// receive waits until the agent comes.
func receive(t *testing.T, from <-chan string, agent string) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case came := <-from:
			if came == agent {
				return
			}
		case <-late:
			t.Fatalf("%s did not come within %v", agent, patience)
		}
	}
}

// atTheStore is when the model has answered, and nothing can be written.
func atTheStore(t *testing.T, p *place, _ string, begin func()) func() {
	during(dreamer)(t, p, "", begin)
	c, err := sqlite3.Open(filepath.Join(p.DataDir, "p8.db"))
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the lock", func() bool { return c.Exec("BEGIN IMMEDIATE") == nil })
	p.model.release(dreamer)
	receive(t, p.model.sent, dreamer)
	return func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// atTheTool is when the answer is stored, and the chained tool waits for the table of
// moments.
func atTheTool(t *testing.T, p *place, database string, begin func()) func() {
	during(dreamer)(t, p, "", begin)
	c, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), `BEGIN; LOCK TABLE moments IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	p.model.release(dreamer)
	await(t, "the chained tool", func() bool {
		waits := false
		err := c.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'moments'::regclass AND NOT granted)`).Scan(&waits)
		return err == nil && waits
	})
	return func() {
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
