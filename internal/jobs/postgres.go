package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// postgres is the production database.
type postgres struct {
	pool *pgxpool.Pool
	own  bool
}

func openPostgres(ctx context.Context, url string) (database, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The parser's error repeats parts of the URL.
		return nil, errors.New("jobs: the PostgreSQL URL cannot be read: write postgres://user:password@host/database")
	}
	c.MaxConns = 4
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, failure(ctx, "open the job queue", err)
	}
	return &postgres{pool: pool, own: true}, nil
}

// migrationLock is the advisory lock of migrations; the number spells "p8jobs".
const migrationLock int64 = 0x70386a6f6273

// migrate migrates under an advisory lock, one replica after the other; the later ones find
// nothing to do.
func (p *postgres) migrate(ctx context.Context, log *slog.Logger) (err error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, migrationLock); err != nil {
		return err
	}
	defer func() {
		// A connection that is broken has lost the lock, too.
		_, e := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationLock)
		if e != nil && !conn.Conn().IsClosed() {
			err = errors.Join(err, e)
		}
	}()
	m, err := rivermigrate.New(riverpgxv5.New(p.pool), &rivermigrate.Config{Logger: log})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func (p *postgres) connect(c *river.Config) (client, error) {
	made, err := river.NewClient(riverpgxv5.New(p.pool), c)
	if err != nil {
		return nil, fmt.Errorf("make the client: %w", err)
	}
	return made, nil
}

// adopt does nothing: a dead replica is known only by the timeouts of its jobs.
func (p *postgres) adopt(context.Context) error { return nil }

func (p *postgres) count(ctx context.Context, tenant string) ([]tally, error) {
	rows, err := p.pool.Query(ctx, `SELECT kind, state::text, count(*), coalesce(sum(attempt), 0), coalesce(sum(cardinality(errors)), 0),
		coalesce(sum(extract(epoch FROM finalized_at - attempted_at)), 0)::float8,
		coalesce(max(extract(epoch FROM finalized_at - attempted_at)), 0)::float8,
		coalesce(max(extract(epoch FROM now() - scheduled_at)) FILTER (WHERE finalized_at IS NULL AND state <> 'running'), 0)::float8
		FROM river_job WHERE $1 = '' OR args -> 'args' ->> 'tenant' = $1 GROUP BY kind, state`, tenant)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (t tally, err error) {
		err = r.Scan(&t.kind, &t.state, &t.jobs, &t.attempts, &t.errors, &t.took, &t.longest, &t.oldest)
		return t, err
	})
}

func (p *postgres) missing(err error) bool  { return hasCode(err, "42P01") }
func (p *postgres) conflict(err error) bool { return hasCode(err, "23505") }

func hasCode(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}

func (p *postgres) close() error {
	if p.own {
		p.pool.Close()
	}
	return nil
}

var _ client = (*river.Client[pgx.Tx])(nil)
