package a2a

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/store"
)

// mediaType is that of the HTTP+JSON binding and of notifications.
const mediaType = "application/a2a+json"

// rests are the routes of the HTTP+JSON binding of version 1.0, below an agent's address.
// {id}:cancel and {id}:subscribe are in verb, as a pattern has no part of a segment.
var rests = map[string]string{
	"POST /message:send": "SendMessage", "POST /message:stream": "SendStreamingMessage",
	"GET /tasks": "ListTasks", "GET /tasks/{id}": "GetTask", "POST /tasks/{id}": "",
	"POST /tasks/{taskId}/pushNotificationConfigs":        "CreateTaskPushNotificationConfig",
	"GET /tasks/{taskId}/pushNotificationConfigs":         "ListTaskPushNotificationConfigs",
	"GET /tasks/{taskId}/pushNotificationConfigs/{id}":    "GetTaskPushNotificationConfig",
	"DELETE /tasks/{taskId}/pushNotificationConfigs/{id}": "DeleteTaskPushNotificationConfig",
	"GET /extendedAgentCard":                              "GetExtendedAgentCard",
}

// callREST answers a request of the HTTP+JSON binding: it is the same call, with its
// parameters in the path, the query and the body.
func (s *Server) callREST(method string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{view: view{Server: s, ctx: r.Context()}, w: w, r: r, rest: true}
		if err := x.route(method); err != nil {
			x.fail(err)
		}
	}
}

func (x *exchange) route(method string) (err error) {
	if err := checkVersion(x.r); err != nil {
		return err
	}
	if x.agent, err = x.Server.agent(x.ctx, x.r.PathValue("agent")); err != nil {
		return err
	}
	given, err := x.given()
	if err != nil {
		return err
	}
	for _, name := range []string{"id", "taskId"} {
		if v := x.r.PathValue(name); v != "" {
			given[name] = v
		}
	}
	id, verb, found := strings.Cut(x.r.PathValue("id"), ":")
	if _, _, deeper := strings.Cut(x.r.URL.Path, "/pushNotificationConfigs"); found && !deeper {
		given["id"] = id
		method = map[string]string{"POST cancel": "CancelTask", "POST subscribe": "SubscribeToTask", "GET subscribe": "SubscribeToTask"}[x.r.Method+" "+verb]
	}
	if method == "" {
		return errNoRoute
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return err
	}
	return x.dispatch(request{Method: method, Params: raw})
}

// errNoRoute is the error of a path that is not one of the binding's.
var errNoRoute = errors.New("a2a: no such operation")

// given returns the parameters in the body or the query.
func (x *exchange) given() (map[string]any, error) {
	given := map[string]any{}
	if x.r.Method == http.MethodPost {
		body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, x.o.MaxBody))
		if err != nil {
			return nil, errTooLarge
		}
		var object map[string]json.RawMessage
		if len(body) > 0 && json.Unmarshal(body, &object) != nil {
			return nil, fail(codeParse, "", "the request is not a JSON object")
		}
		for name, v := range object {
			given[name] = v
		}
		return given, nil
	}
	for name, values := range x.r.URL.Query() {
		switch v := values[0]; name {
		case "pageSize", "historyLength":
			n, err := strconv.Atoi(v)
			if err != nil {
				return nil, wrong(name + " is not a number")
			}
			given[name] = n
		case "includeArtifacts":
			given[name] = v == "true"
		default:
			given[name] = v
		}
	}
	return given, nil
}

// errTooLarge is the error of a request that is not read to its end.
var errTooLarge = errors.New("a2a: the request is too large")

// restError returns an error as google.rpc.Status has it.
func (x *exchange) restError(err error) object {
	e := x.errorOf(err)
	status, name := http.StatusBadRequest, "FAILED_PRECONDITION"
	switch {
	case errors.Is(err, errNoAgent), errors.Is(err, errNoRoute), e.Code == codeTaskNotFound:
		status, name = http.StatusNotFound, "NOT_FOUND"
	case errors.As(err, new(*auth.Refused)):
		status, name = http.StatusUnauthorized, "UNAUTHENTICATED"
	case errors.Is(err, store.ErrForbidden):
		status, name = http.StatusForbidden, "PERMISSION_DENIED"
	case errors.Is(err, errTooLarge):
		status, name = http.StatusRequestEntityTooLarge, "INVALID_ARGUMENT"
	case e.Code == codeInternal:
		status, name = http.StatusInternalServerError, "INTERNAL"
	case e.Code == codeParams, e.Code == codeParse, e.Code == codeRequest, e.Code == codeContentType:
		name = "INVALID_ARGUMENT"
	}
	details := e.Data
	if details == nil {
		details = []errorDetail{}
	}
	return object{"error": object{"code": status, "status": name, "message": e.Message, "details": details}}
}

func (x *exchange) failREST(err error) {
	o := x.restError(err)
	// Not mediaType: the Go client reads no error of another type.
	writeJSON(x.w, o["error"].(object)["code"].(int), o)
}

// Operations returns the routes of the HTTP+JSON binding below an agent's address, and the
// methods of JSON-RPC, for tests that must not forget any.
func Operations() []string {
	all := slices.Collect(maps.Keys(rests))
	for old, now := range legacy {
		all = append(all, old, now)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
