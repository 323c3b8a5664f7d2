package evals

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/internal/experiment/dataset"
	"github.com/p8-org/p8/internal/testcase"
	"github.com/p8-org/p8/store"
)

type runCmd struct {
	Dataset string `arg:"" optional:"" help:"File with the cases: .yaml, .jsonl, .json or .csv, or one of p8 test."`

	Agent     []string `short:"a" placeholder:"NAME" help:"Agent to evaluate: a name, NAME@VERSION, or the path of a document; may be repeated."`
	Model     []string `short:"m" placeholder:"MODEL" help:"Model, as provider:model; may be repeated. Without it, the agent's own."`
	Evaluator []string `placeholder:"NAME" help:"Evaluator: the name of a document, a type of check such as exact, or the path of a file with checks; may be repeated."`
	Repeats   int      `default:"1" help:"How often each case is answered (${default}); with more than one, pass@k and pass^k."`
	Limit     int      `help:"Run only the first cases."`
	Name      string   `help:"Name of the evaluation (that of the dataset)."`
	Resume    string   `placeholder:"ID" help:"Go on with an evaluation that was stopped; last is the newest one."`
	pacing
	command.Caller
	outputs
}

// pacing are the flags about how an evaluation is run.
type pacing struct {
	Concurrency int           `default:"4" help:"Number of answers at once (${default})."`
	Rate        []string      `placeholder:"[MODEL=]N" help:"At most N requests a minute, to each model or to this one; may be repeated."`
	Patience    time.Duration `default:"10m" help:"How long a request waits for a provider that refuses it (${default})."`
	Judge       string        `placeholder:"MODEL" help:"Model of evaluators that name none (P8_EVALUATOR_MODEL)."`

	rates map[string]int
}

// maxConcurrency bounds the answers at once.
const maxConcurrency = 256

func (p *pacing) check() error {
	if p.Concurrency < 1 || p.Concurrency > maxConcurrency {
		return command.Usage("--concurrency is %d: give a number from 1 to %d", p.Concurrency, maxConcurrency)
	}
	if p.Patience < 0 {
		return command.Usage("--patience is %s: give a duration such as 10m", p.Patience)
	}
	p.rates = map[string]int{}
	for _, text := range p.Rate {
		model, number := "", text
		if i := strings.LastIndexByte(text, '='); i >= 0 {
			model, number = text[:i], text[i+1:]
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > 1_000_000 {
			return command.Usage("--rate is %q: give requests a minute, such as 60 or openai:gpt-4.1=60", text)
		}
		p.rates[model] = n
	}
	return nil
}

// Run runs the evaluation, or what is left of it.
func (c *runCmd) Run(a *command.App) error {
	if err := c.check(); err != nil {
		return err
	}
	j, err := open(a, c.Caller, &c.pacing)
	if err != nil {
		return err
	}
	defer j.close()
	if err := c.resolve(j.ctx, j.Store, ""); err != nil {
		return err
	}
	x, err := c.begin(j)
	if err != nil {
		return err
	}
	if err := j.run(&x); err != nil {
		return err
	}
	if err := c.write(j.ctx, a, j.Store, &x); err != nil {
		return err
	}
	return j.empty()
}

func (c *runCmd) check() error {
	if err := c.outputs.check(); err != nil {
		return err
	}
	switch {
	case c.Resume != "" && (c.Dataset != "" || len(c.Agent)+len(c.Model)+len(c.Evaluator) > 0 || c.Repeats != 1 || c.Limit != 0 || c.Name != ""):
		return command.Usage("--resume goes on with what was begun: leave the dataset, the agents, the models and the evaluators out")
	case c.Resume == "" && c.Dataset == "":
		return command.Usage("there is no dataset: give one, as in p8 eval run cases.yaml --agent general")
	case c.Resume == "" && len(c.Agent) == 0:
		return command.Usage("there is no agent: give one, as in p8 eval run %s --agent general", c.Dataset)
	case c.Repeats < 1 || c.Repeats > 1000:
		return command.Usage("--repeats is %d: give a number from 1 to 1000", c.Repeats)
	case c.Limit < 0:
		return command.Usage("--limit is %d: give a number of cases", c.Limit)
	}
	return c.pacing.check()
}

// begin stores a new evaluation, or finds the one to go on with.
func (c *runCmd) begin(j *job) (store.Evaluation, error) {
	if c.Resume != "" {
		x, err := find(j.ctx, j.Store, c.Resume, "")
		if err != nil {
			return x, err
		}
		if x.Status == completed {
			j.Say("the evaluation %s is complete; what failed is tried again", x.ID)
		}
		return x, j.restore(&x)
	}
	return j.begin(source{
		dataset: c.Dataset, agents: c.Agent, models: c.Model, evaluators: c.Evaluator, repeats: c.Repeats, limit: c.Limit,
	}, &c.outputs, store.Evaluation{Name: cmp.Or(c.Name, strings.TrimSuffix(filepath.Base(c.Dataset), filepath.Ext(c.Dataset)))})
}

// source is what a user asks to run.
type source struct {
	dataset                    string
	agents, models, evaluators []string
	repeats, limit             int
}

// begin finds what a source names, and stores a new evaluation of it.
func (j *job) begin(from source, to *outputs, x store.Evaluation) (store.Evaluation, error) {
	plan, err := j.plan(from)
	if err != nil {
		return x, err
	}
	x.Status, x.Plan = running, encode(plan)
	if err := to.comparable(j); err != nil {
		return x, err
	}
	if err := j.Store.Evaluations().Begin(j.ctx, &x); err != nil {
		return x, err
	}
	j.Say("evaluation %s: %s", x.ID, show.Count(int(plan.Tasks()), "answer"))
	return x, nil
}

// plan reads the dataset and finds the documents.
func (j *job) plan(from source) (*experiment.Plan, error) {
	plan := &experiment.Plan{Dataset: from.dataset, Models: from.models, Repeats: from.repeats}
	if len(plan.Models) == 0 {
		plan.Models = []string{""}
	}
	var err error
	if j.cases, plan.Hash, err = load(from.dataset); err != nil {
		return nil, err
	}
	if from.limit > 0 && from.limit < len(j.cases) {
		j.cases = j.cases[:from.limit]
	}
	plan.Cases = len(j.cases)
	if plan.Agents, err = j.findAgents(from.agents); err != nil {
		return nil, err
	}
	if plan.Evaluators, err = j.findEvaluators(from.evaluators); err != nil {
		return nil, err
	}
	if err := j.knowModels(plan.Models); err != nil {
		return nil, err
	}
	j.current = plan
	return plan, plan.Check()
}

// restore finds again what a stored evaluation ran. Nothing of it may have changed.
func (j *job) restore(x *store.Evaluation) error {
	old, err := planOf(x)
	if err != nil {
		return err
	}
	if strings.HasPrefix(old.Dataset, sessionsOf) {
		return j.restoreSessions(x, old)
	}
	from := source{dataset: old.Dataset, models: old.Models, repeats: old.Repeats, limit: old.Cases}
	from.agents, from.evaluators = sources(old.Agents), sources(old.Evaluators)
	plan, err := j.plan(from)
	if err != nil {
		return fmt.Errorf("the evaluation cannot go on: %w", err)
	}
	if plan.Hash != old.Hash || plan.Cases != old.Cases {
		return fmt.Errorf("the dataset %s has changed since the evaluation began: begin a new one", old.Dataset)
	}
	return unchanged(slices.Concat(old.Agents, old.Evaluators), slices.Concat(plan.Agents, plan.Evaluators))
}

// sources returns what the user gave for documents, each once: a file may have several checks.
func sources(refs []experiment.Ref) (all []string) {
	for _, r := range refs {
		if !slices.Contains(all, r.Source) {
			all = append(all, r.Source)
		}
	}
	return all
}

// unchanged returns an error if a document is not the one that the evaluation began with.
func unchanged(before, now []experiment.Ref) error {
	for i, r := range now {
		if i >= len(before) || before[i].Hash != r.Hash || before[i].Name != r.Name {
			return fmt.Errorf("the document %s has changed since the evaluation began: begin a new one, or pin a version (NAME@VERSION)", show.OneLine(r.Name))
		}
	}
	if len(before) != len(now) {
		return errors.New("the evaluators have changed since the evaluation began: begin a new one")
	}
	return nil
}

// load reads a dataset, and returns the SHA-256 of its text.
func load(path string) ([]dataset.Case, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", fmt.Errorf("the dataset %s cannot be read: give the path of a .yaml, .jsonl, .json or .csv file", show.OneLine(path))
	}
	defer f.Close()
	sum := sha256.New()
	read := dataset.Load
	if testcase.IsFile(path) {
		read = testCases
	}
	cases, err := read(path, io.TeeReader(f, sum))
	if err != nil {
		return nil, "", command.Fail(command.ExitUsage, err)
	}
	_, err = io.Copy(sum, f)
	return cases, hex.EncodeToString(sum.Sum(nil)), err
}

// maxTestCases bounds the bytes of a file of p8 test.
const maxTestCases = 1 << 20

// testCases reads the cases of p8 test as a dataset.
func testCases(path string, r io.Reader) ([]dataset.Case, error) {
	src, err := io.ReadAll(io.LimitReader(r, maxTestCases+1))
	switch {
	case err != nil:
		return nil, err
	case len(src) > maxTestCases:
		return nil, fmt.Errorf("%s is larger than 1 MiB: divide it", path)
	}
	samples, err := testcase.Samples(path, src)
	if err != nil {
		return nil, err
	}
	cases := make([]dataset.Case, len(samples))
	for i, s := range samples {
		id, _ := s.Metadata["case"].(string)
		cases[i] = dataset.Case{ID: cmp.Or(id, strconv.Itoa(i+1)), Input: s.Input, Expected: s.Expected, Metadata: s.Metadata}
	}
	return cases, nil
}

// interruptedError is the error of an evaluation that the user stopped.
func interruptedError(id string) error {
	return command.Fail(command.ExitInterrupted, errors.New("stopped: what was answered is kept; "+resumeHint(id)))
}
