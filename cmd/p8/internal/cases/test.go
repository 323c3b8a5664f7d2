// Package cases has p8 test: it finds the files of cases, makes a p8 of its own for each
// case, with an empty store in memory and a clock that stands still, and prints what failed.
// package testcase does the rest.
package cases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/testcase"
)

// Test is p8 test.
type Test struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Files of cases (weather.test.yaml), or folders with such files; the folder of the documents (P8_SCHEMA_DIR), or this one, if left out."`

	Run_        string `name:"run" help:"Only cases whose file and name match this regular expression." placeholder:"REGEXP"`
	Record      bool   `help:"Ask the models and tools that are configured, and record them." xor:"mode"`
	AcceptDrift bool   `help:"Take changed requests into the recordings, and keep the recorded answers." xor:"mode"`
	Update      bool   `help:"Write the golden files of events."`
	Verbose     bool   `short:"v" help:"Also print the cases that pass, with what they used."`
	TAP         bool   `name:"tap" help:"Print TAP." xor:"form"`
	JSON        bool   `help:"Print JSON." xor:"form"`
	JUnit       string `name:"junit" help:"Also write JUnit's XML into this file." placeholder:"FILE"`
	Parallel    int    `help:"How many cases run at a time; 0 is the number of processors." default:"0"`
}

// Run runs the cases and prints the failures.
func (c *Test) Run(a *command.App) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	only, err := regexp.Compile(c.Run_)
	if err != nil {
		return command.Usage("--run is no regular expression: write one of RE2, such as 'weather: .*rain'")
	}
	files, err := files(c.Paths, cfg.SchemaDir)
	if err != nil {
		return err
	}
	list, err := read(files)
	if err != nil {
		return err
	}
	chosen := list[:0]
	for _, x := range list {
		if only.MatchString(x.Title()) {
			chosen = append(chosen, x)
		}
	}
	if len(chosen) == 0 {
		return command.Usage("no case matches --run %s: there are %s, such as %q", show.OneLine(c.Run_), show.Count(len(list), "case"), list[0].Title())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	clean, err := cleaner(cfg)
	if err != nil {
		return err
	}
	w := &worlds{app: a, cfg: cfg}
	suite := testcase.New(testcase.Options{
		Files: disk{}, Open: w.open, Clean: clean, Record: c.Record, Accept: c.AcceptDrift, Update: c.Update, Parallel: c.parallel(),
	})
	var results []testcase.Result
	failed := 0
	suite.Run(ctx, chosen, func(r testcase.Result) {
		results = append(results, r)
		if len(r.Problems) > 0 {
			failed++
		}
		if !c.TAP && !c.JSON && err == nil {
			err = r.WriteText(a.Stdout, c.Verbose)
		}
	})
	if err := errors.Join(err, c.report(a, results, failed)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return command.Fail(command.ExitInterrupted, errors.New("stopped"))
	}
	if failed > 0 {
		return command.ErrSilent
	}
	return nil
}

func (c *Test) parallel() int {
	if c.Parallel > 0 {
		return c.Parallel
	}
	return runtime.GOMAXPROCS(0)
}

// report prints what comes after the cases.
func (c *Test) report(a *command.App, results []testcase.Result, failed int) error {
	var errs []error
	switch {
	case c.TAP:
		errs = append(errs, testcase.WriteTAP(a.Stdout, results))
	case c.JSON:
		errs = append(errs, show.JSON(a.Stdout, testcase.Report(results)))
	default:
		_, err := fmt.Fprintf(a.Stdout, "%s: %d passed, %d failed\n", show.Count(len(results), "case"), len(results)-failed, failed)
		errs = append(errs, err)
	}
	if c.JUnit != "" {
		errs = append(errs, writeJUnit(c.JUnit, results))
	}
	return errors.Join(errs...)
}

func writeJUnit(path string, results []testcase.Result) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("--junit: %s cannot be written: name a file in a folder that exists", show.OneLine(path))
	}
	return errors.Join(testcase.WriteJUnit(io.Writer(f), results), f.Close())
}
