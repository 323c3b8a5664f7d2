package bench

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/store/postgres"
	"github.com/p8-org/p8/store/sqlite"
)

// openSQLite makes an embedded store in a new folder.
func (k *knowledge) openSQLite(tb testing.TB) {
	tb.Helper()
	dir, err := os.MkdirTemp("", "p8-bench-")
	if err != nil {
		tb.Fatal(err)
	}
	opened.closing = append(opened.closing, func() error { return os.RemoveAll(dir) })
	k.location = filepath.Join(dir, "p8.db")
	if k.Store, err = sqlite.Open(context.Background(), sqlite.Options{Path: k.location, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		tb.Fatal(err)
	}
	db, err := sqlite3.OpenFlags(k.location, sqlite3.OPEN_READONLY)
	if err != nil {
		tb.Fatal(err)
	}
	k.raw = &rawSQLite{db: db, statements: make(map[string]*sqlite3.Stmt)}
}

// rawSQLite is ncruces/go-sqlite3 alone. It numbers $n by first appearance, so
// the statements use them in order.
type rawSQLite struct {
	db         *sqlite3.Conn
	statements map[string]*sqlite3.Stmt
}

func (r *rawSQLite) query(_ context.Context, sql string, args ...any) (int, error) {
	s := r.statements[sql]
	if s == nil {
		var err error
		if s, _, err = r.db.Prepare(sql); err != nil {
			return 0, err
		}
		r.statements[sql] = s
	}
	for i, a := range args {
		if err := s.BindText(i+1, a.(string)); err != nil {
			return 0, err
		}
	}
	rows := 0
	for ; s.Step(); rows++ {
		for c := range s.ColumnCount() {
			_ = s.ColumnText(c)
		}
	}
	return rows, cmp.Or(s.Err(), s.Reset())
}

func (r *rawSQLite) close() error {
	for _, s := range r.statements {
		s.Close()
	}
	return r.db.Close()
}

// openPostgres makes a database on the server of P8_TEST_POSTGRES_URL.
func (k *knowledge) openPostgres(tb testing.TB) {
	tb.Helper()
	server := os.Getenv("P8_TEST_POSTGRES_URL")
	u, err := url.Parse(server)
	if server == "" || err != nil {
		tb.Fatal("P8_TEST_POSTGRES_URL is not the URL of a PostgreSQL server whose role may create databases; scripts/postgres start prints one")
	}
	name := "bench_" + strings.ToLower(rand.Text())
	administer(tb, server, `CREATE DATABASE `+name)
	opened.closing = append(opened.closing, func() error { return execute(server, `DROP DATABASE `+name) })
	// An HNSW index that does not fit is built ten times slower.
	administer(tb, server, `ALTER DATABASE `+name+` SET maintenance_work_mem = '1500MB'`)
	u.Path = "/" + name
	k.location = u.String()
	ctx := context.Background()
	if k.Store, err = postgres.Open(ctx, postgres.Options{URL: k.location, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		tb.Fatal(err)
	}
	c, err := pgx.Connect(ctx, k.location)
	if err != nil {
		tb.Fatal(err)
	}
	k.raw = rawPostgres{c}
}

// administer runs a statement on a connection of its own.
func administer(tb testing.TB, url, sql string) {
	tb.Helper()
	if err := execute(url, sql); err != nil {
		tb.Fatal(err)
	}
}

func execute(url, sql string) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, sql)
	return err
}

// rawPostgres is pgx alone, below its conversions.
type rawPostgres struct{ c *pgx.Conn }

func (r rawPostgres) query(ctx context.Context, sql string, args ...any) (int, error) {
	// Prepare answers for a text that it knows without asking the server.
	d, err := r.c.Prepare(ctx, sql, sql)
	if err != nil {
		return 0, err
	}
	values, formats := make([][]byte, len(args)), make([]int16, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case string:
			values[i] = []byte(v)
		case []float32:
			values[i], formats[i] = binaryVector(v), pgx.BinaryFormatCode
		default:
			return 0, fmt.Errorf("a parameter cannot be a %T", a)
		}
	}
	res := r.c.PgConn().ExecPrepared(ctx, d.Name, values, formats, []int16{pgx.BinaryFormatCode})
	rows := 0
	for ; res.NextRow(); rows++ {
		for _, v := range res.Values() {
			_ = string(v)
		}
	}
	_, err = res.Close()
	return rows, err
}

func (r rawPostgres) close() error { return r.c.Close(context.Background()) }

// binaryVector is pgvector's binary form.
func binaryVector(v []float32) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(v))<<16)
	for _, x := range v {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// analyze leaves the database as its own upkeep would after a while.
func (k *knowledge) analyze(tb testing.TB) {
	tb.Helper()
	if k.engine != onPostgres {
		return
	}
	for _, table := range []string{"resources", "kv_store", "embeddings"} {
		administer(tb, k.location, `VACUUM (ANALYZE) `+table)
	}
}

// set changes a setting of the raw connection.
func (k *knowledge) set(tb testing.TB, sql string) {
	tb.Helper()
	if _, err := k.raw.(rawPostgres).c.Exec(context.Background(), sql); err != nil {
		tb.Fatal(err)
	}
}
