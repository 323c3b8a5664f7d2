package postgres

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/store"
)

func wantReason(t *testing.T, what string, err error, reason string) {
	t.Helper()
	u := (*store.UnavailableError)(nil)
	if !errors.As(err, &u) || u.Reason != reason {
		t.Errorf("%s: got %v, want %q", what, err, reason)
	}
}

func turnOf(t *testing.T, e *engine) error {
	text := "x"
	return store.New(e).BeginTurn(caller(t.Context()), store.Session{ID: "s"}, &store.Message{Type: store.MessageUser, Content: &text})
}

// named puts the name of the database into a statement.
func named(t *testing.T, sql, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(sql, "%s", strings.TrimPrefix(u.Path, "/"))
}

func TestCheck(t *testing.T) {
	e := openEngine(t)
	database := e.writers.Config().ConnString()
	if err := errors.Join(turnOf(t, e), e.Check(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, do, undo, check, turn string }{
		{"a standby", `ALTER DATABASE %s SET default_transaction_read_only = on`, `ALTER DATABASE %s RESET default_transaction_read_only`,
			reasonReadOnly, reasonReadOnly},
		{"no migrations", `ALTER TABLE goose_db_version RENAME TO away`, `ALTER TABLE away RENAME TO goose_db_version`, reasonMigrations, ""},
		{"an old schema", `UPDATE goose_db_version SET is_applied = false WHERE version_id > 1`, `UPDATE goose_db_version SET is_applied = true`,
			reasonMigrations, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			execute(t, database, named(t, c.do, database))
			e.writers.Reset() // settings of a database are those of new connections
			wantReason(t, "check", e.Check(t.Context()), c.check)
			if err := turnOf(t, e); c.turn != "" {
				wantReason(t, "turn", err, c.turn)
			}
			execute(t, database, `SET default_transaction_read_only = off`, named(t, c.undo, database))
			e.writers.Reset()
			if err := errors.Join(turnOf(t, e), e.Check(t.Context())); err != nil {
				t.Errorf("when it is mended: %v", err)
			}
		})
	}
}

// A failed write is tried again by Check, so that the answer is the truth.
func TestCheckAfterAFullDisk(t *testing.T) {
	e := openEngine(t)
	err := e.WriteSystem(t.Context(), func(c store.Conn) error {
		_, err := c.Exec(t.Context(), `DO $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '`+codeDiskFull+`'; END $$`)
		return err
	})
	wantReason(t, "write", err, reasonFull)
	execute(t, e.writers.Config().ConnString(), `ALTER TABLE leases ADD CONSTRAINT full_disk CHECK (name <> 'p8 ready')`)
	if err := e.Check(t.Context()); err == nil {
		t.Error("the disk is still full, and the check did not write")
	}
	execute(t, e.writers.Config().ConnString(), `ALTER TABLE leases DROP CONSTRAINT full_disk`)
	for range 2 {
		if err := e.Check(t.Context()); err != nil {
			t.Errorf("when there is room again: %v", err)
		}
	}
}

// The server goes away under open connections, and comes back.
func TestServerGone(t *testing.T) {
	u, err := url.Parse(emptyDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: u.Host}
	u.Host = p.start(t, "127.0.0.1:0")
	e := openAt(t, u.String())
	if err := errors.Join(turnOf(t, e), e.Check(t.Context())); err != nil {
		t.Fatal(err)
	}
	p.stop()
	for range 2 { // a connection that breaks, and one that is refused
		wantReason(t, "check", e.Check(t.Context()), reasonUnreachable)
		wantReason(t, "turn", turnOf(t, e), reasonUnreachable)
		err := e.ReadSystem(t.Context(), func(c store.Conn) error {
			return c.Query(t.Context(), `SELECT 1`, func(store.Row) error { return nil })
		})
		wantReason(t, "read", err, reasonUnreachable)
	}
	p.start(t, u.Host)
	if err := errors.Join(turnOf(t, e), e.Check(t.Context())); err != nil {
		t.Errorf("when it is back: %v", err)
	}
	p.stop()
}

// proxy forwards connections to a server until it is stopped.
type proxy struct {
	to       string
	listener net.Listener
	mu       sync.Mutex
	conns    []net.Conn
	all      sync.WaitGroup
}

func (p *proxy) start(t *testing.T, at string) string {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	p.listener = l
	p.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", p.to)
			if err != nil {
				c.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, c, to)
			p.mu.Unlock()
			for _, pair := range [][2]net.Conn{{c, to}, {to, c}} {
				p.all.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					pair[0].Close()
				})
			}
		}
	})
	return l.Addr().String()
}

func (p *proxy) stop() {
	p.listener.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
	p.mu.Unlock()
	p.all.Wait()
}
