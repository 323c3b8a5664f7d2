package chat

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/telemetry"
	"github.com/p8-org/p8/tool"
)

// Options are what a Service works with. Catalog and Models are required; the rest has
// defaults.
type Options struct {
	Catalog Catalog
	Models  Models
	// Tools may be nil: then agents have none.
	Tools Tools
	// Store may be nil: then nothing is stored, and no turn knows of another.
	Store Store
	// DefaultModel is used if neither the request nor the document names a model. The
	// models of Fallback take over, in order, unless the document names its own.
	DefaultModel string
	Fallback     []string
	// Cost returns the cost of a response of a model in US dollars, 0 if unknown. If Cost
	// is nil, no cost is known.
	Cost func(model string, u llm.Usage) float64
	// Defaults are the settings that neither the request nor the document sets.
	Defaults llm.Settings
	// StructuredMode is "native", "tool", or "" to go by the model.
	StructuredMode string
	// KeepLast rows of the history stay whole; 5 when 0.
	KeepLast int
	// Budget of the history in tokens; 8000 when 0.
	Budget int
	// Moments is how many moments of a session its turns are shown at most; 3 when 0, none
	// when negative.
	Moments int
	// Window returns how many tokens a model reads and writes together, and how many it
	// writes at most; 0 if unknown. If Window is nil, no model's window is known.
	Window func(model string) (context, output int)
	// ResultChars is how long a tool's result may be to be shown to a model whole;
	// tool.DefaultResultChars when 0.
	ResultChars int
	// Ended is called when a turn of a session is over, on a goroutine of the turn.
	Ended func(ctx context.Context, e Ended)
	// MaxRuns bounds the runs at one time, of all callers together; 1000 when 0.
	MaxRuns int
	// RunTimeout, ToolTimeout and Parallel are those of package run.
	RunTimeout  time.Duration
	ToolTimeout time.Duration
	Parallel    int
	// StepToolCalls and ToolCalls bound the tool calls of one answer of a model and of a
	// run, as package run has them.
	StepToolCalls, ToolCalls int
	// MaxEvents and MaxBytes bound the log of one run; 100,000 and 16 MiB (4 MiB without a
	// Store) when 0. The text of an answer has at most 2 MiB. A run that exceeds one of
	// these ends with reason length.
	MaxEvents int
	MaxBytes  int
	// Memory is how many bytes all runs may hold together, plus 16 KiB for each run; 64 MiB
	// when 0. Once half of it is used, runs keep in memory only what is not stored. Beyond
	// it, the run that holds most ends with reason length.
	Memory int64
	// MaxDepth bounds how deep agents ask agents; 5 when 0.
	MaxDepth int
	// Stored is called with the time for which events of a run waited to be stored. It must
	// not block. It may be nil.
	Stored func(waited time.Duration)
	// Patience is how long a run retries a write while the store fails, before it stops
	// at its next call that acts; 30 s when 0.
	Patience time.Duration
	// AnswerWithin is how long a question to the user stands; 7 days when 0.
	AnswerWithin time.Duration
	// Classifier chooses among agents if a client leaves the choice to p8 (the agent auto);
	// nil goes by the rules of the documents and asks a model where they are not sure.
	Classifier routing.Classifier
	// Admit opens the account of a turn, before anything is stored or spent for it; its error
	// refuses the turn. again is a run that goes on, which is not refused. nil admits all.
	Admit func(ctx context.Context, again bool) (Account, error)
	// Scripts answer in place of a model, by the names of agents that the catalog has.
	Scripts map[string]Script
	// Telemetry records the operations of turns; nil records those of contexts that have one.
	Telemetry *telemetry.Telemetry
	// Attempts is how often ResumeInterrupted resumes a run whose process died; 0 leaves
	// interrupted runs to Resume.
	Attempts int
	// Process names this process among those that share the store; a new name when "".
	Process string
	// Now and NewID are the clock and the source of ids (UUIDs).
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
}

// DefaultAgent answers where neither the request nor the identity names one.
const DefaultAgent = "general"

// The defaults of Options.
const (
	defaultKeepLast = 5
	defaultBudget   = 8000
	defaultMoments  = 3
	defaultMaxRuns  = 1000
	defaultMemory   = 64 << 20

	defaultAnswerWithin = 7 * 24 * time.Hour
)

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	o.KeepLast = cmp.Or(o.KeepLast, defaultKeepLast)
	o.Budget = cmp.Or(o.Budget, defaultBudget)
	o.Moments = max(0, cmp.Or(o.Moments, defaultMoments))
	o.ResultChars = cmp.Or(o.ResultChars, tool.DefaultResultChars)
	o.MaxRuns = cmp.Or(o.MaxRuns, defaultMaxRuns)
	o.Memory = cmp.Or(o.Memory, defaultMemory)
	o.AnswerWithin = cmp.Or(o.AnswerWithin, defaultAnswerWithin)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	if o.Process == "" {
		o.Process = newID()
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// runOptions returns the options that all runs share, nested ones included.
func (o *Options) runOptions() run.Options {
	return run.Options{
		Cost: o.Cost, Now: o.Now, ModelCalls: true, ToolTimeout: o.ToolTimeout, Parallel: o.Parallel, StepToolCalls: o.StepToolCalls, ToolCalls: o.ToolCalls,
		StructuredMode: o.StructuredMode, Logger: o.Logger,
	}
}

// resumes reports whether interrupted runs are resumed by themselves.
func (o *Options) resumes() bool { return o.Attempts > 0 && o.Store != nil }

// Account is what a turn may use of its caller's quotas. Its functions may be nil.
type Account struct {
	// Allowed bounds the runs under way; Refused words the store's refusal of one more.
	Allowed store.RunsAllowed
	Refused func(*store.TooManyRunsError) error
	// Meter returns a function for a run of the turn, as package run has it.
	Meter func() func(event.UsageData) (limit string)
	// End takes all that the turn has used, when it is stored.
	End func(event.UsageData)
}

// Ended is a turn of a session that is over.
type Ended struct {
	SessionID string
	// Mode is the session's: chat, evaluation, dreaming, ….
	Mode string
	// Unsummarised is about how many tokens of the session no moment sums up.
	Unsummarised int
	// Untitled: this is the session's first answer, and nobody has named the session.
	Untitled bool
	// Observed is what the agent observed.
	Observed []*event.MetadataData
}
