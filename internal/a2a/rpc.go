package a2a

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/store"
)

// request is a JSON-RPC request.
type request struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// response is a JSON-RPC response; one of Result and Error is set.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

var null = json.RawMessage("null")

// The codes of errors: JSON-RPC's and A2A's.
const (
	codeParse        = -32700
	codeRequest      = -32600
	codeMethod       = -32601
	codeParams       = -32602
	codeInternal     = -32603
	codeTaskNotFound = -32001
	codeNotCanceled  = -32002
	codePush         = -32003
	codeUnsupported  = -32004
	codeExtendedCard = -32007
	codeVersion      = -32009
)

// rpcError is a JSON-RPC error, with A2A's details.
type rpcError struct {
	Code    int           `json:"code"`
	Message string        `json:"message"`
	Data    []errorDetail `json:"data,omitempty"`
}

type errorDetail struct {
	Type   string `json:"@type"`
	Reason string `json:"reason"`
	Domain string `json:"domain"`
}

// Error is the message.
func (e *rpcError) Error() string { return e.Message }

// fail is an error of A2A's own; reason is its name.
func fail(code int, reason, message string) *rpcError {
	e := &rpcError{Code: code, Message: message}
	if reason != "" {
		e.Data = []errorDetail{{"type.googleapis.com/google.rpc.ErrorInfo", reason, "a2a-protocol.org"}}
	}
	return e
}

// wrong is an error of the parameters.
func wrong(message string) *rpcError { return fail(codeParams, "", message) }

// errorOf words a failure for a client.
func (s *Server) errorOf(err error) *rpcError {
	var own *rpcError
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, errNoAgent):
		return wrong("there is no such agent here, or it is not offered over A2A")
	case errors.Is(err, store.ErrNotFound), errors.Is(err, chat.ErrNoRuns):
		return fail(codeTaskNotFound, "TASK_NOT_FOUND", "there is no such task, or it is not yours")
	case errors.Is(err, store.ErrDecided):
		return wrong("the question was answered already, or its time is over; ask for the task")
	}
	d := chat.Describe(err)
	if d.HTTPStatus >= 400 && d.HTTPStatus < 500 {
		return fail(codeParams, strings.ToUpper(d.Code), d.Message)
	}
	s.o.Logger.Warn("a request over A2A failed", "error", err)
	return fail(codeInternal, strings.ToUpper(d.Code), d.Message)
}

// legacy maps the methods of version 0.3 to those of 1.0.
var legacy = map[string]string{
	"message/send": "SendMessage", "message/stream": "SendStreamingMessage", "tasks/get": "GetTask",
	"tasks/cancel": "CancelTask", "tasks/resubscribe": "SubscribeToTask",
	"tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
	"tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig", "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
	"tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig", "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
}

// exchange is one request with its answer.
type exchange struct {
	*Server
	w http.ResponseWriter
	r *http.Request
	// agent is the agent whose address was called.
	agent exposed
	id    json.RawMessage
	// old is true for a client of version 0.3.
	old bool
}

// call answers a JSON-RPC request.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	x := &exchange{Server: s, w: w, r: r, id: null}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.o.MaxBody))
	if err != nil {
		writeJSON(w, http.StatusRequestEntityTooLarge, response{JSONRPC: "2.0", ID: null, Error: fail(codeRequest, "", "the request is too large, or was cut off")})
		return
	}
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		x.fail(fail(codeParse, "", "the request is not a JSON object"))
		return
	}
	if id := bytes.TrimSpace(req.ID); len(id) > 0 && id[0] != '{' && id[0] != '[' {
		x.id = id
	}
	if req.JSONRPC != "2.0" || req.Method == "" {
		x.fail(fail(codeRequest, "", `a request has "jsonrpc": "2.0", an id and a method`))
		return
	}
	if v := r.Header.Get("A2A-Version"); v != "" && v != "1" && !strings.HasPrefix(v, "1.") && v != version03 && !strings.HasPrefix(v, version03+".") {
		x.fail(fail(codeVersion, "VERSION_NOT_SUPPORTED", "this version of A2A is not spoken here; use 1.0 or 0.3"))
		return
	}
	if x.agent, err = s.agent(r.Context(), r.PathValue("agent")); err != nil {
		x.fail(err)
		return
	}
	if method, ok := legacy[req.Method]; ok {
		x.old, req.Method = true, method
	}
	if err := x.dispatch(req); err != nil {
		x.fail(err)
	}
}

// dispatch calls the method.
func (x *exchange) dispatch(req request) error {
	switch req.Method {
	case "SendMessage":
		return x.send(req.Params, false)
	case "SendStreamingMessage":
		return x.send(req.Params, true)
	case "GetTask":
		return x.get(req.Params)
	case "CancelTask":
		return x.cancel(req.Params)
	case "SubscribeToTask":
		return x.subscribe(req.Params)
	case "CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig":
		return fail(codePush, "PUSH_NOTIFICATION_NOT_SUPPORTED", "there are no push notifications here; use SubscribeToTask")
	case "GetExtendedAgentCard":
		return fail(codeExtendedCard, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "the agent card is all there is")
	case "ListTasks":
		return fail(codeUnsupported, "UNSUPPORTED_OPERATION", "tasks are not listed here; use GetTask")
	}
	return fail(codeMethod, "", "there is no such method; use SendMessage, SendStreamingMessage, GetTask, CancelTask or SubscribeToTask")
}

// params reads the parameters.
func params(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return wrong("the request has no params")
	}
	if err := json.Unmarshal(raw, into); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field != "" {
			return wrong("params." + kind.Field + " is a JSON " + kind.Value + ", which it cannot be")
		}
		return wrong("the params are not as the method wants them")
	}
	return nil
}

// fail answers with an error.
func (x *exchange) fail(err error) {
	status := http.StatusOK
	if errors.Is(err, errNoAgent) {
		status = http.StatusNotFound
	}
	writeJSON(x.w, status, response{JSONRPC: "2.0", ID: x.id, Error: x.errorOf(err)})
}

// answer answers with a result.
func (x *exchange) answer(result any) error {
	writeJSON(x.w, http.StatusOK, response{JSONRPC: "2.0", ID: x.id, Result: result})
	return nil
}

// answerTask answers with a task.
func (x *exchange) answerTask(t *task) error {
	if x.old {
		return x.answer(oldTask(t))
	}
	return x.answer(t)
}
