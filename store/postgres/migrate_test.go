package postgres

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/p8-org/p8/store"
)

// Replicas that start at once on an empty database all come up, and the
// migrations have run once.
func TestConcurrentOpen(t *testing.T) {
	url := emptyDatabase(t)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			s, err := Open(t.Context(), quiet(url))
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := s.Users().Put(caller(t.Context()), &store.User{Name: "Ute"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	c, err := connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(c)
	var twice int
	if err := c.QueryRow(t.Context(), `SELECT count(*) - count(DISTINCT version_id) FROM goose_db_version`).Scan(&twice); err != nil || twice != 0 {
		t.Errorf("%d migrations ran twice (%v)", twice, err)
	}
	version, pending, err := behind(t.Context(), c)
	if version < 1 || pending || err != nil {
		t.Errorf("version %d, pending %v, %v", version, pending, err)
	}
}

func TestNewerDatabase(t *testing.T) {
	url := emptyDatabase(t)
	if err := Migrate(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	execute(t, url, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	_, err := Open(t.Context(), quiet(url))
	if err == nil || !strings.Contains(err.Error(), "use a newer program") {
		t.Errorf("got %v", err)
	}
	if f := finding(t, Doctor(t.Context(), url), "schema version"); f.OK || f.Mend == "" {
		t.Errorf("the doctor finds %+v", f)
	}
}

// Waiting for another process that migrates ends with the context.
func TestMigrateWaits(t *testing.T) {
	url := emptyDatabase(t)
	c, err := connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(c)
	unlock, err := lock(t.Context(), c, lockMigrate)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- Migrate(ctx, url, slog.New(slog.DiscardHandler)) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	unlock()
	if err := Migrate(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}

func finding(t *testing.T, list []Finding, name string) Finding {
	t.Helper()
	for _, f := range list {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no finding %q in %+v", name, list)
	return Finding{}
}

func TestDoctor(t *testing.T) {
	url := emptyDatabase(t)
	for _, opened := range []bool{false, true} {
		if opened {
			if err := Migrate(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
		}
		list := Doctor(t.Context(), url)
		if len(list) < 9 {
			t.Errorf("only %d findings: %+v", len(list), list)
		}
		for _, f := range list {
			if !f.OK || f.Detail == "" || f.Mend != "" {
				t.Errorf("opened %v: %+v", opened, f)
			}
		}
		if f := finding(t, list, "schema version"); strings.Contains(f.Detail, "up to date") != opened {
			t.Errorf("opened %v: %+v", opened, f)
		}
	}
}

// Without a privilege or an extension Open and Doctor say the same, and how to
// mend it.
func TestMissing(t *testing.T) {
	url := emptyDatabase(t)
	execute(t, url, `CREATE SCHEMA locked`, `REVOKE CREATE ON SCHEMA locked FROM CURRENT_USER`)
	for _, c := range []struct{ url, name, text string }{
		{url + "&search_path=locked", "privilege to create tables", "GRANT CREATE, USAGE ON SCHEMA"},
		{url + "&search_path=nowhere", "privilege to create tables", "search_path"},
	} {
		f := finding(t, Doctor(t.Context(), c.url), c.name)
		if f.OK || !strings.Contains(f.Mend, c.text) {
			t.Errorf("the doctor finds %+v, want %q", f, c.text)
		}
		if _, err := Open(t.Context(), quiet(c.url)); err == nil || !strings.Contains(err.Error(), f.Mend) {
			t.Errorf("opening: %v, want %q", err, f.Mend)
		}
	}
}

func TestExtension(t *testing.T) {
	c, err := connect(t.Context(), emptyDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(c)
	for _, x := range []struct {
		name, least string
		ok          bool
		mend        string
	}{
		{"vector", minVector, true, ""},
		{"vector", "99.1", false, "install a newer it"},
		{"no_such_extension", "", false, "install it"},
	} {
		f := extension(t.Context(), c, x.name, x.least, "it", true)
		if f.OK != x.ok || !strings.Contains(f.Mend, x.mend) {
			t.Errorf("%s %s: %+v", x.name, x.least, f)
		}
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		have, least string
		want        bool
	}{
		{"0.8.0", "0.8.0", false}, {"0.7.4", "0.8.0", true}, {"0.10.0", "0.8.0", false}, {"1.0", "0.8.0", false},
		{"0.8", "0.8.0", false}, {"1.6", "", false}, {"", "0.8.0", true},
	} {
		if got := older(c.have, c.least); got != c.want {
			t.Errorf("older(%q, %q) = %v", c.have, c.least, got)
		}
	}
}

// No error tells the URL or a password, and each says what to do.
func TestConnectErrors(t *testing.T) {
	good := emptyDatabase(t)
	u, err := url.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(good)
	if err != nil {
		t.Fatal(err)
	}
	change := func(fn func(*url.URL)) string {
		c := *u
		fn(&c)
		return c.String()
	}
	for what, c := range map[string]struct{ url, want string }{
		"no URL":         {"://s3cret", "cannot be read"},
		"a bad port":     {"postgres://u:s3cret@localhost:port/db", "cannot be read"},
		"an odd setting": {"postgres://u:s3cret@localhost/db?sslmode=s3cret", "cannot be read"},
		"password":       {change(func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), "s3cret") }), "check the user and the password"},
		"database":       {change(func(u *url.URL) { u.Path = "/none" }), "create it"},
		"port":           {change(func(u *url.URL) { u.Host = "127.0.0.1:1" }), "check that it runs"},
		"host":           {change(func(u *url.URL) { u.Host = "no.such.host.invalid" }), "check the host"},
		"TLS":            {change(func(u *url.URL) { u.RawQuery = "sslmode=require" }), "sslmode"},
	} {
		_, err := Open(t.Context(), quiet(c.url))
		list := Doctor(t.Context(), c.url)
		if err == nil || len(list) != 1 || list[0].OK {
			t.Errorf("%s: %v, %+v", what, err, list)
			continue
		}
		for _, text := range []string{err.Error(), list[0].Detail + ": " + list[0].Mend} {
			if !strings.Contains(text, c.want) {
				t.Errorf("%s: %s, want %q", what, text, c.want)
			}
			if strings.Contains(text, "s3cret") || strings.Contains(text, "postgres://u:") || config.Password != "" && strings.Contains(text, config.Password) {
				t.Errorf("%s: the text tells a secret: %s", what, text)
			}
		}
	}
}
