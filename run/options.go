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
	// Model responds.
	Model llm.Model
	// Tools are those that the document declares and this process has.
	Tools []tool.Tool
	// Chained is called with the structured answer; the model does not see it. It counts
	// as a tool call; a limit refuses the call, not the answer.
	Chained tool.Tool
	// ChainedMissing says why Chained is nil although the document names a tool.
	ChainedMissing string
	// Cost returns the cost of a response of a model in US dollars. If it is nil, no prices
	// are known; a nested run then uses its parent's.
	Cost func(model string, u llm.Usage) float64
	// ModelCalls makes each request to the model an event.ModelCall.
	ModelCalls bool
	// Now is time.Now if nil.
	Now func() time.Time
	// Messages are the conversation, the user's message last. The agent's prompt is put
	// before them if they do not begin with a system message.
	Messages []llm.Message
	// ToolChoice says which tools the model may call, and whether it must call one.
	ToolChoice ToolChoice
	// Settings override the document's.
	Settings llm.Settings
	// Warnings are emitted first.
	Warnings []event.WarningData
	// RunID is a new id when empty.
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
	// StepToolCalls bounds the tool calls of one response of the model, 250 when 0;
	// ToolCalls those of the run, 2,000 when 0. A document may set lower bounds, not
	// higher ones. A nested run has its parent's StepToolCalls if it sets none.
	StepToolCalls, ToolCalls int
	// StructuredMode is "native" or "tool"; when empty, the model's abilities decide.
	StructuredMode string
	// Thread is the root's thread in the journal. One that is not "" keeps a second run
	// with the same journal apart from the first.
	Thread string
	// Journal lets the run pause for the user and be resumed. If it is nil, calls that
	// need an approval are refused. A nested run has its parent's.
	Journal Journal
	// Steer returns the user's messages that came in since the last call. It is called before
	// every request to the model. It is also called, with last set, before the run ends with
	// an answer: if it then returns messages, the run continues.
	Steer func(last bool) []llm.Message
	// Answered is called with the text of the answer that ends the run, whether it was
	// shown or not (agent.ChildReplace).
	Answered func(text string)
	// Spent is called before the usage of the run is emitted, with what each agent of the
	// tree consumed with each model. Only the root's is called.
	Spent func(parts []Spent)
	// Traced is called when a run of the tree begins, nested ones too, if the context has
	// telemetry: with the ids of its span. It may be called by several goroutines at once. Only
	// the root's is called.
	Traced func(runID, traceID, spanID string)
	// Allowed takes what the run has consumed, nested runs included, and returns the limit that
	// forbids another request to a model, "" for none. Only the root's is called.
	Allowed func(event.UsageData) (limit string)
	// ResultChars is how long a result may be to be shown to the model whole;
	// [tool.DefaultResultChars] when 0. The model sees the beginning of a longer one.
	ResultChars int
	// Memory counts what the run holds in memory; nil counts nothing. A nested run has
	// its parent's.
	Memory Memory
	// NewID makes the ids of the rows of results that are shortened: LOOKUP finds the
	// rest by them. nil if results are not stored.
	NewID func() string
	// MaxDepth bounds how deep runs nest below the root; 5 when 0. Only the root's
	// counts.
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

// defaults fills in what is not set.
func (r *runner) defaults(parent *Scope) {
	r.nest(parent)
	if r.Now == nil {
		r.Now = time.Now
	}
	r.since = r.Now()
	r.Timeout = positive(r.Timeout, defaultTimeout)
	r.ToolTimeout = positive(r.ToolTimeout, defaultToolTimeout)
	r.Parallel = positive(r.Parallel, defaultParallel)
	r.ResultChars = positive(r.ResultChars, tool.DefaultResultChars)
	if r.Logger == nil {
		r.Logger = slog.Default()
	}
}

// positive returns v, or other if v is not above 0.
func positive[T cmp.Ordered](v, other T) T {
	var zero T
	if v > zero {
		return v
	}
	return other
}
