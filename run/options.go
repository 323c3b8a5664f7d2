package run

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// Options is everything that one run needs.
type Options struct {
	// Agent is the compiled document.
	Agent *agent.Agent
	// Model answers.
	Model llm.Model
	// Tools are those that the document declares and this process has.
	Tools []tool.Tool
	// Chained is called with the structured answer, outside of the model's view;
	// nil is none. It counts as a tool call; a limit refuses it, not the answer.
	Chained tool.Tool
	// ChainedMissing says why Chained is nil although the document names a tool.
	ChainedMissing string
	// Cost is what a response of a model costs in US dollars; nil knows no prices but
	// the caller's, in a nested run.
	Cost func(model string, u llm.Usage) float64
	// Messages are the conversation, the user's message last. The agent's prompt
	// is put before them when they do not begin with a system message.
	Messages []llm.Message
	// Settings win over the document's; what is unset is taken from there.
	Settings llm.Settings
	// Warnings are emitted first.
	Warnings []event.WarningData
	// RunID is made up when empty.
	RunID string
	// Path is the path of agent names; the agent's name, below the caller's path
	// in a nested run, when empty.
	Path string
	// Timeout is the wall clock of the run; 10 minutes when 0.
	Timeout time.Duration
	// ToolTimeout is the wall clock of one call; 2 minutes when 0.
	ToolTimeout time.Duration
	// Parallel bounds the calls that run at once; 16 when 0.
	Parallel int
	// StepToolCalls bounds the tool calls that are made of one answer of the model, 250
	// when 0; ToolCalls those of the run, 2,000 when 0. A document may set less, not more.
	// A nested run has its parent's StepToolCalls where it sets none.
	StepToolCalls, ToolCalls int
	// StructuredMode is "native" or "tool"; the model's ability decides when
	// empty.
	StructuredMode string
	// Thread is the root's place in the journal; another one than "" keeps a second run
	// of one journal apart from the first.
	Thread string
	// Journal lets the run pause for the user and be taken up again; nil does not:
	// then what needs an approval is refused. A nested run has its parent's.
	Journal Journal
	// Steer gives the messages that came in while the run was running, nil for none.
	// It is called before every request to the model, and with last before a run
	// ends that would end well: what is there then makes it go on.
	Steer func(last bool) []llm.Message
	// Answered is told the text of an answer that ends the run, whether it was shown
	// or not (agent.ChildReplace).
	Answered func(text string)
	// ResultChars is how long a result may be that the model is shown whole;
	// [tool.DefaultResultChars] when 0. Of a longer one it sees the beginning.
	ResultChars int
	// Memory counts what the run holds; nil counts nothing. A nested run has its
	// parent's.
	Memory Memory
	// NewID makes the ids of the rows of such results, by which LOOKUP finds the rest;
	// nil where they are not stored.
	NewID func() string
	// MaxDepth bounds the runs below one another under the root; 5 when 0. It is the
	// root's that counts.
	MaxDepth int
	Logger   *slog.Logger
}

// The defaults of Options.
const (
	defaultTimeout     = 10 * time.Minute
	defaultToolTimeout = 2 * time.Minute
	defaultParallel    = 16
)

// The structured modes.
const (
	// ModeNative binds the model to the schema by the provider's own means.
	ModeNative = "native"
	// ModeTool offers the model a tool named final_result whose parameters are
	// the schema.
	ModeTool = "tool"
)

// defaults fills in what the options leave out.
func (r *runner) defaults(parent *Scope) {
	r.nest(parent)
	r.Timeout = positive(r.Timeout, defaultTimeout)
	r.ToolTimeout = positive(r.ToolTimeout, defaultToolTimeout)
	r.Parallel = positive(r.Parallel, defaultParallel)
	r.ResultChars = positive(r.ResultChars, tool.DefaultResultChars)
	if r.Logger == nil {
		r.Logger = slog.Default()
	}
}

// positive is v, or other where v is not above 0.
func positive[T cmp.Ordered](v, other T) T {
	var zero T
	if v > zero {
		return v
	}
	return other
}
