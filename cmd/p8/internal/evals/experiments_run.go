package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/internal/experiment/report"
	"github.com/p8-org/p8/store"
)

type experimentsRun struct {
	Name      string   `arg:"" help:"Name of the experiment."`
	Model     []string `short:"m" placeholder:"MODEL" help:"Model, as provider:model; may be repeated. Without it, the agent's own."`
	Repeats   int      `default:"1" help:"How often each case is answered (${default})."`
	Limit     int      `help:"Run only the first cases."`
	OnlyVibes bool     `help:"Do not judge: write the answers for people, or an agent of theirs, to judge."`
	DryRun    bool     `help:"Check everything, say what would be run, and ask nobody."`
	Resume    string   `placeholder:"ID" help:"Go on with a run that was stopped; last is the newest one."`
	pacing
	command.Caller
	outputs
}

// Run runs the experiment and writes its results.
func (c *experimentsRun) Run(a *command.App) error {
	if c.Repeats < 1 || c.Repeats > 1000 || c.Limit < 0 {
		return command.Usage("--repeats and --limit need positive numbers: at most 1000 repeats")
	}
	if c.Resume != "" && (len(c.Model) > 0 || c.Repeats != 1 || c.Limit != 0 || c.DryRun) {
		return command.Usage("--resume goes on with what was begun: leave --model, --repeats, --limit and --dry-run out")
	}
	if err := errors.Join(c.outputs.check(), c.pacing.check()); err != nil {
		return err
	}
	j, err := open(a, c.Caller, &c.pacing)
	if err != nil {
		return err
	}
	defer j.close()
	if err := c.resolve(j.ctx, j.Store, c.Name); err != nil {
		return err
	}
	config, folder, err := read(j.ctx, a, j.Store, c.Name)
	if err != nil {
		return err
	}
	if c.OnlyVibes && c.Repeats > 1 {
		return command.Usage("--only-vibes asks once: leave --repeats out")
	}
	from := source{
		dataset: filepath.Join(folder, filepath.FromSlash(config.Datasets[experiment.GroundTruth].Path)), agents: []string{config.Agent.Ref().String()},
		models: c.Model, repeats: c.Repeats, limit: c.Limit,
	}
	if name := config.Evaluator.Ref().String(); name != "" && !c.OnlyVibes {
		from.evaluators = []string{name}
	}
	if c.DryRun {
		return j.dry(from, &config)
	}
	x, err := c.begin(j, from, &config)
	if err != nil {
		return err
	}
	return c.finish(j, &config, folder, &x)
}

// dry prints what would be run.
func (j *job) dry(from source, config *experiment.Config) error {
	plan, err := j.plan(from)
	if err != nil {
		return err
	}
	f := show.Fields{W: j.Stdout, Width: 12}
	f.Line("experiment", config.Name)
	f.Line("dataset", fmt.Sprintf("%s, %s", plan.Dataset, show.Count(plan.Cases, "case")))
	for _, r := range plan.Agents {
		f.Line("agent", strings.TrimSpace(r.Name+" "+r.Version))
	}
	for _, r := range plan.Evaluators {
		f.Line("evaluator", strings.TrimSpace(r.Name+" "+r.Version))
	}
	f.Line("models", strings.Trim(strings.Join(plan.Models, ", "), " "))
	f.Line("answers", fmt.Sprint(plan.Tasks()))
	j.Say("nothing was run (--dry-run)")
	return nil
}

// begin stores a new run of the experiment, or finds the one to go on with.
func (c *experimentsRun) begin(j *job, from source, config *experiment.Config) (store.Evaluation, error) {
	if c.Resume == "" {
		return j.begin(from, &c.outputs, store.Evaluation{Name: config.Name + "-" + stamp(time.Now()), Experiment: config.Name})
	}
	x, err := find(j.ctx, j.Store, c.Resume, config.Name)
	if err == nil && x.Experiment != config.Name {
		err = fmt.Errorf("the evaluation %s is no run of the experiment %s: `p8 experiments show %s` lists its runs", x.ID, config.Name, config.Name)
	}
	if err != nil {
		return x, err
	}
	return x, j.restore(&x)
}

// finish runs the experiment, writes what came out, and keeps the state.
func (c *experimentsRun) finish(j *job, config *experiment.Config, folder string, x *store.Evaluation) error {
	now := time.Now().UTC().Truncate(time.Second)
	config.Status, config.LastRunAt, config.UpdatedAt = experiment.Running, &now, now
	if err := save(j.ctx, j.Store, folder, config); err != nil {
		return err
	}
	after := context.WithoutCancel(j.ctx)
	if err := j.run(x); err != nil {
		config.Status = experiment.Failed
		return errors.Join(err, save(after, j.Store, folder, config))
	}
	config.Status = experiment.Completed
	to := filepath.Join(folder, filepath.FromSlash(config.Results.BasePath), runFolder(x))
	var err error
	if c.OnlyVibes {
		err = c.vibes(after, j, to, config, x)
	} else {
		err = writeRun(after, j.Store, to, config, x)
	}
	if err = errors.Join(err, save(after, j.Store, folder, config)); err != nil {
		return err
	}
	j.Say("%s has the results", to)
	if err := c.write(after, j.App, j.Store, x); err != nil {
		return err
	}
	return j.empty()
}

// writeRun writes the folder of a run: the report, the results and the metrics.
func writeRun(ctx context.Context, s *store.Store, to string, config *experiment.Config, x *store.Evaluation) error {
	o := outputs{}
	sum, page, err := o.summarize(ctx, s, x)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("the folder %s cannot be made: look at its permissions", to)
	}
	if config.Results.SaveTraces {
		err = writeFile(filepath.Join(to, "results.jsonl"), func(f *os.File) error { return eachLine(ctx, s, x.ID, f, func(r *experiment.Result) any { return r }) })
	}
	if err == nil {
		err = writeFile(filepath.Join(to, "report.html"), func(f *os.File) error { return page.HTML(f, resultsOf(ctx, s, x.ID)) })
	}
	if err == nil && config.Results.SaveMetricsSummary {
		err = writeText(filepath.Join(to, filepath.FromSlash(config.Results.MetricsFile)), metrics(x, page.Plan, sum))
	}
	return err
}

// metrics is the text of metrics.json.
func metrics(x *store.Evaluation, plan *experiment.Plan, sum *report.Summary) []byte {
	names := func(refs []experiment.Ref) string {
		var all []string
		for _, r := range refs {
			all = append(all, r.String())
		}
		return strings.Join(all, ", ")
	}
	m := experiment.Metrics{
		ExperimentID: x.ID, Name: x.Name, Agent: names(plan.Agents), Evaluator: names(plan.Evaluators), DatasetSize: plan.Cases,
		CompletedAt: x.EndedAt.UTC(), Summary: sum,
	}
	for i := range sum.Subjects {
		m.TaskRuns += sum.Subjects[i].Answers
	}
	text, _ := json.MarshalIndent(m, "", "  ")
	return append(text, '\n')
}

// eachLine writes a line of JSON for each result.
func eachLine(ctx context.Context, s *store.Store, id string, w io.Writer, line func(*experiment.Result) any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for r, err := range resultsOf(ctx, s, id) {
		if err == nil {
			err = e.Encode(line(&r))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// vibes writes the answers for people to judge, with the evaluator's document to judge by.
func (c *experimentsRun) vibes(ctx context.Context, j *job, to string, config *experiment.Config, x *store.Evaluation) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("the folder %s cannot be made: look at its permissions", to)
	}
	if err := writeFile(filepath.Join(to, "vibes-results.jsonl"), func(f *os.File) error {
		return eachLine(ctx, j.Store, x.ID, f, func(r *experiment.Result) any { return experiment.NewVibe(r) })
	}); err != nil {
		return err
	}
	info := map[string]any{
		"experiment": config.Name, "evaluation_id": x.ID, "mode": "vibes", "agent": j.current.Agents, "models": j.current.Models,
		"evaluator": config.Evaluator, "dataset": j.current.Dataset, "dataset_hash": j.current.Hash, "dataset_size": j.current.Cases,
		"started_at": x.CreatedAt, "completed_at": x.EndedAt,
	}
	text, err := json.MarshalIndent(info, "", "  ")
	if err == nil {
		err = writeText(filepath.Join(to, "run-info.json"), append(text, '\n'))
	}
	if err != nil || config.Evaluator.Name == "" {
		return err
	}
	_, a, err := (&finder{j.Catalog, j.Store}).agent(ctx, config.Evaluator.Ref().String())
	if err != nil {
		return nil // a check, which needs no document
	}
	if text, err = a.Document.MarshalYAML(); err != nil {
		return err
	}
	return writeText(filepath.Join(to, "evaluator.yaml"), text)
}
