package rest

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/identity"
)

// Operation begins the description of a route.
func Operation(id, method, path, summary string, tags ...string) huma.Operation {
	return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: tags}
}

// Resource is an Operation on rows of the caller, with the headers that name the
// caller.
func Resource(id, method, path, summary, tag string) huma.Operation {
	op := Operation(id, method, path, summary, tag)
	op.Parameters = Callers()
	return op
}

// Callers describes the headers that name the caller.
func Callers() []*huma.Param {
	return []*huma.Param{
		Text(identity.HeaderUserID, "header", "The caller's user id. This and the next two headers are believed from trusted callers only."),
		Text(identity.HeaderUserEmail, "header", "The caller's e-mail address; the user id is derived from it."),
		Text(identity.HeaderTenantID, "header", "The caller's tenant; \"default\" by default."),
	}
}

// Text describes a parameter. in is "path", "query" or "header".
func Text(name, in, doc string) *huma.Param {
	return &huma.Param{Name: name, In: in, Description: doc, Schema: &huma.Schema{Type: huma.TypeString}, Required: in == "path"}
}

// Sends describes the JSON body of an operation by a value of its type. name is that
// of the schema if the type has none.
func (a *API) Sends(op *huma.Operation, name string, like any) {
	schema := a.schemas().Schema(reflect.TypeOf(like), true, name)
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

// Answers describes the answers of an operation by their status; every other one is a
// problem document.
func Answers(op *huma.Operation, answers map[string]string) {
	op.Responses = map[string]*huma.Response{"default": {Description: "A problem document (RFC 9457)."}}
	for status, words := range answers {
		op.Responses[status] = &huma.Response{Description: words}
	}
}
