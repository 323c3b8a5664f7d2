package a2a

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/p8-org/p8/internal/auth"
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

// legacy maps the methods of version 0.3 to those of 1.0.
var legacy = map[string]string{
	"message/send": "SendMessage", "message/stream": "SendStreamingMessage", "tasks/get": "GetTask",
	"tasks/cancel": "CancelTask", "tasks/resubscribe": "SubscribeToTask", "tasks/list": "ListTasks",
	"tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
	"tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig", "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
	"tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig", "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
}

// exchange is one request with its answer.
type exchange struct {
	view
	w  http.ResponseWriter
	r  *http.Request
	id json.RawMessage
	// old is true for a client of version 0.3, rest for one of the HTTP+JSON binding.
	old, rest bool
	// wanted is the length of the history that the task of a message shall have.
	wanted *int
}

// call answers a JSON-RPC request.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	x := &exchange{view: view{Server: s, ctx: r.Context()}, w: w, r: r, id: null}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.o.MaxBody))
	if err != nil {
		writeJSON(w, http.StatusRequestEntityTooLarge, response{JSONRPC: "2.0", ID: null, Error: s.errorOf(errTooLarge)})
		return
	}
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		x.fail(fail(codeParse, "", "the request is not a JSON object"))
		return
	}
	id := bytes.TrimSpace(req.ID)
	isID := len(id) == 0 || id[0] != '{' && id[0] != '['
	if isID && len(id) > 0 {
		x.id = id
	}
	if req.JSONRPC != "2.0" || req.Method == "" || !isID {
		x.fail(fail(codeRequest, "", `a request has "jsonrpc": "2.0", a method, and an id that is a string or a number`))
		return
	}
	if err := checkVersion(r); err != nil {
		x.fail(err)
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
	case "ListTasks":
		return x.list(req.Params)
	case "CreateTaskPushNotificationConfig":
		return x.setHook(req.Params)
	case "GetTaskPushNotificationConfig":
		return x.getHook(req.Params)
	case "ListTaskPushNotificationConfigs":
		return x.listHooks(req.Params)
	case "DeleteTaskPushNotificationConfig":
		return x.deleteHook(req.Params)
	case "GetExtendedAgentCard":
		if x.old {
			return fail(codeExtendedCard, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "the agent card is all there is")
		}
		return unsupported("there is no extended card; the agent card is all there is")
	}
	return fail(codeMethod, "", "there is no such method; use SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask or SubscribeToTask")
}

// checkVersion refuses a version of the protocol that is not spoken here. A request without
// one is of the version that its method belongs to.
func checkVersion(r *http.Request) error {
	v := cmp.Or(r.Header.Get("A2A-Version"), r.URL.Query().Get("A2A-Version"))
	switch major, minor, _ := strings.Cut(v, "."); {
	case v == "" || v == "1":
		return nil
	default:
		minor, _, _ = strings.Cut(minor, ".")
		if v := major + "." + minor; v == version10 || v == version03 {
			return nil
		}
	}
	return fail(codeVersion, "VERSION_NOT_SUPPORTED", "this version of A2A is not spoken here; use 1.0 or 0.3")
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
	if auth.Expired(x.ctx) {
		err = auth.Late()
	}
	if x.rest {
		x.failREST(err)
		return
	}
	status := http.StatusOK
	switch {
	case errors.Is(err, errNoAgent):
		status = http.StatusNotFound
	case auth.Expired(x.ctx):
		status = http.StatusUnauthorized
	}
	writeJSON(x.w, status, response{JSONRPC: "2.0", ID: x.id, Error: x.errorOf(err)})
}

// answer answers with a result.
func (x *exchange) answer(result any) error {
	if x.rest {
		writeAs(x.w, http.StatusOK, mediaType, result)
		return nil
	}
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
