// Package agent reads, checks and compiles agent documents.
//
// A document is a JSON Schema object in YAML or JSON. Its description is the
// system prompt; its properties are the schema of the answer
// (structured_output: true) or a structure for the model's thinking; its tools
// are what the agent may call. There are two dialects of one type: flat
// documents have the configuration beside description (p8), nested documents
// inside json_schema_extra (REM, REMLight).
//
// [Parse] reads a document and reports all problems at once, each with its
// place, its line and a hint ([Problems]). [ParseFile] also reads the agent
// files of other programs, as documents. [New] builds a document in Go,
// [FromStruct] from a struct whose fields are the properties. [Compile] makes
// the [Agent] that runs: prompt, output schema, limits and settings. An Agent
// holds nothing of a user and can be shared. [Spec] is the JSON Schema of
// documents, for editors.
//
// The package does no I/O.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/p8-org/p8/llm"
)

// Agent is a compiled document: everything about it that does not change from
// one run to the next. It holds nothing of a user and may be shared.
type Agent struct {
	Document *Document
	// Name is the document's [Document.Key].
	Name string
	// Hash is the SHA-256 of the document's text, hex, if a catalog compiled it.
	Hash string
	// Prompt is the system prompt without the user's context.
	Prompt string
	// Structured agents answer with JSON that follows Output.Schema.
	Structured bool
	// Output is set when Structured.
	Output *llm.Output

	// Tools are those that the document declares, whether this process has them
	// or not.
	Tools []ToolRef
	// Resources are the MCP resources that it may read.
	Resources []Resource
	// Sampling lets MCP servers ask the run's model.
	Sampling bool
	// Limits bound a run; max_iterations is in Limits.Requests.
	Limits Limits
	// Model is used if the request names no model, OverrideModel always. Both may
	// be "".
	Model, OverrideModel string
	// Fallback are the models that take over when the model fails.
	Fallback []string
	// Settings are the document's, where set.
	Settings llm.Settings
	// HistoryTools is HistoryReplay or HistorySkip, ChildText ChildOnce,
	// ChildReplace or ChildKeep.
	HistoryTools, ChildText string
	// ChainedTool is called with the answer of a structured agent; may be "".
	ChainedTool string
	// State is the state that the agent shares with the client; nil for none.
	State *State

	validator *validator
}

// CompileOptions change how a document is compiled.
type CompileOptions struct {
	// Structured overrides the document's structured_output.
	Structured *bool
	// KeepDescription leaves the root description, which is the system prompt, in
	// the output schema.
	KeepDescription bool
}

// Compile makes the agent of a document. It is cheap: Parse did the work, and the
// validator of answers is compiled for the first answer.
func Compile(d *Document) (*Agent, error) { return CompileWith(d, CompileOptions{}) }

// CompileWith is Compile with options.
func CompileWith(d *Document, o CompileOptions) (*Agent, error) {
	if d == nil {
		return nil, errors.New("agent: there is no document to compile")
	}
	if d.root == nil {
		built, err := New(d.Fields)
		if err != nil {
			return nil, err
		}
		d = built
	}
	a := &Agent{
		Document: d, Name: d.Key(), Prompt: d.prompt, Structured: d.StructuredOutput, Output: d.output,
		Tools: d.Tools, Resources: d.Resources, Sampling: d.Sampling,
		Limits: d.limits, Model: d.Model, OverrideModel: d.OverrideModel, Fallback: d.Fallback,
		Settings: llm.Settings{
			Temperature: d.Temperature, TopP: d.TopP, MaxTokens: d.MaxTokens, Stop: d.Stop,
			ReasoningEffort: d.ReasoningEffort, PromptCache: d.PromptCache,
		},
		HistoryTools: d.historyTools(), ChildText: d.childText(), ChainedTool: d.ChainedTool,
		State: d.state, validator: d.validator,
	}
	if d.OverrideTemperature != nil {
		a.Settings.Temperature = d.OverrideTemperature
	}
	if o != (CompileOptions{}) {
		return a, a.apply(o)
	}
	return a, nil
}

func (a *Agent) apply(o CompileOptions) error {
	d := a.Document
	if o.Structured != nil && *o.Structured != a.Structured {
		if a.Structured = *o.Structured; a.Structured && len(d.root.Get("properties").List()) == 0 {
			return errors.New("the agent " + a.Name + " has no properties to answer with; it cannot be asked for structured output")
		}
		a.Prompt = d.buildPrompt(a.Structured)
		a.Output, a.validator = nil, nil
		if a.Structured {
			a.Output, a.validator = d.newOutput(d.Schema), newValidator(d.Schema)
		}
	}
	if a.Structured && o.KeepDescription {
		a.Output = d.newOutput(d.outputSchema(true))
	}
	return nil
}

// SystemPrompt returns the prompt for one run. The prompt of a nested document
// begins with userContext; that of a flat document never changes, as its context
// is a separate message.
func (a *Agent) SystemPrompt(userContext string) string {
	if userContext = strings.TrimSpace(userContext); userContext == "" || a.Document.Dialect == Flat {
		return a.Prompt
	}
	return "## User Context\n" + userContext + "\n\n" + a.Prompt
}

// ValidateOutput checks a structured answer. It returns every failure as
// "/pointer: message" for the model, or none if the answer is valid or the agent
// answers with text. A check has a budget of steps; an answer that needs more is
// invalid. The error is the context's. It is safe for concurrent use.
func (a *Agent) ValidateOutput(ctx context.Context, raw []byte) ([]string, error) {
	if a.validator == nil {
		return nil, nil
	}
	return a.validator.validate(ctx, raw)
}

// OutputSchema returns the JSON Schema of the document's properties, whether it is
// structured or not, with its keywords in their order. The root description is
// included only if keepDescription is set.
func (d *Document) OutputSchema(keepDescription bool) json.RawMessage {
	if !keepDescription || d.root == nil {
		return d.Schema
	}
	return d.outputSchema(true)
}
