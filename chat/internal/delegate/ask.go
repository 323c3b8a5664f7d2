package delegate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/p8-org/p8/chat/internal/cast"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

const askAgentDescription = `Asks another agent and waits for its answer. It works by itself, with its own instructions and tools, and knows no more than what you write: put everything that it needs into input_text.
Ask several agents at once where no question needs another one's answer. What an agent says in text is shown to the user already: do not repeat it.`

const askAgentParameters = `{
	"type": "object",
	"properties": {
		"agent_name": {"type": "string", "minLength": 1, "maxLength": 255, "description": "the agent's name"},
		"input_text": {"type": "string", "minLength": 1, "description": "the question or the task, in full"},
		"input_data": {"type": "object", "description": "data that belongs to it"},
		"timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 3600, "default": 300, "description": "how long the agent may take"},
		"structured_output_override": {"type": "boolean", "description": "true: it answers with the fields of its document; false: with text; as its document says when left out"}
	},
	"required": ["agent_name", "input_text"],
	"additionalProperties": false
}`

const askAgentOutput = `{
	"type": "object",
	"properties": {
		"status": {"enum": ["success", "paused", "error"]},
		"output": {"anyOf": [{"type": "object"}, {"type": "string"}], "description": "the answer: an object of a structured agent, else its text"},
		"text_response": {"type": "string", "description": "what was shown of it as text"},
		"agent_schema": {"type": "string"},
		"is_structured_output": {"type": "boolean"},
		"chained_tool_result": {"type": "object", "description": "what the agent's chained tool said"},
		"limit": {"type": "string", "description": "the limit that cut the answer short"},
		"run_id": {"type": "string", "description": "the run that waits for the user"},
		"error": {"type": "string"},
		"near": {"type": "array", "items": {"type": "string"}}
	},
	"required": ["status", "agent_schema"]
}`

// The time that an agent has to answer.
const (
	askFor    = 300 * time.Second
	maxAskFor = 3600 * time.Second
	// askGrace is how much longer the call may take, to report that the time is over.
	askGrace = 5 * time.Second
)

// askAgent is the tool ask_agent.
type askAgent struct {
	tool.Base
	d *Delegator
}

// AskAgent returns the tool with which an agent asks another one. The called agent runs
// within the caller's run: its events flow into the same stream, and its costs count there,
// too. Outside of any run, a call is a whole turn.
func (d *Delegator) AskAgent() (tool.Tool, error) {
	base, err := tool.NewBase(llm.ToolSpec{
		Name: cast.AskAgent, Description: askAgentDescription, Parameters: json.RawMessage(askAgentParameters),
	})
	if err != nil {
		return nil, err
	}
	return &askAgent{base, d}, nil
}

// Annotations say that an agent can do whatever its tools can.
func (*askAgent) Annotations() tool.Annotations {
	return tool.Annotations{Title: "Ask an agent", OpenWorld: true, Output: json.RawMessage(askAgentOutput)}
}

// Resumes marks the tool as one whose run is resumed from its own journal.
func (*askAgent) Resumes() {}

// Timeout returns a little more than the time of the agent.
func (*askAgent) Timeout(call tool.Call) time.Duration {
	q, err := readQuestion(call.Arguments)
	if err != nil {
		return askGrace
	}
	return q.timeout() + askGrace
}

// Call is Stream without the events.
func (t *askAgent) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	return t.Stream(ctx, call, func(event.Event) bool { return ctx.Err() == nil })
}

// Stream asks the agent. A failure of the agent is a failed result; the errors are
// tool.ErrPaused and the context's.
func (t *askAgent) Stream(ctx context.Context, call tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	q, err := readQuestion(call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	scope := run.ScopeFrom(ctx)
	if scope == nil {
		return t.d.askOutside(ctx, q, emit)
	}
	c, err := t.d.prepare(ctx, q, scope, call.ID)
	if err == nil {
		return c.run(ctx, emit)
	}
	var no *refusal
	if errors.As(err, &no) {
		return no.result(q.Agent)
	}
	return tool.Result{}, err
}

// question holds the arguments of ask_agent.
type question struct {
	Agent      string          `json:"agent_name"`
	Input      string          `json:"input_text"`
	Data       json.RawMessage `json:"input_data"`
	Seconds    *float64        `json:"timeout_seconds"`
	Structured *bool           `json:"structured_output_override"`
}

func readQuestion(args json.RawMessage) (question, error) {
	var q question
	if err := json.Unmarshal(args, &q); err != nil {
		return q, &tool.Error{Message: "the arguments cannot be read; write agent_name and input_text, both strings"}
	}
	if strings.TrimSpace(q.Input) == "" {
		return q, &tool.Error{Message: "input_text is empty; write what the agent shall do"}
	}
	return q, nil
}

func (q *question) timeout() time.Duration {
	if q.Seconds == nil {
		return askFor
	}
	return min(max(time.Duration(*q.Seconds*float64(time.Second)), time.Second), maxAskFor)
}

// prompt returns the user's message to the agent: the question, and the data below it.
func (q *question) prompt() string {
	var data bytes.Buffer
	if json.Compact(&data, q.Data) != nil || data.Len() == 0 || data.String() == "null" || data.String() == "{}" {
		return q.Input
	}
	return q.Input + "\n\nInput data: " + data.String()
}

// answered is the result of an agent that answered.
type answered struct {
	Status     string          `json:"status"`
	Output     any             `json:"output"`
	Text       string          `json:"text_response"`
	Agent      string          `json:"agent_schema"`
	Structured bool            `json:"is_structured_output"`
	Chained    json.RawMessage `json:"chained_tool_result,omitempty"`
	// Limit is the limit that cut the answer short.
	Limit string `json:"limit,omitempty"`
}

func (a answered) result() (tool.Result, error) {
	a.Status = "success"
	content, err := tool.Encode(a)
	return tool.Result{Content: content}, err
}

// refusal is why there is no answer, in words for a model and a client.
type refusal struct {
	message string
	near    []string
	// text is the agent's text up to the failure.
	text string
}

// Error returns the message.
func (r *refusal) Error() string { return r.message }

func (r *refusal) result(agent string) (tool.Result, error) {
	content, err := tool.Encode(struct {
		Status string   `json:"status"`
		Error  string   `json:"error"`
		Agent  string   `json:"agent_schema"`
		Near   []string `json:"near,omitempty"`
		Text   string   `json:"text_response,omitempty"`
	}{"error", r.message, agent, r.near, r.text})
	return tool.Result{Content: content, Failed: true}, err
}
