package agent

import "encoding/json"

// Dialect is the layout of a document.
type Dialect uint8

// The dialects.
const (
	// Flat documents (p8) have name, tools, model and limits beside description.
	Flat Dialect = iota
	// Nested documents (REM, REMLight) have them inside json_schema_extra.
	Nested
)

// String returns "flat" or "nested".
func (d Dialect) String() string {
	if d == Nested {
		return "nested"
	}
	return "flat"
}

// Fields are the keys of a document: the union of those of p8, REM and REMLight. On
// a [Document] they are a view of the text; for [New] they are the input. The struct
// tags define each field's key, its values and its description in editors.
type Fields struct {
	Dialect Dialect `json:"-"`

	Name               string `json:"name,omitempty" doc:"The name the agent is called by. Without it, short_name and fully_qualified_name, that of the file counts."`
	ShortName          string `json:"short_name,omitempty" doc:"A name that is safe in a URL, such as query-agent."`
	FullyQualifiedName string `json:"fully_qualified_name,omitempty" doc:"A dotted path, such as rem.agents.QueryAgent. The agent also answers to it in kebab case: rem-agents-query-agent."`
	Title              string `json:"title,omitempty" schema:"true" doc:"A title for people."`
	Kind               string `json:"kind,omitempty" enum:"agent,evaluator,engram" open:"true" doc:"What the document is; agent when left out."`
	Version            string `json:"version,omitempty" doc:"MAJOR.MINOR.PATCH. Major: required fields or tools go, types change. Minor: something optional is added. Patch: the text is mended."`
	ShortDescription   string `json:"short_description,omitempty" doc:"One line for lists of agents; the beginning of description when left out."`
	// Description is the system prompt.
	Description string `json:"description,omitempty" schema:"true" doc:"The system prompt: who the agent is, what it does, how it answers."`

	Extension    string `json:"extension,omitempty" doc:"More text for the system prompt, after description."`
	SystemPrompt string `json:"system_prompt,omitempty" doc:"The same as extension; when both are given, extension comes first."`

	// Schema is the JSON Schema of the answer or of the thinking structure: an
	// object with type, properties, required, $defs and so on, without the root's
	// description.
	Schema json.RawMessage `json:"-"`
	// StructuredOutput makes the answer a JSON object that follows Schema.
	StructuredOutput bool `json:"structured_output,omitempty" doc:"true: the answer is a JSON object that follows properties. false: the answer is text and properties guide the thinking."`
	// ChainedTool is called with a structured answer.
	ChainedTool string `json:"chained_tool,omitempty" doc:"A tool that is called with the structured answer as its arguments."`

	Tools     []ToolRef  `json:"tools,omitempty" bare:"name" doc:"The tools the agent may call; a tool that is not listed never reaches the model."`
	Resources []Resource `json:"resources,omitempty" doc:"MCP resources the agent may read."`
	Agents    []AgentRef `json:"agents,omitempty" bare:"name" doc:"The agents it may delegate to with ask_agent; any when left out."`

	// OverrideModel beats the request's model, Model does not.
	Model               string   `json:"model,omitempty" doc:"The model, as provider:model; a request may ask for another."`
	OverrideModel       string   `json:"override_model,omitempty" doc:"The model the agent requires, as provider:model; no request changes it."`
	Temperature         *float64 `json:"temperature,omitempty" min:"0" max:"2" doc:"How freely the model chooses its words; 0 is a value."`
	OverrideTemperature *float64 `json:"override_temperature,omitempty" min:"0" max:"2" doc:"Beats temperature."`
	MaxTokens           int      `json:"max_tokens,omitempty" min:"1" doc:"The longest answer of one model call, in tokens."`
	TopP                *float64 `json:"top_p,omitempty" min:"0" max:"1" doc:"Nucleus sampling: the part of the likeliest words to choose from."`
	Stop                []string `json:"stop,omitempty" doc:"Texts at which the model stops writing."`
	ReasoningEffort     string   `json:"reasoning_effort,omitempty" enum:"none,minimal,low,medium,high" doc:"How much a reasoning model thinks."`
	PromptCache         string   `json:"prompt_cache,omitempty" enum:"off,5m,1h" doc:"How long the provider keeps the beginning of the conversation; its shortest time when left out."`
	Fallback            []string `json:"fallback,omitempty" doc:"The models, as provider:model, that take over in turn when the model is overloaded, rate limited or down."`
	Sampling            bool     `json:"sampling,omitempty" doc:"Whether the MCP servers of this agent may ask its model, within its limits."`

	MaxIterations         int    `json:"max_iterations,omitempty" min:"1" doc:"The most model calls of a run; limits.request_limit beats it."`
	OverrideMaxIterations int    `json:"override_max_iterations,omitempty" min:"1" doc:"Beats max_iterations."`
	Limits                Limits `json:"limits,omitzero" doc:"What ends a run; without a field there is no such limit."`

	History   History `json:"history,omitzero" doc:"How earlier turns reach the model."`
	ChildText string  `json:"child_text,omitempty" enum:"once,replace,keep" doc:"What is shown of this agent's text after an agent that it asked has spoken: what that agent did not say (once), nothing (replace), or everything (keep). Default: once when nested, keep when flat."`

	// State is the JSON Schema of the state that the agent shares with the client.
	State        json.RawMessage `json:"state,omitempty" like:"field" doc:"The JSON Schema of a state that the agent and the user's application share: an object with properties. The agent changes it with the tool update_state."`
	PredictState []Prediction    `json:"predict_state,omitempty" bare:"state_key" doc:"Parts of the state that the application shows while the model writes them."`

	Routing         *Routing `json:"routing,omitempty" doc:"How a message for this agent is recognised when the client leaves the choice to p8 (agent auto); with it, empty or not, the agent may be chosen."`
	RoutingEnabled  *bool    `json:"routing_enabled,omitempty" doc:"Whether a session may be routed to this agent; true when left out."`
	RoutingMaxTurns int      `json:"routing_max_turns,omitempty" min:"1" doc:"Turns after which the routing is decided anew; 20 when left out."`
	RoutingModel    string   `json:"routing_model,omitempty" doc:"The model, as provider:model, that chooses among agents where this one answers when nobody fits; the default model when left out."`
	ObservationMode string   `json:"observation_mode,omitempty" enum:"sync,disabled" doc:"Whether observations of the conversation are kept; sync when left out."`

	Tags     []string `json:"tags,omitempty" doc:"Labels to find the agent by."`
	Labels   []string `json:"labels,omitempty" doc:"Labels of an evaluator."`
	Category string   `json:"category,omitempty" doc:"A label to group agents by."`
	Author   string   `json:"author,omitempty" doc:"Who wrote the document."`

	EvaluationType    string          `json:"evaluation_type,omitempty" doc:"Evaluators: what is judged, such as accuracy."`
	EvaluatorType     string          `json:"evaluator_type,omitempty" doc:"Evaluators: how it is judged."`
	EvaluationWeights json.RawMessage `json:"evaluation_weights,omitempty" doc:"Evaluators: the weight of each score."`
	PhoenixConfig     json.RawMessage `json:"phoenix_config,omitempty" doc:"Evaluators: derived scores and evaluations."`
	PassMark          json.RawMessage `json:"pass_mark,omitempty" doc:"Evaluators: the overall score, from 0 to 1, from which the judged answer passes, or a mark for each score."`

	ProviderConfigs    []ProviderConfig `json:"provider_configs,omitempty" doc:"The models an extraction is run with."`
	EmbeddingFields    []string         `json:"embedding_fields,omitempty" doc:"Fields of the answer that are embedded."`
	DefaultSearchTable string           `json:"default_search_table,omitempty" doc:"The table that the search tool is pointed to."`
	HasEmbeddings      *bool            `json:"has_embeddings,omitempty" doc:"Whether default_search_table can be searched by meaning."`
	MCPServers         json.RawMessage  `json:"mcp_servers,omitempty" doc:"No longer used; name the server of a tool in tools."`
}

// ToolRef is a tool that a document declares; a bare string is its name.
type ToolRef struct {
	Name string `json:"name" required:"true" doc:"The tool's name."`
	// Server is the MCP server; "" and "local" are this process, and so is "rem" unless an
	// MCP server has that name (MCP_SERVER_REM).
	Server      string `json:"server,omitempty" alias:"mcp_server" doc:"The MCP server that has the tool; this process when left out or local, and when it is rem and MCP_SERVER_REM is not set."`
	Description string `json:"description,omitempty" doc:"What this agent should know about the tool, besides the tool's own description."`
	URI         string `json:"uri,omitempty" doc:"The MCP resource that the tool reads; {name} in it is an argument."`
	// Approval is nil for never.
	Approval        *Approval `json:"approval,omitempty" doc:"Which calls the user must allow first: always, never (also when left out), or those that one of the rules describes."`
	ApprovalMessage string    `json:"approval_message,omitempty" doc:"The question that the user must answer before the call; {name} in it is an argument. When left out, p8 writes it from the call."`
	// IfInterrupted is unknown, ask or repeat; "" leaves it to the tool.
	IfInterrupted string `json:"if_interrupted,omitempty" enum:"unknown,ask,repeat" doc:"What happens to a call that was under way when its process died: unknown: the model gets the result \"outcome unknown\"; ask: p8 asks the user whether to repeat the call; repeat: p8 repeats the call. Default: repeat for a tool that only reads or is idempotent, else unknown."`
}

// ServerREM is the server that REM's documents name.
const ServerREM = "rem"

// Local reports whether the tool belongs to this process, if no MCP server is named rem.
func (t ToolRef) Local() bool { return t.LocalBeside(false) }

// LocalBeside reports whether the tool belongs to this process; rem says that an MCP
// server is named rem.
func (t ToolRef) LocalBeside(rem bool) bool {
	return t.Server == "" || t.Server == "local" || t.Server == ServerREM && !rem
}

// Resource is an MCP resource that a document declares: one URI, or a pattern of
// URIs.
type Resource struct {
	URI         string `json:"uri,omitempty" doc:"The resource; {name} in it is an argument."`
	URIPattern  string `json:"uri_pattern,omitempty" doc:"A regular expression of the resources that may be read."`
	Name        string `json:"name,omitempty" doc:"The name of the tool that reads it."`
	Description string `json:"description,omitempty" doc:"What is found there."`
	Server      string `json:"server,omitempty" alias:"mcp_server" doc:"The MCP server that has it; this process when left out or local, and when it is rem and MCP_SERVER_REM is not set."`
}

// AgentRef is an agent that a document may delegate to; a bare string is its
// name.
type AgentRef struct {
	Name        string `json:"name" required:"true" doc:"The agent's name."`
	Description string `json:"description,omitempty" doc:"When to ask it."`
}

// UpdateState is the tool that changes the shared state.
const UpdateState = "update_state"

// Prediction says which argument of a tool becomes which part of the shared state; a bare
// string is the key of the state.
type Prediction struct {
	StateKey string `json:"state_key" required:"true" doc:"The part of the state, one of its properties."`
	Tool     string `json:"tool,omitempty" doc:"The tool whose argument becomes this part; update_state when left out."`
	Argument string `json:"tool_argument,omitempty" doc:"The argument; the same name as state_key when left out."`
}

// ProviderConfig is one model of an extraction that runs with several.
type ProviderConfig struct {
	ProviderName string `json:"provider_name,omitempty" doc:"The provider, such as openai."`
	ModelName    string `json:"model_name,omitempty" doc:"The model, without its provider."`
}

// Limits bound a run; 0 is no limit.
type Limits struct {
	Requests  int `json:"request_limit,omitempty" min:"1" doc:"The most calls of the model."`
	ToolCalls int `json:"tool_calls_limit,omitempty" min:"1" doc:"The most calls of tools."`
	// StepToolCalls bounds the calls of one answer: further calls are not made, and
	// the run goes on.
	StepToolCalls int `json:"step_tool_calls_limit,omitempty" min:"1" doc:"The most calls of tools that are made of one answer of the model."`
	InputTokens   int `json:"input_tokens_limit,omitempty" min:"1" doc:"The most tokens sent to the model."`
	OutputTokens  int `json:"output_tokens_limit,omitempty" min:"1" doc:"The most tokens the model writes."`
	TotalTokens   int `json:"total_tokens_limit,omitempty" min:"1" doc:"The most tokens in both directions."`
}

// History configures what the model gets of earlier turns.
type History struct {
	// Tools is replay, skip, or "" for the dialect's default.
	Tools string `json:"tools,omitempty" enum:"replay,skip" doc:"Whether the tool calls of earlier turns are shown to the model again (replay) or not (skip). Default: replay when nested, skip when flat."`
}

// The values of history.tools and child_text.
const (
	HistoryReplay = "replay"
	HistorySkip   = "skip"
	ChildOnce     = "once"
	ChildReplace  = "replace"
	ChildKeep     = "keep"
)

// The values of a tool's if_interrupted.
const (
	InterruptedUnknown = "unknown"
	InterruptedAsk     = "ask"
	InterruptedRepeat  = "repeat"
)
