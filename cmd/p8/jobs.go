package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// openJobs opens the queue of background work in the store's database.
func openJobs(ctx context.Context, cfg *config.Config, s *store.Store, log *slog.Logger) (*jobs.Queue, error) {
	o := jobOptions(cfg, log)
	o.Turn = s.Maintenance().Turn
	return jobs.Open(ctx, o)
}

func jobOptions(cfg *config.Config, log *slog.Logger) jobs.Options {
	db := cfg.Database()
	return jobs.Options{PostgresURL: db.Postgres, SQLite: db.Path, Workers: cfg.JobWorkers, Logger: log}
}

type jobsCmd struct {
	List   jobsListCmd   `cmd:"" help:"List background jobs, the newest first."`
	Retry  jobsRetryCmd  `cmd:"" help:"Run a job again now."`
	Cancel jobsCancelCmd `cmd:"" help:"End a job for good."`
	Stats  jobsStatsCmd  `cmd:"" help:"Count background jobs by kind, and how they fare."`
}

type jobsListCmd struct {
	State []string `help:"Only jobs in these states, such as pending, retrying or failed."`
	Kind  []string `help:"Only jobs of these kinds."`
	Limit int      `short:"n" default:"20" help:"How many (${default})."`
	JSON  bool     `help:"Print JSON."`
}

// Run prints a table, or JSON; beside a running server too.
func (c *jobsListCmd) Run(a *app) error {
	if c.Limit < 1 || c.Limit > 1000 {
		return usage("--limit is %d: give a number from 1 to 1000", c.Limit)
	}
	f := jobs.Filter{Kinds: c.Kind, Limit: c.Limit}
	for _, name := range c.State {
		state := jobs.State(name)
		if !slices.Contains(jobs.States(), state) {
			return usage("--state: %q is no state of a job: give one of %v", name, jobs.States())
		}
		f.States = append(f.States, state)
	}
	return a.withJobs(true, func(ctx context.Context, q *jobs.Queue) error {
		list, err := q.List(ctx, f)
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(a.stdout, append([]jobs.Job{}, list...))
		}
		if len(list) == 0 {
			a.say("there is no such job")
			return nil
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "JOB\tKIND\tSTATE\tATTEMPT\tDUE\tERROR")
		for _, j := range list {
			fmt.Fprintf(w, "%d\t%s\t%s\t%d/%d\t%s\t%s\n", j.ID, j.Kind, j.State, j.Attempt, j.MaxAttempts, local(j.RunAt), cmp.Or(oneLine(j.Error), "-"))
		}
		return w.Flush()
	})
}

type jobsStatsCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run prints a table, or JSON; beside a running server too.
func (c *jobsStatsCmd) Run(a *app) error {
	return a.withJobs(true, func(ctx context.Context, q *jobs.Queue) error {
		kinds, err := q.Stats(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(a.stdout, append([]jobs.KindStats{}, kinds...))
		}
		if len(kinds) == 0 {
			a.say("there are no jobs")
			return nil
		}
		return printStats(a.stdout, kinds)
	})
}

// printStats prints a table, a kind a line.
func printStats(out io.Writer, kinds []jobs.KindStats) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tWAITING\tRUNNING\tCOMPLETED\tFAILED\tCANCELLED\tATTEMPTS\tERRORS\tAVERAGE\tLONGEST\tOVERDUE")
	for _, k := range kinds {
		n := k.States
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", k.Kind,
			n[jobs.Pending]+n[jobs.Scheduled]+n[jobs.Retrying], n[jobs.Running], n[jobs.Completed], n[jobs.Failed], n[jobs.Cancelled],
			k.Attempts, k.Errors, short(k.Average), short(k.Longest), short(k.Oldest))
	}
	return w.Flush()
}

// short is a time as a cell shows it.
func short(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second / 10).String()
}

type jobsRetryCmd struct {
	ID int64 `arg:"" name:"job" help:"The job's number."`
}

// Run makes the job due.
func (c *jobsRetryCmd) Run(a *app) error {
	return a.changeJob(func(ctx context.Context, q *jobs.Queue) (jobs.Job, error) { return q.Retry(ctx, c.ID) })
}

type jobsCancelCmd struct {
	ID int64 `arg:"" name:"job" help:"The job's number."`
}

// Run ends the job.
func (c *jobsCancelCmd) Run(a *app) error {
	return a.changeJob(func(ctx context.Context, q *jobs.Queue) (jobs.Job, error) { return q.Cancel(ctx, c.ID) })
}

func (a *app) changeJob(change func(context.Context, *jobs.Queue) (jobs.Job, error)) error {
	return a.withJobs(false, func(ctx context.Context, q *jobs.Queue) error {
		j, err := change(ctx, q)
		if err == nil {
			fmt.Fprintf(a.stdout, "job %d (%s) is %s\n", j.ID, j.Kind, j.State)
		}
		return err
	})
}

// withJobs gives the queue to fn without running jobs.
func (a *app) withJobs(readOnly bool, fn func(context.Context, *jobs.Queue) error) error {
	cfg, err := a.stored()
	if err != nil {
		return err
	}
	if db := cfg.Database(); db.Postgres == "" {
		if _, err := os.Stat(db.Path); errors.Is(err, fs.ErrNotExist) {
			return errors.New("nothing is stored yet, so there are no jobs: start p8 with `p8 serve`")
		}
	}
	ctx := context.Background()
	o := jobOptions(cfg, a.quietLogger(cfg))
	o.ReadOnly = readOnly
	q, err := jobs.Open(ctx, o)
	if err != nil {
		return err
	}
	defer q.Close(ctx)
	return fn(ctx, q)
}
