package evals

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment/dataset"
)

type aboutCmd struct {
	Agent string `arg:"" help:"Agent to ask."`
	File  string `arg:"" help:"File to write: .yaml, .jsonl or .csv; - is JSONL on standard output."`
	command.Caller
	Force bool `help:"Replace the file."`
}

// Run writes the dataset.
func (c *aboutCmd) Run(a *command.App) error {
	if err := free(c.File, c.Force); err != nil {
		return err
	}
	return wiring.WithCatalog(a, c.Caller, func(ctx context.Context, docs *catalog.Catalog) error {
		found, err := docs.Agent(ctx, c.Agent)
		if err != nil {
			return err
		}
		var cases []dataset.Case
		for i, s := range evaluation.SelfAwareness(found.Document, time.Now()) {
			cases = append(cases, dataset.Case{ID: fmt.Sprint(i + 1), Input: s.Input, Expected: s.Expected, Metadata: s.Metadata})
		}
		if err := writeCases(a, c.File, cases); err != nil || c.File == "-" {
			return err
		}
		a.Say("%s: %s; judge the answers with --evaluator self_awareness", c.File, show.Count(len(cases), "question"))
		return nil
	})
}

// free refuses a file that exists, unless it may be replaced.
func free(file string, force bool) error {
	if _, err := os.Stat(file); err == nil && !force {
		return command.Usage("%s exists: give another file, or --force to replace it", file)
	}
	return nil
}

// writeCases writes a dataset to a file, or to standard output for "-".
func writeCases(a *command.App, file string, cases []dataset.Case) error {
	if file == "-" {
		return dataset.Write("-.jsonl", a.Stdout, cases)
	}
	if err := dataset.Write(file, io.Discard, nil); err != nil {
		return command.Fail(command.ExitUsage, err)
	}
	return writeFile(file, func(f *os.File) error { return dataset.Write(file, f, cases) })
}
