package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/jobs"
)

// Jobs is p8 jobs.
type Jobs struct {
	List   jobsListCmd   `cmd:"" help:"List background jobs, the newest first." example:"p8 jobs list --state retryable"`
	Retry  jobsRetryCmd  `cmd:"" help:"Run a job again now." example:"p8 jobs retry 42"`
	Cancel jobsCancelCmd `cmd:"" help:"Cancel a job." example:"p8 jobs cancel 42"`
	Stats  jobsStatsCmd  `cmd:"" help:"Count background jobs by kind and state." example:"p8 jobs stats"`
}

type jobsListCmd struct {
	State []string `help:"Only jobs in these states, such as pending, retrying or failed."`
	Kind  []string `help:"Only jobs of these kinds."`
	Limit int      `short:"n" default:"20" help:"Maximum number of jobs (${default})."`
	JSON  bool     `help:"Print JSON."`
}

// Run prints a table, or JSON. It works while a server has the database.
func (c *jobsListCmd) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 1000 {
		return command.Usage("--limit is %d: give a number from 1 to 1000", c.Limit)
	}
	f := jobs.Filter{Kinds: c.Kind, Limit: c.Limit}
	for _, name := range c.State {
		state := jobs.State(name)
		if !slices.Contains(jobs.States(), state) {
			return command.Usage("--state: %q is no state of a job: give one of %v", name, jobs.States())
		}
		f.States = append(f.States, state)
	}
	list := []jobs.Job{}
	err := withJobs(a, true, func(ctx context.Context, q *jobs.Queue) error {
		found, err := q.List(ctx, f)
		list = append(list, found...)
		return err
	})
	switch {
	case err != nil && !errors.Is(err, errNoJobs):
		return err
	case c.JSON:
		return show.JSON(a.Stdout, list)
	case len(list) == 0:
		a.SayEmpty("jobs", len(c.State)+len(c.Kind) > 0, firstJob)
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "JOB\tKIND\tSTATE\tATTEMPT\tDUE\tERROR")
	for _, j := range list {
		fmt.Fprintf(w, "%d\t%s\t%s\t%d/%d\t%s\t%s\n", j.ID, j.Kind, j.State, j.Attempt, j.MaxAttempts, show.Local(j.RunAt), cmp.Or(show.OneLine(j.Error), "-"))
	}
	return w.Flush()
}

type jobsStatsCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run prints a table, or JSON. It works while a server has the database.
func (c *jobsStatsCmd) Run(a *command.App) error {
	kinds := []jobs.KindStats{}
	err := withJobs(a, true, func(ctx context.Context, q *jobs.Queue) error {
		found, err := q.Stats(ctx, "")
		kinds = append(kinds, found...)
		return err
	})
	switch {
	case err != nil && !errors.Is(err, errNoJobs):
		return err
	case c.JSON:
		return show.JSON(a.Stdout, kinds)
	case len(kinds) == 0:
		a.SayEmpty("jobs", false, firstJob)
		return nil
	}
	return printStats(a.Stdout, kinds)
}

// printStats prints a table with a line per kind.
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

// short formats a duration for a table.
func short(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second / 10).String()
}

type jobsRetryCmd struct {
	ID int64 `arg:"" name:"job" help:"Number of the job."`
}

// Run makes the job due now.
func (c *jobsRetryCmd) Run(a *command.App) error {
	return changeJob(a, func(ctx context.Context, q *jobs.Queue) (jobs.Job, error) { return q.Retry(ctx, c.ID) })
}

type jobsCancelCmd struct {
	ID int64 `arg:"" name:"job" help:"Number of the job."`
}

// Run cancels the job.
func (c *jobsCancelCmd) Run(a *command.App) error {
	return changeJob(a, func(ctx context.Context, q *jobs.Queue) (jobs.Job, error) { return q.Cancel(ctx, c.ID) })
}

func changeJob(a *command.App, change func(context.Context, *jobs.Queue) (jobs.Job, error)) error {
	return withJobs(a, false, func(ctx context.Context, q *jobs.Queue) error {
		j, err := change(ctx, q)
		if err == nil {
			fmt.Fprintf(a.Stdout, "job %d (%s) is %s\n", j.ID, j.Kind, j.State)
		}
		return err
	})
}

// firstJob says how a database gets a job.
const firstJob = "`p8 serve` adds and runs them"

// errNoJobs is the error of withJobs without a database.
var errNoJobs = errors.New("nothing is stored yet, so there are no jobs: start p8 with `p8 serve`")

// withJobs calls fn with the queue. It runs no jobs.
func withJobs(a *command.App, readOnly bool, fn func(context.Context, *jobs.Queue) error) error {
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	if db := cfg.Database(); db.Postgres == "" {
		if _, err := os.Stat(db.Path); errors.Is(err, fs.ErrNotExist) {
			return errNoJobs
		}
	}
	ctx := context.Background()
	o := wiring.JobOptions(cfg, a.QuietLogger(cfg))
	o.ReadOnly = readOnly
	q, err := jobs.Open(ctx, o)
	if err != nil {
		return err
	}
	defer q.Close(ctx)
	return fn(ctx, q)
}
