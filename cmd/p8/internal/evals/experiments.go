package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/store"
)

// Experiments is p8 experiments.
type Experiments struct {
	Create experimentsCreate `cmd:"" help:"Write an experiment: what is evaluated, with which cases." example:"p8 experiments create greetings --agent general --evaluator exact --dataset cases.yaml"`
	List   experimentsList   `cmd:"" help:"List experiments." example:"p8 experiments list"`
	Show   experimentsShow   `cmd:"" help:"Show an experiment and its runs." example:"p8 experiments show greetings"`
	Run    experimentsRun    `cmd:"" help:"Run an experiment." example:"p8 experiments run greetings --dry-run"`
	Export experimentsExport `cmd:"" help:"Write an experiment and the results of its runs into a folder." example:"p8 experiments export greetings copy"`
}

// configFile is the file of an experiment in its folder.
const configFile = "experiment.yaml"

// home returns the folder of an experiment.
func home(a *command.App, name string) (string, error) {
	cfg, err := a.Config()
	if err != nil {
		return "", err
	}
	if !experiment.ValidName(name) {
		return "", command.Usage("%q is no name of an experiment: give 1-100 lower-case letters, digits and hyphens", name)
	}
	return filepath.Join(cfg.ExperimentsHome, name), nil
}

// read returns the configuration of an experiment: that of the file, or else of the database.
func read(ctx context.Context, a *command.App, s *store.Store, name string) (c experiment.Config, folder string, err error) {
	if folder, err = home(a, name); err != nil {
		return c, "", err
	}
	path := filepath.Join(folder, configFile)
	if _, err := os.Stat(path); err == nil {
		src, err := readFile(path)
		if err == nil {
			c, err = experiment.ParseConfig(path, src)
		}
		return c, folder, err
	}
	unknown := fmt.Errorf("there is no experiment %s: `p8 experiments list` lists them", name)
	if s == nil {
		return c, folder, unknown
	}
	x, err := s.Experiments().Get(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return c, folder, unknown
	}
	if err == nil {
		err = json.Unmarshal(x.Config, &c)
	}
	if err == nil {
		err = c.Complete()
	}
	return c, folder, err
}

// save writes the configuration to the file and to the database.
func save(ctx context.Context, s *store.Store, folder string, c *experiment.Config) error {
	x := store.Experiment{Name: c.Name, Status: c.Status, Config: encode(c)}
	if c.LastRunAt != nil {
		x.LastRunAt = *c.LastRunAt
	}
	if err := s.Experiments().Put(ctx, &x); err != nil {
		return err
	}
	text, err := c.YAML()
	if err != nil {
		return err
	}
	return writeText(filepath.Join(folder, configFile), text)
}

// writeText writes a file, and the folders above it.
func writeText(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("the folder %s cannot be made: look at its permissions", filepath.Dir(path))
	}
	return writeFile(path, func(f *os.File) error { _, err := f.Write(text); return err })
}

type experimentsCreate struct {
	Name string `arg:"" help:"Name: lower-case letters, digits and hyphens."`
	command.Caller
	Agent       string   `short:"a" placeholder:"NAME" help:"Agent: a name, or NAME@VERSION, which pins the version."`
	Evaluator   string   `placeholder:"NAME" help:"Evaluator: a name or NAME@VERSION of a document, or a type of check."`
	Dataset     string   `placeholder:"FILE" help:"File with the cases."`
	Task        string   `default:"general" help:"Task: lower-case letters, digits and hyphens (${default})."`
	Description string   `help:"What the experiment is about."`
	Tag         []string `help:"Tag; may be repeated."`
}

// Run writes experiment.yaml and a README, and stores the experiment.
func (c *experimentsCreate) Run(a *command.App) error {
	switch {
	case c.Agent == "":
		return command.Usage("there is no agent: give one with --agent")
	case c.Dataset == "":
		return command.Usage("there is no dataset: give one with --dataset")
	}
	folder, err := home(a, c.Name)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, configFile)
	if _, err := os.Stat(path); err == nil {
		return command.Usage("%s exists: change that file, or give another name", path)
	}
	now := time.Now().UTC().Truncate(time.Second)
	agent, evaluator := experiment.ParseRef(c.Agent), experiment.ParseRef(c.Evaluator)
	x := experiment.Config{
		Name: c.Name, Task: c.Task, Description: c.Description, Tags: c.Tag, Status: experiment.Ready,
		Agent: experiment.SchemaRef{Name: agent.Name, Version: agent.Version}, Evaluator: experiment.SchemaRef{Name: evaluator.Name, Version: evaluator.Version},
		Datasets: map[string]experiment.Dataset{experiment.GroundTruth: {Path: within(folder, c.Dataset)}},
		Results:  experiment.Results{SaveTraces: true, SaveMetricsSummary: true}, CreatedAt: now, UpdatedAt: now,
	}
	if err := x.Complete(); err != nil {
		return command.Fail(command.ExitUsage, err)
	}
	if _, _, err := load(c.Dataset); err != nil {
		return err
	}
	return withStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		if err := save(ctx, s, folder, &x); err != nil {
			return err
		}
		a.Say("%s: `p8 experiments run %s` runs it", path, x.Name)
		return writeText(filepath.Join(folder, "README.md"), []byte(x.README()))
	})
}

// within returns the path of a file as seen from a folder.
func within(folder, file string) string {
	from, err := filepath.Abs(folder)
	if err != nil {
		return file
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	path, err := filepath.Rel(from, to)
	if err != nil {
		return file
	}
	return filepath.ToSlash(path)
}

type experimentsList struct {
	command.Caller
	JSON bool `help:"Print JSON."`
}

// Run lists the stored experiments, and the folders that are not stored.
func (c *experimentsList) Run(a *command.App) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		all := map[string]experiment.Config{}
		var names []string
		if s != nil {
			list, err := s.Experiments().List(ctx)
			if err != nil {
				return err
			}
			for _, x := range list {
				var config experiment.Config
				_ = json.Unmarshal(x.Config, &config)
				config.Name, config.Status = x.Name, x.Status
				all[x.Name], names = config, append(names, x.Name)
			}
		}
		files, _ := filepath.Glob(filepath.Join(cfg.ExperimentsHome, "*", configFile)) // the pattern is not malformed
		for _, path := range files {
			name := filepath.Base(filepath.Dir(path))
			if _, ok := all[name]; ok {
				continue
			}
			src, err := readFile(path)
			if err != nil {
				return err
			}
			config, err := experiment.ParseConfig(path, src)
			if err != nil {
				a.Say("%v", err)
				continue
			}
			all[name], names = config, append(names, name)
		}
		if c.JSON {
			list := []experiment.Config{}
			for _, name := range names {
				list = append(list, all[name])
			}
			return show.JSON(a.Stdout, list)
		}
		if len(names) == 0 {
			a.SayEmpty("experiments", false, "write one with `p8 experiments create`")
			return nil
		}
		g := show.Grid{Columns: []string{"experiment", "status", "agent", "evaluator", "last run", "tags"}}
		for _, name := range names {
			x := all[name]
			ran := ""
			if x.LastRunAt != nil {
				ran = show.Local(*x.LastRunAt)
			}
			g.Rows = append(g.Rows, []string{name, x.Status, x.Agent.Ref().String(), x.Evaluator.Ref().String(), ran, strings.Join(x.Tags, ", ")})
		}
		return g.Table(a.Stdout)
	})
}

type experimentsShow struct {
	Name string `arg:"" help:"Name of the experiment."`
	command.Caller
	JSON bool `help:"Print JSON."`
}

// Run prints the configuration and the runs.
func (c *experimentsShow) Run(a *command.App) error {
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		config, folder, err := read(ctx, a, s, c.Name)
		if err != nil {
			return err
		}
		runs := []store.Evaluation{}
		if s != nil {
			list, _, err := s.Evaluations().List(ctx, store.EvaluationFilter{Experiment: c.Name, Limit: 500})
			if err != nil {
				return err
			}
			runs = append(runs, list...)
		}
		if c.JSON {
			return show.JSON(a.Stdout, map[string]any{"experiment": config, "runs": runs})
		}
		text, err := config.YAML()
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "# %s\n%s\n", filepath.Join(folder, configFile), show.Visible(string(text)))
		if len(runs) == 0 {
			a.Say("the experiment has no run yet: `p8 experiments run %s`", c.Name)
			return nil
		}
		g := show.Grid{Columns: []string{"evaluation", "status", "began"}}
		for _, x := range runs {
			g.Rows = append(g.Rows, []string{x.ID, x.Status, show.Local(x.CreatedAt)})
		}
		return g.Table(a.Stdout)
	})
}

type experimentsExport struct {
	Name   string `arg:"" help:"Name of the experiment."`
	Folder string `arg:"" help:"Folder to write; it must not exist."`
	command.Caller
}

// Run writes what the database has of the experiment.
func (c *experimentsExport) Run(a *command.App) error {
	if _, err := os.Stat(c.Folder); err == nil {
		return command.Usage("%s exists: give another folder", c.Folder)
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		config, _, err := read(ctx, a, s, c.Name)
		if err != nil {
			return err
		}
		text, err := config.YAML()
		if err != nil {
			return err
		}
		if err := writeText(filepath.Join(c.Folder, configFile), text); err != nil {
			return err
		}
		if err := writeText(filepath.Join(c.Folder, "README.md"), []byte(config.README())); err != nil || s == nil {
			return err
		}
		runs := 0
		for cursor := ""; ; {
			list, next, err := s.Evaluations().List(ctx, store.EvaluationFilter{Experiment: c.Name, Cursor: cursor})
			if err != nil {
				return err
			}
			for i := range list {
				folder := filepath.Join(c.Folder, config.Results.BasePath, runFolder(&list[i]))
				if err := writeRun(ctx, s, folder, &config, &list[i]); err != nil {
					return err
				}
				runs++
			}
			if cursor = next; next == "" {
				break
			}
		}
		a.Say("%s: the experiment and %s", c.Folder, show.Count(runs, "run"))
		return nil
	})
}

// runFolder names the folder of a run: two may begin in one second.
func runFolder(x *store.Evaluation) string { return stamp(x.CreatedAt) + "-" + x.ID[len(x.ID)-4:] }

// stamp is a time as a part of a name.
func stamp(t time.Time) string { return t.UTC().Format("20060102-150405") }
