package knowledge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// Replicas that start at once on an empty database all come up.
func TestMigrateAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				code, stdout, stderr := harness.Run(t, p.env(), "migrate")
				if p.url == "" && strings.Contains(stderr, "another p8 uses") {
					return // the embedded store has one owner at a time
				}
				if code != 0 || !strings.HasSuffix(stdout, " is up to date\n") {
					t.Errorf("p8 migrate ended with %d: %s%s", code, stdout, stderr)
				}
			})
		}
		all.Wait()
		if got := p.run(t, "doctor"); strings.Contains(got, "MISSING") {
			t.Errorf("p8 doctor on a migrated database:\n%s", got)
		}
		p.run(t, "query", "SELECT count(*) FROM resources")
	})
}

// The doctor names what a database lacks, and how to fix it.
func TestDoctor(t *testing.T) {
	owner := harness.Postgres(t, "template0") // without extensions
	u, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	database := strings.TrimPrefix(u.Path, "/")
	role := database + "_poor"
	harness.Execute(t, owner, `CREATE ROLE `+role+` LOGIN PASSWORD 'poor'`)
	t.Cleanup(func() { harness.Execute(t, owner, `DROP ROLE `+role) })
	u.User = url.UserPassword(role, "poor")
	p := &place{name: "poor", dir: t.TempDir(), url: u.String()}

	code, stdout, stderr := harness.Run(t, p.env(), "doctor")
	if code != 1 || !strings.Contains(stderr, "the database lacks") {
		t.Errorf("p8 doctor ended with %d: %s", code, stderr)
	}
	for _, want := range []string{"MISSING  extension vector", "MISSING  extension pg_trgm", "CREATE EXTENSION vector", "MISSING  privilege to create tables", "GRANT CREATE"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout+stderr, "poor@") || strings.Contains(stdout+stderr, ":poor") {
		t.Errorf("the password is shown:\n%s%s", stdout, stderr)
	}
	// A start says the same and leads to the doctor.
	code, _, stderr = harness.Run(t, p.env(), "migrate")
	if code != 1 || !strings.Contains(stderr, "p8 doctor") {
		t.Errorf("p8 migrate ended with %d: %s", code, stderr)
	}
	// A server that does not answer.
	u.Host = "127.0.0.1:1"
	nowhere := &place{name: "nowhere", dir: t.TempDir(), url: u.String()}
	if code, stdout, _ := harness.Run(t, nowhere.env(), "doctor"); code != 1 || !strings.Contains(stdout, "MISSING  connection") {
		t.Errorf("p8 doctor without a server ended with %d: %s", code, stdout)
	}
}

// rebuild-keys does not change the results of LOOKUP.
func TestRebuildKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		p.run(t, "upsert", filepath.Join(harness.Root(t), "examples", "data"))
		p.run(t, "upsert", filepath.Join(harness.Root(t), "examples", "data"), "-u", "alice@example.com")
		look := func() string {
			const queries = "LOOKUP sarah-chen, project-alpha, alpha-kickoff, api-design, general, getting-started\n" +
				"TRAVERSE sarah-chen DEPTH 3 LIMIT 100\nFUZZY sara chn\n"
			var all strings.Builder
			for _, user := range []string{"", "alice@example.com"} {
				_, stdout, stderr := harness.Start(t, p.env(), queries, "query", "-f", "json", "-u", user).Wait()
				all.WriteString(stdout + stderr)
			}
			return all.String()
		}
		before := look()
		// A lost index is rebuilt from the rows.
		p.execute(t, `DELETE FROM kv_store`)
		if lost := look(); lost == before {
			t.Error("without its keys the store answers as before")
		}
		first := p.run(t, "db", "rebuild-keys")
		if after := look(); after != before {
			t.Errorf("after db rebuild-keys:\n%.2000s\nbefore:\n%.2000s", after, before)
		}
		if again := p.run(t, "db", "rebuild-keys"); again != first {
			t.Errorf("rebuilt twice: %s, then %s", first, again)
		}
	})
}

// A server makes the vectors that an upsert left to it.
func TestServerEmbeds(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		p.run(t, "upsert", "--no-embed", filepath.Join(harness.Root(t), "examples", "data"))
		search := func(s *harness.Server) bool {
			// No word of the question is in the text: only a vector finds it.
			_, body := send(t, http.MethodPost, s.URL+"/query/raw", object(t, "query", "SEARCH migrating databases FROM ontologies MIN_SIMILARITY 0.05"))
			var found struct{ Results []struct{ Key string } }
			if err := json.Unmarshal(body, &found); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			return slices.ContainsFunc(found.Results, func(r struct{ Key string }) bool { return r.Key == "database-migration-plan" })
		}
		s := p.serve(t)
		until(t, "the server's vectors", func() bool { return search(s) && p.waiting(t) == 0 })
		if got := p.run(t, "jobs", "list", "--kind", "embed"); !strings.Contains(got, "embed") {
			t.Errorf("no job of the kind embed is listed:\n%s", got)
		}
		if code := s.Stop(t); code != 0 {
			t.Errorf("the server ended with %d", code)
		}
	})
}

// waiting is how many texts wait for their vectors.
func (p *place) waiting(t *testing.T) int {
	t.Helper()
	if p.url == "" {
		return 0 // the server has the database
	}
	s := p.open(t)
	defer s.Close()
	status, err := s.Maintenance().EmbeddingStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int(status.Waiting)
}

// until asks until it is so.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("waited %s for %s", patience, what)
		case <-tick.C:
		}
	}
}

// Jobs are listed, run again and ended from the command line.
func TestJobs(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		p.run(t, "upsert", filepath.Join(harness.Root(t), "examples", "data", "projects"))
		s := p.serve(t)
		type job struct {
			ID    int64  `json:"id"`
			Kind  string `json:"kind"`
			State string `json:"state"`
		}
		list := func(args ...string) []job {
			var jobs []job
			if err := json.Unmarshal([]byte(p.run(t, append([]string{"jobs", "list", "--json"}, args...)...)), &jobs); err != nil {
				t.Fatal(err)
			}
			return jobs
		}
		id := ""
		until(t, "a finished embedding", func() bool {
			for _, j := range list("--state", "completed") {
				if j.Kind == "embed" {
					id = fmt.Sprint(j.ID)
				}
			}
			return id != ""
		})
		if code := s.Stop(t); code != 0 {
			t.Errorf("the server ended with %d", code)
		}
		if got := p.run(t, "jobs", "retry", id); got != "job "+id+" (embed) is pending\n" {
			t.Errorf("jobs retry: %q", got)
		}
		if got := p.run(t, "jobs", "cancel", id); got != "job "+id+" (embed) is cancelled\n" {
			t.Errorf("jobs cancel: %q", got)
		}
		if jobs := list("--state", "cancelled"); len(jobs) != 1 || fmt.Sprint(jobs[0].ID) != id {
			t.Errorf("the cancelled jobs are %+v", jobs)
		}
		for _, verb := range []string{"retry", "cancel"} {
			if code, _, stderr := harness.Run(t, p.env(), "jobs", verb, "999999"); code != 1 || !strings.Contains(stderr, "not found") {
				t.Errorf("jobs %s of no job: %d, %s", verb, code, stderr)
			}
		}
	})
}
