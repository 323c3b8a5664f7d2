package wiring

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/internal/title"
	"github.com/p8-org/p8/store"
)

// titling are parts whose sessions a model titles, after one turn of ann's.
type titling struct {
	*Parts
	fake *harness.Fake
}

func newTitling(t *testing.T, o Options, settings ...string) *titling {
	t.Helper()
	dir := t.TempDir()
	database.Copy(t, dir+"/p8.db")
	fake := harness.NewFake(t, func(x harness.Exchange) harness.Reply {
		if x.Body.Model == "gpt-4.1-nano" {
			return harness.Reply{Text: []string{`{"title": "\"A weekend in Rome\""}`}}
		}
		return harness.Reply{Text: []string{"On Saturday …"}}
	})
	cfg, err := config.Load(config.Options{Environ: append(append(fake.Env(), "P8_DATA_DIR="+dir, "P8_EMBEDDING_MODEL=none", "P8_SUMMARY_MODEL=none"), settings...)})
	if err != nil {
		t.Fatal(err)
	}
	o.Log = slog.New(slog.DiscardHandler)
	p, err := Open(t.Context(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	ctx := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "ann", SessionID: "trip"})
	turn, err := p.Chat.Start(ctx, chat.Request{Input: "Plan a weekend in Rome."})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range turn.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Chat.Close(t.Context()); err != nil { // Ended has returned
		t.Fatal(err)
	}
	return &titling{p, fake}
}

// session is ann's.
func (p *titling) session(t *testing.T) store.Session {
	t.Helper()
	sess, err := p.Store.Session(identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "ann"}), "trip")
	if err != nil {
		t.Fatal(err)
	}
	return sess
}

// jobs are those that wait to title a session.
func (p *titling) jobs(t *testing.T) []jobs.Job {
	t.Helper()
	q, err := p.Work.get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := q.List(t.Context(), jobs.Filter{Kinds: []string{kindTitle}})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

const nano = "P8_TITLE_MODEL=openai:gpt-4.1-nano"

// A server titles a session by a job, which may run twice.
func TestTitles(t *testing.T) {
	p := newTitling(t, Options{Serves: true}, nano)
	list := p.jobs(t)
	if len(list) != 1 || p.session(t).Title != "Plan a weekend in Rome." {
		t.Fatalf("%+v, %+v", list, p.session(t))
	}
	args := []byte(`{"tenant":"acme","user":"ann","session":"trip"}`)
	for range 2 {
		if err := p.writeTitle(t.Context(), args); err != nil {
			t.Fatal(err)
		}
	}
	if sess := p.session(t); sess.Title != "A weekend in Rome" || sess.Named {
		t.Errorf("%+v", sess)
	}
	if asked := p.fake.Asked(); len(asked) != 2 {
		t.Errorf("%d requests", len(asked))
	}
	ctx := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "ann"})
	rows, err := p.Store.Messages(ctx, "trip", store.MessageFilter{Shares: true, Last: 1})
	if err != nil || len(rows) != 1 || rows[0].AgentName != title.AgentName || !strings.HasSuffix(rows[0].Model, "gpt-4.1-nano") || rows[0].CostUSD <= 0 {
		t.Errorf("%+v, %v", rows, err)
	}
}

// A command has no workers: it titles the session itself.
func TestTitlesInCommands(t *testing.T) {
	p := newTitling(t, Options{}, nano)
	if sess := p.session(t); sess.Title != "A weekend in Rome" || len(p.jobs(t)) != 0 {
		t.Errorf("%+v, %d jobs", sess, len(p.jobs(t)))
	}
}

// Without a model for it the title is the first words, and a job that was left does nothing.
func TestNoTitles(t *testing.T) {
	for _, setting := range []string{"P8_TITLE_MODEL=", "P8_TITLE_MODEL=none"} {
		p := newTitling(t, Options{Serves: true}, setting)
		if sess := p.session(t); sess.Title != "Plan a weekend in Rome." || len(p.jobs(t)) != 0 {
			t.Errorf("%s: %+v, %d jobs", setting, sess, len(p.jobs(t)))
		}
		if err := p.writeTitle(t.Context(), []byte(`{"tenant":"acme","user":"ann","session":"trip"}`)); err != nil {
			t.Error(err)
		}
		if asked := p.fake.Asked(); len(asked) != 1 {
			t.Errorf("%s: %d requests", setting, len(asked))
		}
	}
}

// A chat that is not stored has no title.
func TestNoTitleOfWhatIsNotStored(t *testing.T) {
	p := newTitling(t, Options{NoStore: true, Memory: true}, nano)
	if asked := p.fake.Asked(); len(asked) != 1 {
		t.Errorf("%d requests", len(asked))
	}
}
