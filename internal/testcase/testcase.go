// Package testcase tests agents like code. A case is a conversation with an agent and what
// is expected of it: answers, calls of tools, events, limits. Cases are in YAML files beside
// the documents ([Parse]); a [Suite] runs them on recorded traffic (package replay), so that
// they need no network and always go the same way.
//
// The files of cases/weather.test.yaml:
//
//	cases/recordings/weather/NAME.cassette.yaml   the recorded traffic of a case
//	cases/recordings/weather/NAME.events          its events, if the case has golden: true
//
// [Samples] gives the same cases to evaluations.
package testcase

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/evaluation"
)

// File is a file of cases.
type File struct {
	Path  string
	Cases []*Case
}

// Case is a conversation and what is expected of it.
type Case struct {
	File string
	// Line and Column are where the case begins.
	Line, Column int
	Name         string
	// Slug is the name for files: small letters, digits and hyphens.
	Slug string
	// Documents is the folder of the agents' documents, as the file names it; "" for the
	// folder of the file.
	Documents string
	// Agent is the agent's name; "" if the file names none. Document is the path of its
	// document, which Parse leaves to its caller; "" finds the agent by its name.
	Agent, Document string
	// Model is "provider:model"; "" is the document's.
	Model        string
	Instructions string
	// Headers are those of a request, such as X-User-Email.
	Headers http.Header
	// Load are files and folders that are stored first, relative to the file.
	Load []string
	// Now is the time of the conversation; the time of the recording if zero.
	Now   time.Time
	Turns []Turn
	// Expected and Metadata are for evaluations.
	Expected json.RawMessage
	Metadata map[string]any
	// Expect and Events are expected of the whole conversation. A check of the answer
	// judges the last one.
	Expect []evaluation.Evaluator
	Events []Pattern
	// Golden: the events are compared with a file.
	Golden bool
	Limits Limits
}

// Turn is a message of the user, or an answer to a question of the agent.
type Turn struct {
	Line int
	Say  string
	// Instructions are for this turn alone, after those of the case.
	Instructions string
	// Decision answers all open questions of the turn before; nil for a message.
	Decision *Decision
	Expect   []evaluation.Evaluator
	Events   []Pattern
}

// Decision is a user's answer to a question.
type Decision struct {
	Accept  bool
	Comment string
	// Content is the data of a form; nil for an approval.
	Content json.RawMessage
}

// Limits bound a whole case; 0 is no bound.
type Limits struct {
	InputTokens, OutputTokens, TotalTokens int
	CostUSD                                float64
	Requests, ToolCalls                    int
	// Time is the time that the turns took when they were recorded.
	Time time.Duration
}

// suffix ends the names of files of cases.
const suffix = ".test.yaml"

// stem returns the path of a file of cases without its suffix.
func stem(path string) string {
	for _, end := range []string{suffix, ".test.yml", ".yaml", ".yml"} {
		if s, ok := strings.CutSuffix(path, end); ok {
			return s
		}
	}
	return path
}

// recording returns the path of a file of the case's recording.
func (c *Case) recording(ext string) string {
	dir, base := filepath.Split(stem(c.File))
	return filepath.Join(dir, "recordings", base, c.Slug+ext)
}

// Cassette returns the path of the recorded traffic.
func (c *Case) Cassette() string { return c.recording(".cassette.yaml") }

// Events returns the path of the golden events.
func (c *Case) golden() string { return c.recording(".events") }

// slug returns a name for files.
func slug(name string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name)
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "-")
	}
	return strings.Trim(s[:min(len(s), 80)], "-")
}

// Samples reads a file of cases for an evaluation: the last message of each as its input,
// with the case's name, agent and metadata. The error is agent.Problems.
func Samples(file string, src []byte) ([]evaluation.Sample, error) {
	f, err := Parse(file, src)
	if err != nil {
		return nil, err
	}
	var out []evaluation.Sample
	for _, c := range f.Cases {
		s := evaluation.Sample{Input: c.input(), Expected: c.Expected, Metadata: map[string]any{"case": c.Name}}
		if c.Agent != "" {
			s.Metadata["agent"] = c.Agent
		}
		for k, v := range c.Metadata {
			s.Metadata[k] = v
		}
		out = append(out, s)
	}
	return out, nil
}

// input returns the last message of the user.
func (c *Case) input() string {
	for i := len(c.Turns) - 1; i >= 0; i-- {
		if c.Turns[i].Say != "" {
			return c.Turns[i].Say
		}
	}
	return ""
}
