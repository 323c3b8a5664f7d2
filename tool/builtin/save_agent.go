package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

const saveAgentDescription = `Stores an agent of the user: a whole document as schema_yaml, or its parts. It can be talked to at once under its name. A name that is taken is an error unless overwrite is true. Called without arguments it asks the user's program to save the draft that it shows.`

const saveAgentParameters = `{
	"type": "object",
	"properties": {
		"schema_yaml": {"type": "string", "maxLength": 500000, "description": "the whole document, YAML or JSON; then only overwrite is read besides"},
		"name": {"type": "string", "description": "the agent's name, in kebab case"},
		"description": {"type": "string", "description": "the system prompt"},
		"properties": {"type": "object", "description": "JSON Schema properties: what the agent thinks of before it answers"},
		"required": {"type": "array", "items": {"type": "string"}},
		"tools": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}, "description": "names of tools, or {name, description, server}"},
		"tags": {"type": "array", "items": {"type": "string"}},
		"version": {"type": "string", "description": "1.0.0 without it"},
		"overwrite": {"type": "boolean", "default": false, "description": "replace the agent of that name"}
	},
	"additionalProperties": false
}`

// The actions of save_agent (REMLight's).
const (
	actionTriggerSave = "trigger_save"
	actionAgentSaved  = "agent_saved"
	actionSaveError   = "agent_save_error"
)

// savedAgent is the answer of save_agent.
type savedAgent struct {
	Status  string `json:"status"`
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Created is true if no agent had the name.
	Created     *bool    `json:"created,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
	ActionEvent bool     `json:"_action_event"`
	ActionType  string   `json:"action_type"`
	// Error and Problems say why the agent was not saved.
	Error    string   `json:"error,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

// saveAgent is save_agent.
type saveAgent struct {
	tool.Base
	o *Options
}

func newSaveAgent(o *Options) (tool.Tool, error) {
	base, err := tool.NewBase(llm.ToolSpec{
		Name: "save_agent", Description: saveAgentDescription, Parameters: json.RawMessage(saveAgentParameters),
	})
	if err != nil {
		return nil, err
	}
	output, err := tool.OutputOf[savedAgent]()
	if err != nil {
		return nil, err
	}
	return tool.Annotate(saveAgent{base, o}, tool.Annotations{Title: "Save an agent", Destructive: true, Idempotent: true, Output: output})
}

// saveAgentIn are the arguments of save_agent.
type saveAgentIn struct {
	SchemaYAML string `json:"schema_yaml"`
	agentParts
	Overwrite bool `json:"overwrite"`
}

// agentParts are the keys of a document, in the order in which they are written.
type agentParts struct {
	Type        string          `json:"type"`
	Name        string          `json:"name,omitempty"`
	Version     string          `json:"version,omitempty"`
	Description string          `json:"description,omitempty"`
	Properties  json.RawMessage `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
	Tools       json.RawMessage `json:"tools,omitempty"`
	Tags        []string        `json:"tags,omitempty"`
}

// document returns the text of the agent; "" if the call has none.
func (in *saveAgentIn) document() ([]byte, error) {
	p := in.agentParts
	empty := p.Name == "" && p.Description == "" && len(p.Properties) == 0 && len(p.Tools) == 0 &&
		p.Required == nil && p.Tags == nil && p.Version == ""
	switch {
	case in.SchemaYAML != "" && !empty:
		return nil, failed("give either schema_yaml or the parts of the document, not both")
	case in.SchemaYAML != "":
		return []byte(in.SchemaYAML), nil
	case empty:
		return nil, nil
	}
	p.Type = "object"
	if p.Version == "" {
		p.Version = "1.0.0"
	}
	text, err := tool.Encode(p)
	if err != nil {
		return nil, err
	}
	// One key a line, so that a problem has a line.
	var b bytes.Buffer
	err = json.Indent(&b, []byte(text), "", "  ")
	return b.Bytes(), err
}

// Call stores the document.
func (t saveAgent) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in saveAgentIn
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return tool.Result{}, failed("the arguments cannot be read; write schema_yaml, a string")
	}
	text, err := in.document()
	if err != nil {
		return tool.Result{}, err
	}
	if len(text) == 0 {
		return agentResult(savedAgent{Status: "pending", ActionType: actionTriggerSave})
	}
	saved, err := t.save(ctx, text, in.Overwrite)
	var known *tool.Error
	var problems agent.Problems
	switch err := worded(err); {
	case err == nil:
		return agentResult(saved)
	case errors.As(err, &problems):
		saved = savedAgent{Error: "the document is not valid"}
		for _, p := range problems.Errors() {
			saved.Problems = append(saved.Problems, problemLine(p, in.SchemaYAML != ""))
		}
	case errors.As(err, &known):
		saved = savedAgent{Error: known.Message}
	default:
		return tool.Result{}, err
	}
	saved.Status, saved.ActionType = "error", actionSaveError
	return agentResult(saved)
}

// problemLine describes a problem with its line if the model wrote lines, else with its
// field.
func problemLine(p agent.Problem, lines bool) string {
	if !lines {
		p.Line, p.Column = 0, 0
	}
	return p.Error()
}

func (t saveAgent) save(ctx context.Context, text []byte, overwrite bool) (savedAgent, error) {
	a, row, err := catalog.Read(text)
	if err != nil {
		return savedAgent{}, err
	}
	exists, err := t.o.Documents.Has(ctx, row.Name)
	switch {
	case err != nil:
		return savedAgent{}, err
	case exists && !overwrite:
		return savedAgent{}, failed(fmt.Sprintf("there is an agent %q already; choose another name, or set overwrite to replace it", row.Name))
	case exists:
		if err := t.mayReplace(ctx, row.Name); err != nil {
			return savedAgent{}, err
		}
	}
	if err := t.o.Store.PutSchema(ctx, &row); err != nil {
		return savedAgent{}, err
	}
	out := savedAgent{Status: "success", Name: row.Name, Version: row.Version, Created: new(!exists), ActionType: actionAgentSaved}
	for _, p := range a.Document.Warnings {
		out.Warnings = append(out.Warnings, problemLine(p, true))
	}
	return out, nil
}

// mayReplace refuses to replace a document of the schema folder for everybody: an
// anonymous caller's model could be talked into that. The store protects the names of
// built-in documents on every path.
func (t saveAgent) mayReplace(ctx context.Context, name string) error {
	id, err := identity.From(ctx)
	if err != nil || !id.Anonymous() {
		return err
	}
	entries, err := t.o.Documents.List(ctx, "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Origin == catalog.File && slices.Contains(e.Names, name) {
			return failed(fmt.Sprintf("the caller is anonymous, and the agent %q is there for everybody: choose another name", name))
		}
	}
	return nil
}

// agentResult returns the result with its event.
func agentResult(out savedAgent) (tool.Result, error) {
	out.ActionEvent = true
	payload, err := json.Marshal(struct {
		Name    string `json:"name,omitempty"`
		Version string `json:"version,omitempty"`
		Created *bool  `json:"created,omitempty"`
		Error   string `json:"error,omitempty"`
	}{out.Name, out.Version, out.Created, out.Error})
	if err != nil {
		return tool.Result{}, err
	}
	result := tool.Result{Failed: out.Status == "error", Action: &event.ActionData{ActionType: out.ActionType}}
	if string(payload) != "{}" {
		result.Action.Payload = payload
	}
	result.Content, err = tool.Encode(out)
	return result, err
}
