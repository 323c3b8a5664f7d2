// Package agent is the document: an agent as a person writes it.
//
// A document is a JSON Schema object in YAML or JSON. Its description is the
// system prompt; its properties are the schema of the answer
// (structured_output: true) or a structure for the model's thinking; its tools
// are what the agent may call. There are two dialects of one type: flat ones
// have the configuration beside description (p8), nested ones inside
// json_schema_extra (REM, REMLight).
//
// [Parse] reads and checks a document and reports everything that is wrong at
// once, with its place, the line and a hint ([Problems]). [New] builds one in
// Go, [FromStruct] from a struct whose fields are the properties. [Compile]
// makes the [Agent] that runs: prompt, output schema, limits and settings,
// nothing of a user, free to share. [Spec] is the JSON Schema that documents
// themselves follow, for editors.
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
	// Name is the name that the agent is known by.
	Name string
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
	// Model is what the document asks for when the request names none;
	// OverrideModel is used whatever the request says. Both may be "".
	Model, OverrideModel string
	// Fallback are the models that take over when the model fails.
	Fallback []string
	// Settings are the document's, where set.
	Settings llm.Settings
	// HistoryTools is HistoryReplay or HistorySkip, ChildText ChildReplace or
	// ChildKeep.
	HistoryTools, ChildText string
	// ChainedTool is called with the answer of a structured agent; may be "".
	ChainedTool string

	validator *validator
}

// CompileOptions change how a document is compiled; the zero value does not.
type CompileOptions struct {
	// Structured overrides the document's structured_output.
	Structured *bool
	// KeepDescription leaves the root description, which is the system prompt, in
	// the output schema.
	KeepDescription bool
}

// Compile makes the agent of a document. It is cheap: the work was done by
// Parse, and the answer's validator is made when the first answer comes.
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
		validator: d.validator,
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
		if a.Structured = *o.Structured; a.Structured && len(d.root.get("properties").list()) == 0 {
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

// SystemPrompt is the prompt for one run. A nested document's begins with what
// is known about the user, a flat one's never changes (it gets the context as a
// message of its own).
func (a *Agent) SystemPrompt(userContext string) string {
	if userContext = strings.TrimSpace(userContext); userContext == "" || a.Document.Dialect == Flat {
		return a.Prompt
	}
	return "## User Context\n" + userContext + "\n\n" + a.Prompt
}

// ValidateOutput checks a structured answer. It returns every failure as
// "/pointer: message", fit to be sent back to a model; none when the answer is
// valid or the agent answers with text. A check has a budget of steps; an answer that
// needs more has failed. The error is the context's. It is safe for concurrent use.
func (a *Agent) ValidateOutput(ctx context.Context, raw []byte) ([]string, error) {
	if a.validator == nil {
		return nil, nil
	}
	return a.validator.validate(ctx, raw)
}

// OutputSchema is the JSON Schema of the document's fields, whether it is
// structured or not: keywords in their order, nesting and constraints kept, the
// root description only when asked for.
func (d *Document) OutputSchema(keepDescription bool) json.RawMessage {
	if !keepDescription || d.root == nil {
		return d.Schema
	}
	return d.outputSchema(true)
}
