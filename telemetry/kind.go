package telemetry

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Kind is a kind of operation.
type Kind uint8

// The kinds, with the target that Start takes.
const (
	Agent      Kind = iota // a run of an agent: its name
	Chat                   // a request to a chat model: the model
	Tool                   // a call of a tool: its name
	Embeddings             // a request to an embedding model: the model
	Retrieval              // a REM query: its operation
	Evaluation             // a judgement: the evaluator's name
	MCPClient              // a request to an MCP server: the method, and its target
	MCPServer              // a request of an MCP client: the method, and its target
	HTTPServer             // a request of an HTTP client: the method, and the route
	HTTPClient             // a request to an HTTP server: the method
	Database               // a statement or a transaction of the store: its name
	Job                    // a background job: its kind
	kinds                  // their number
)

// description is what a kind of operation has in common.
type description struct {
	// operation is gen_ai.operation.name, "" if the kind has none. It begins the span's name.
	operation string
	span      trace.SpanKind
	// phoenix is openinference.span.kind.
	phoenix string
	// duration is the histogram, by the attributes in by and error.type.
	duration, about string
	by              []attribute.Key
	bounds          []float64
}

// describe returns the description of a kind.
func describe(k Kind) description {
	switch k {
	case Agent:
		return description{"invoke_agent", trace.SpanKindInternal, "AGENT",
			"gen_ai.invoke_agent.duration", "Duration of runs of agents.", keys(AgentName),
			[]float64{.1, .2, .4, .8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6}}
	case Chat:
		return description{"chat", trace.SpanKindClient, "LLM",
			modelDuration, modelAbout, keys(Provider, RequestModel, ResponseModel), modelBounds()}
	case Tool:
		return description{"execute_tool", trace.SpanKindInternal, "TOOL",
			"gen_ai.execute_tool.duration", "Duration of calls of tools.", keys(ToolName, ToolType, AgentName), modelBounds()}
	case Embeddings:
		return description{"embeddings", trace.SpanKindClient, "EMBEDDING",
			modelDuration, modelAbout, keys(Provider, RequestModel, ResponseModel), modelBounds()}
	case Retrieval:
		return description{"retrieval", trace.SpanKindInternal, "RETRIEVER",
			modelDuration, modelAbout, keys(DataSource), modelBounds()}
	case Evaluation:
		return description{"evaluate", trace.SpanKindInternal, "EVALUATOR",
			"p8.evaluation.duration", "Duration of evaluations.", keys(EvaluationName), modelBounds()}
	case MCPClient:
		return description{"", trace.SpanKindClient, "CHAIN",
			"mcp.client.operation.duration", "Duration of requests to MCP servers.", keys(MCPMethod, ToolName), mcpBounds()}
	case MCPServer:
		return description{"", trace.SpanKindServer, "CHAIN",
			"mcp.server.operation.duration", "Duration of requests of MCP clients.", keys(MCPMethod, ToolName), mcpBounds()}
	case HTTPServer:
		return description{"", trace.SpanKindServer, "CHAIN",
			"http.server.request.duration", "Duration of requests of HTTP clients.", keys(HTTPMethod, HTTPRoute, HTTPStatus), httpBounds()}
	case HTTPClient:
		return description{"", trace.SpanKindClient, "CHAIN",
			"http.client.request.duration", "Duration of requests to HTTP servers.", keys(HTTPMethod, ServerAddress, ServerPort, HTTPStatus), httpBounds()}
	case Database:
		return description{"", trace.SpanKindClient, "CHAIN",
			"db.client.operation.duration", "Duration of operations of the database.", keys(DBSystem, DBOperation),
			[]float64{.001, .005, .01, .05, .1, .5, 1, 5, 10}}
	}
	return description{"", trace.SpanKindConsumer, "CHAIN",
		"p8.job.duration", "Duration of background jobs.", keys(JobKind), mcpBounds()}
}

const (
	modelDuration = "gen_ai.client.operation.duration"
	modelAbout    = "Duration of requests to models, and of queries."
)

// The bounds that the semantic conventions recommend, in seconds.

func modelBounds() []float64 {
	return []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
}

func mcpBounds() []float64 {
	return []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300}
}

func httpBounds() []float64 {
	return []float64{.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
}

func keys(list ...string) []attribute.Key {
	out := make([]attribute.Key, len(list))
	for i, key := range list {
		out[i] = attribute.Key(key)
	}
	return out
}

// splits returns the attributes by which the metrics of an operation are split. A metric keeps a
// series for each value, so texts are bounded.
func (d *description) splits(all []attribute.KeyValue, values map[attribute.Key]*Names) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(d.by)+3)
	for _, a := range all {
		if !slices.Contains(d.by, a.Key) {
			continue
		}
		if a.Value.Type() == attribute.STRING {
			a.Value = attribute.StringValue(values[a.Key].Of(a.Value.AsString()))
		}
		out = append(out, a)
	}
	if d.operation != "" {
		out = append(out, attribute.String(operationName, d.operation))
	}
	return out
}
