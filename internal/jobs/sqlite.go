package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// embedded is the store's own file, over a second connection.
//
// Both connections write in short transactions that begin with BEGIN IMMEDIATE and wait
// for each other, so that none fails because the database is locked.
type embedded struct{ db *sql.DB }

// queueing lets a writer wait for another one. SQLite can only retry, and a store that
// writes without a pause leaves hardly a gap for a retry; a turn delays the store's next
// transaction.
type queueing struct {
	turn func(context.Context) (release func(), err error)
}

const (
	// longestWait is far more than any transaction of the store takes.
	longestWait = time.Minute
	// look is the pause between two tries.
	look = time.Millisecond
	// head is how long other writers wait after a turn; beginning a transaction takes less.
	head = 2 * time.Millisecond
)

// handle is called when the database is locked, with the number of calls before
// for the same lock; it reports whether to try again.
func (w queueing) handle(ctx context.Context, count int) bool {
	if time.Duration(count)*look > longestWait {
		return false
	}
	if count > 0 || w.turn == nil {
		pause := time.NewTimer(look)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-ctx.Done():
			return false
		}
	}
	if w.turn == nil {
		return true
	}
	release, err := w.turn(ctx)
	if err == nil {
		time.AfterFunc(head, release)
	}
	return ctx.Err() == nil
}

func openSQLite(o Options) (database, error) {
	path, readOnly := o.SQLite, o.ReadOnly
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	if _, err := os.Stat(abs); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("jobs: there is no database; open the store first")
	}
	// River compares times as texts with SQLite's own: hence the format.
	query := url.Values{"_timefmt": {"sqlite"}, "_txlock": {"immediate"}, "mode": {"rw"}}
	pragmas := []string{"busy_timeout(10000)", "trusted_schema(0)"}
	if readOnly {
		query.Set("mode", "ro")
		query.Del("_txlock")
		pragmas = append(pragmas, "query_only(1)")
	} else {
		pragmas = append(pragmas, "journal_mode(wal)", "synchronous(full)")
	}
	query["_pragma"] = pragmas
	slashed := filepath.ToSlash(abs)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	// SQLite does not read "+" as a space.
	uri := url.URL{Scheme: "file", Path: slashed, RawQuery: strings.ReplaceAll(query.Encode(), "+", "%20")}
	db, err := driver.Open(uri.String(), func(c *sqlite3.Conn) error {
		if readOnly {
			return nil
		}
		return c.BusyHandler(queueing{o.Turn}.handle)
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: open the database: %w", err)
	}
	// River writes in parallel, SQLite has one writer at a time.
	db.SetMaxOpenConns(1)
	return &embedded{db}, nil
}

// migrate finds nothing to do when another process was here first; the store's
// lock keeps two from being first at once.
func (e *embedded) migrate(ctx context.Context, log *slog.Logger) error {
	m, err := rivermigrate.New(riversqlite.New(e.db), &rivermigrate.Config{Logger: log})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func (e *embedded) connect(c *river.Config) (client, error) {
	made, err := river.NewClient(riversqlite.New(e.db), c)
	if err != nil {
		return nil, fmt.Errorf("make the client: %w", err)
	}
	return made, nil
}

// adopt releases the jobs that are marked as running, because the process that ran them
// must be dead. Jobs without attempts left become failed, so that a job that kills its
// process does not do so for ever. adopt also ends the leadership of that process;
// otherwise no job would come due until it expired.
func (e *embedded) adopt(ctx context.Context) error {
	if _, err := e.db.ExecContext(ctx, `DELETE FROM river_leader`); err != nil {
		return err
	}
	exec := riversqlite.New(e.db).GetExecutor()
	const batch = 1000
	for {
		now := time.Now().UTC()
		stuck, err := exec.JobGetStuck(ctx, &riverdriver.JobGetStuckParams{Max: batch, StuckHorizon: now.Add(time.Hour)})
		if err != nil || len(stuck) == 0 {
			return err
		}
		var p riverdriver.JobRescueManyParams
		for _, job := range stuck {
			problem, err := json.Marshal(rivertype.AttemptError{
				At: now, Attempt: job.Attempt, Error: "the process ended while the job ran",
			})
			if err != nil {
				return err
			}
			state, finalized := rivertype.JobStateAvailable, (*time.Time)(nil)
			if job.Attempt >= job.MaxAttempts {
				state, finalized = rivertype.JobStateDiscarded, &now
			}
			p.ID = append(p.ID, job.ID)
			p.Error = append(p.Error, problem)
			p.FinalizedAt = append(p.FinalizedAt, finalized)
			p.ScheduledAt = append(p.ScheduledAt, now)
			p.State = append(p.State, string(state))
		}
		if _, err := exec.JobRescueMany(ctx, &p); err != nil {
			return err
		}
	}
}

// count reads the times by SQLite's clock, as River wrote them.
func (e *embedded) count(ctx context.Context, tenant string) (all []tally, err error) {
	rows, err := e.db.QueryContext(ctx, `SELECT kind, state, count(*), sum(attempt), sum(json_array_length(coalesce(errors, '[]'))),
		coalesce(sum(max(0, unixepoch(finalized_at, 'subsec') - unixepoch(attempted_at, 'subsec'))), 0.0),
		coalesce(max(unixepoch(finalized_at, 'subsec') - unixepoch(attempted_at, 'subsec')), 0.0),
		coalesce(max(unixepoch('now', 'subsec') - unixepoch(scheduled_at, 'subsec')) FILTER (WHERE finalized_at IS NULL AND state <> 'running'), 0.0)
		FROM river_job WHERE ?1 = '' OR json_extract(args, '$.args.tenant') = ?1 GROUP BY kind, state`, tenant)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t tally
		if err := rows.Scan(&t.kind, &t.state, &t.jobs, &t.attempts, &t.errors, &t.took, &t.longest, &t.oldest); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

func (e *embedded) missing(err error) bool {
	return errors.Is(err, sqlite3.ERROR) && strings.Contains(err.Error(), "no such table")
}

func (e *embedded) conflict(err error) bool { return errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) }

func (e *embedded) close() error { return e.db.Close() }

var _ client = (*river.Client[*sql.Tx])(nil)
