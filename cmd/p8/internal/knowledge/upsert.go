package knowledge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store"
)

// Upsert is p8 upsert.
type Upsert struct {
	Paths []string `arg:"" name:"path" help:"Files and folders."`

	command.Caller
	Table    string   `help:"Store into this table: ontologies or resources for documents; for YAML and JSON lists, the table of their rows."`
	Category string   `help:"Category of files that name none."`
	Tags     []string `help:"Tags for everything, separated by commas."`
	Pattern  string   `help:"Only files in folders that match, such as '**/*.md'."`
	Shared   bool     `help:"With --user: make the files visible to the whole tenant."`
	Prune    bool     `help:"Delete the rows of files that are gone from the folders."`
	DryRun   bool     `help:"Read everything and write nothing."`
	NoEmbed  bool     `help:"Leave the embedding to the next server."`
	JSON     bool     `help:"Print the report as JSON."`
}

// Run stores the files and prints a report.
func (c *Upsert) Run(a *command.App) error {
	ctx, err := c.Context()
	if err != nil {
		return err
	}
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	log := a.QuietLogger(cfg)
	s, err := wiring.OpenStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer s.Close()
	reader := wiring.NewExtractor(cfg, log)
	defer reader.Close()
	in, err := wiring.NewIngester(cfg, s, reader)
	if err != nil {
		return err
	}
	bar := newBar(a, c.JSON)
	report, err := in.Paths(ctx, ingest.PathsOptions{
		Paths: c.Paths, Table: c.Table, Category: c.Category, Tags: c.Tags, Pattern: c.Pattern,
		Shared: c.Shared, DryRun: c.DryRun, Prune: c.Prune, Progress: bar.show,
	})
	bar.close()
	if errors.Is(err, context.Canceled) {
		err = command.Fail(command.ExitInterrupted, errors.New("stopped: the stored files are kept; run it again for the rest"))
	}
	// Texts of an interrupted upsert may be in the queue too.
	if err == nil && !c.DryRun && !c.NoEmbed {
		err = c.embed(ctx, a, cfg, s)
	}
	if c.JSON {
		return errors.Join(show.JSON(a.Stdout, report), err)
	}
	c.print(a, report)
	if err != nil {
		return err
	}
	if report.Failed > 0 {
		return command.ErrSilent
	}
	return nil
}

// embed embeds the queued texts at once, so that SEARCH finds them.
func (c *Upsert) embed(ctx context.Context, a *command.App, cfg *config.Config, s *store.Store) error {
	model, err := wiring.NewEmbedder(cfg)
	if err != nil || model == nil {
		return err
	}
	status, err := wiring.EmbedNow(ctx, s, model, a.QuietLogger(cfg))
	switch {
	case errors.Is(err, context.Canceled):
		return command.Fail(command.ExitInterrupted, errors.New("stopped: everything is stored; the next server or upsert makes the missing vectors"))
	case err != nil:
		a.Say("the vectors of SEARCH could not be made; the next server or upsert tries again: %v", err)
	case status.Failed > 0 && len(status.Last) > 0: // unless another p8 embedded them meanwhile
		a.Say("%s could not be embedded yet; tried again later (the first: %s)", show.Count(int(status.Failed), "text"), show.OneLine(status.Last[0].Error))
	}
	return nil
}

// print prints each failure, and the number of the rest.
func (c *Upsert) print(a *command.App, r *ingest.Report) {
	for _, x := range r.Results {
		switch x.Status {
		case ingest.Failed:
			reason := x.Reason
			if !strings.HasPrefix(reason, x.Path) {
				reason = x.Path + ": " + reason
			}
			a.Say("%s", reason)
		case ingest.Written, ingest.Pruned:
			if c.DryRun {
				fmt.Fprintf(a.Stdout, "would be %s: %s (%s)\n", x.Status, x.Path, x.Key)
			}
		}
	}
	verb := "written"
	if c.DryRun {
		verb = "would be written"
	}
	fmt.Fprintf(a.Stdout, "%s %s (%s, %s), %d unchanged, %d skipped, %d failed",
		show.Count(r.Written, "file"), verb, show.Count(r.Chunks, "chunk"), show.Count(r.Rows, "row"), r.Unchanged, r.Skipped, r.Failed)
	if r.Pruned > 0 {
		fmt.Fprintf(a.Stdout, ", %d removed", r.Pruned)
	}
	fmt.Fprintln(a.Stdout)
}
