package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// Config is an experiment, as REM writes it to experiment.yaml.
type Config struct {
	Name        string             `yaml:"name" json:"name"`
	Task        string             `yaml:"task" json:"task"`
	Description string             `yaml:"description,omitempty" json:"description,omitempty"`
	Agent       SchemaRef          `yaml:"agent_schema_ref" json:"agent_schema_ref"`
	Evaluator   SchemaRef          `yaml:"evaluator_schema_ref" json:"evaluator_schema_ref"`
	Datasets    map[string]Dataset `yaml:"datasets" json:"datasets"`
	Results     Results            `yaml:"results" json:"results"`
	Status      string             `yaml:"status" json:"status"`
	Tags        []string           `yaml:"tags,omitempty" json:"tags,omitempty"`
	Metadata    map[string]any     `yaml:"metadata,omitempty" json:"metadata,omitempty"`
	CreatedAt   time.Time          `yaml:"created_at" json:"created_at"`
	UpdatedAt   time.Time          `yaml:"updated_at" json:"updated_at"`
	LastRunAt   *time.Time         `yaml:"last_run_at,omitempty" json:"last_run_at,omitempty"`
}

// SchemaRef names a document; a version pins it.
type SchemaRef struct {
	Name    string `yaml:"name" json:"name"`
	Version string `yaml:"version,omitempty" json:"version,omitempty"`
	// Type is agent or evaluator.
	Type string `yaml:"type,omitempty" json:"type,omitempty"`
}

// Ref returns the reference.
func (r SchemaRef) Ref() Ref { return Ref{Name: r.Name, Version: r.Version, Pinned: r.Version != ""} }

// Dataset says where cases are. p8 reads files, which REM calls the location git.
type Dataset struct {
	Location    string `yaml:"location" json:"location"`
	Path        string `yaml:"path" json:"path"`
	SchemaPath  string `yaml:"schema_path,omitempty" json:"schema_path,omitempty"`
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
}

// Results say what a run writes, and where.
type Results struct {
	Location           string `yaml:"location" json:"location"`
	BasePath           string `yaml:"base_path" json:"base_path"`
	SaveTraces         bool   `yaml:"save_traces" json:"save_traces"`
	SaveMetricsSummary bool   `yaml:"save_metrics_summary" json:"save_metrics_summary"`
	MetricsFile        string `yaml:"metrics_file" json:"metrics_file"`
}

// GroundTruth is the name of the dataset that a run reads.
const GroundTruth = "ground_truth"

// The states of an experiment.
const (
	Draft     = "draft"
	Ready     = "ready"
	Running   = "running"
	Completed = "completed"
	Failed    = "failed"
	Archived  = "archived"
)

var (
	plainName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?$`)
	states    = []string{Draft, Ready, Running, Completed, Failed, Archived}
)

// ValidName reports whether a name may be that of an experiment.
func ValidName(name string) bool { return plainName.MatchString(name) }

// Complete sets what a configuration leaves out, and checks the rest.
func (c *Config) Complete() error {
	fill := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	fill(&c.Task, "general")
	fill(&c.Status, Draft)
	fill(&c.Agent.Type, "agent")
	fill(&c.Evaluator.Type, "evaluator")
	fill(&c.Results.Location, "git")
	fill(&c.Results.BasePath, "results")
	fill(&c.Results.MetricsFile, "metrics.json")
	for name, d := range c.Datasets {
		fill(&d.Location, "git")
		c.Datasets[name] = d
	}
	for i, tag := range c.Tags {
		c.Tags[i] = strings.ToLower(strings.TrimSpace(tag))
	}
	return c.check()
}

func (c *Config) check() error {
	var wrong []error
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	for _, x := range [][2]string{{"name", c.Name}, {"task", c.Task}} {
		if !plainName.MatchString(x[1]) {
			add("%s is %q: give 1-100 lower-case letters, digits and hyphens", x[0], x[1])
		}
	}
	if c.Agent.Name == "" {
		add("agent_schema_ref.name is missing: give the name of an agent")
	}
	if !slices.Contains(states, c.Status) {
		add("status is %q: give one of %s", c.Status, strings.Join(states, ", "))
	}
	truth, ok := c.Datasets[GroundTruth]
	if !ok || truth.Path == "" {
		add("datasets.%s.path is missing: give the path of a dataset", GroundTruth)
	}
	for name, d := range c.Datasets {
		if d.Location != "git" {
			add("datasets.%s.location is %q: p8 reads files only, the location git", name, d.Location)
		}
	}
	if c.Results.Location != "git" {
		add("results.location is %q: p8 writes files only, the location git", c.Results.Location)
	}
	for _, x := range [][2]string{{"results.base_path", c.Results.BasePath}, {"results.metrics_file", c.Results.MetricsFile}} {
		if strings.HasPrefix(x[1], "/") || slices.Contains(strings.Split(strings.ReplaceAll(x[1], `\`, "/"), "/"), "..") {
			add("%s is %q: give a path inside the experiment's folder", x[0], x[1])
		}
	}
	return errors.Join(wrong...)
}

// ParseConfig reads an experiment.yaml. The error has file:line:column where it can.
func ParseConfig(file string, text []byte) (Config, error) {
	c := Config{Results: Results{SaveTraces: true, SaveMetricsSummary: true}}
	if len(text) > 1<<20 {
		return c, fmt.Errorf("%s is larger than 1 MiB", file)
	}
	d := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	if err := d.Decode(&c); err != nil {
		var at yaml.Error
		if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
			p := at.GetToken().Position
			return c, fmt.Errorf("%s:%d:%d: %s", file, p.Line, p.Column, at.GetMessage())
		}
		return c, fmt.Errorf("%s is no configuration of an experiment", file)
	}
	if err := c.Complete(); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// YAML returns the text of experiment.yaml.
func (c *Config) YAML() ([]byte, error) { return yaml.Marshal(c) }

// README returns the text of the README.md beside it.
func (c *Config) README() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", c.Name)
	if c.Description != "" {
		fmt.Fprintf(&b, "%s\n\n", c.Description)
	}
	fmt.Fprintf(&b, "| | |\n|---|---|\n| Task | %s |\n| Agent | %s |\n", c.Task, c.Agent.Ref())
	if c.Evaluator.Name != "" {
		fmt.Fprintf(&b, "| Evaluator | %s |\n", c.Evaluator.Ref())
	}
	fmt.Fprintf(&b, "| Dataset | `%s` |\n", c.Datasets[GroundTruth].Path)
	if len(c.Tags) > 0 {
		fmt.Fprintf(&b, "| Tags | %s |\n", strings.Join(c.Tags, ", "))
	}
	fmt.Fprintf(&b, "\n```\np8 experiments run %s                 # asks the agent, has the answers judged\np8 experiments run %s --only-vibes    # asks the agent only; you judge\np8 experiments show %s\n```\n\n", c.Name, c.Name, c.Name)
	fmt.Fprintf(&b, "Each run writes a folder `%s/<time>/`: the report, the results and `%s`.\n", c.Results.BasePath, c.Results.MetricsFile)
	return b.String()
}
