package telemetry

// The attributes that callers set. An operation adds the OpenInference attribute of the
// same fact.
const (
	AgentName        = "gen_ai.agent.name"
	AgentVersion     = "gen_ai.agent.version"
	AgentDescription = "gen_ai.agent.description"
	// Conversation is the session, RunID the run of the agent.
	Conversation = "gen_ai.conversation.id"
	RunID        = "p8.run.id"
	UserID       = "user.id"
	TenantID     = "p8.tenant.id"

	Provider         = "gen_ai.provider.name"
	RequestModel     = "gen_ai.request.model"
	RequestStream    = "gen_ai.request.stream"
	Temperature      = "gen_ai.request.temperature"
	TopP             = "gen_ai.request.top_p"
	MaxTokens        = "gen_ai.request.max_tokens"
	ResponseModel    = "gen_ai.response.model"
	ResponseID       = "gen_ai.response.id"
	FinishReasons    = "gen_ai.response.finish_reasons"
	TimeToFirstChunk = "gen_ai.response.time_to_first_chunk"

	// EmbeddingModel is for Phoenix.
	EmbeddingModel = "embedding.model_name"

	ToolName        = "gen_ai.tool.name"
	ToolType        = "gen_ai.tool.type"
	ToolCallID      = "gen_ai.tool.call.id"
	ToolDescription = "gen_ai.tool.description"
	// ToolArguments and ToolResult are contents.
	ToolArguments = "gen_ai.tool.call.arguments"
	ToolResult    = "gen_ai.tool.call.result"

	DataSource = "gen_ai.data_source.id"
	// Query and Input and Output are contents.
	Query  = "gen_ai.retrieval.query.text"
	Input  = "input.value"
	Output = "output.value"

	EvaluationName  = "gen_ai.evaluation.name"
	EvaluationScore = "gen_ai.evaluation.score.value"
	EvaluationLabel = "gen_ai.evaluation.score.label"

	MCPMethod   = "mcp.method.name"
	MCPSession  = "mcp.session.id"
	MCPProtocol = "mcp.protocol.version"
	MCPResource = "mcp.resource.uri"

	HTTPMethod    = "http.request.method"
	HTTPRoute     = "http.route"
	HTTPStatus    = "http.response.status_code"
	URLPath       = "url.path"
	ServerAddress = "server.address"
	ServerPort    = "server.port"

	DBSystem    = "db.system.name"
	DBOperation = "db.operation.name"

	JobKind    = "p8.job.kind"
	JobID      = "p8.job.id"
	JobAttempt = "p8.job.attempt"

	// InputMessages and OutputMessages are contents; Op.Messages sets them.
	InputMessages  = "gen_ai.input.messages"
	OutputMessages = "gen_ai.output.messages"

	// RunReason is why a run ended, RunLimit the limit that it reached.
	RunReason = "p8.run.reason"
	RunLimit  = "p8.run.limit"

	// Metadata is a JSON object.
	Metadata = "metadata"
)

// The attributes that operations set themselves.
const (
	operationName   = "gen_ai.operation.name"
	errorType       = "error.type"
	tokenType       = "gen_ai.token.type"
	inputTokens     = "gen_ai.usage.input_tokens"
	outputTokens    = "gen_ai.usage.output_tokens"
	cachedTokens    = "gen_ai.usage.cache_read.input_tokens"
	reasoningTokens = "gen_ai.usage.reasoning.output_tokens"
	cost            = "p8.cost.usd"
	phoenixKind     = "openinference.span.kind"
)

// alias returns the OpenInference key of an attribute, "" if it has none.
func alias(key string) string {
	switch key {
	case AgentName:
		return "agent.name"
	case Conversation:
		return "session.id"
	case RequestModel:
		return "llm.model_name"
	case Provider:
		return "llm.provider"
	case ToolName:
		return "tool.name"
	case ToolDescription:
		return "tool.description"
	case ToolCallID:
		return "tool.id"
	case ToolArguments, Query:
		return Input
	case ToolResult:
		return Output
	case inputTokens:
		return "llm.token_count.prompt"
	case outputTokens:
		return "llm.token_count.completion"
	case cachedTokens:
		return "llm.token_count.prompt_details.cache_read"
	case reasoningTokens:
		return "llm.token_count.completion_details.reasoning"
	case cost:
		return "llm.cost.total"
	}
	return ""
}
