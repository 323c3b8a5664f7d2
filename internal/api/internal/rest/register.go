package rest

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// Register serves an operation whose input is in the path and the query: the fields of I
// with the tags path and query, of type string, int, bool or []string. An output may have
// a Body, a Status and headers, which are strings; no output is 204.
//
// huma.Register does the same and more, but is compiled anew for each operation: it made
// the binary 0.8 MB larger.
func Register[I, O any](a *API, op huma.Operation, h func(context.Context, *I) (*O, error)) {
	a.register(op, reflect.TypeFor[I](), reflect.TypeFor[O](), func(ctx context.Context, in any) (reflect.Value, error) {
		out, err := h(ctx, in.(*I))
		return reflect.ValueOf(out), err
	})
}

func (a *API) register(op huma.Operation, in, out reflect.Type, call func(context.Context, any) (reflect.Value, error)) {
	params := a.parameters(&op, in)
	usual := http.StatusNoContent
	if _, ok := out.FieldByName("Body"); ok {
		usual = http.StatusOK
	}
	a.describeAnswer(&op, out, usual)
	a.Route(op, func(w http.ResponseWriter, r *http.Request) (int, any, error) {
		input := reflect.New(in)
		if err := params.read(r, input.Elem()); err != nil {
			return 0, nil, err
		}
		output, err := call(r.Context(), input.Interface())
		if err != nil || output.IsNil() {
			return http.StatusNoContent, nil, err
		}
		status, body := usual, any(nil)
		for f, value := range output.Elem().Fields() {
			switch {
			case f.Name == "Status":
				status = cmp.Or(int(value.Int()), status)
			case f.Name == "Body":
				body = value.Interface()
			case value.String() != "":
				w.Header().Set(f.Tag.Get("header"), value.String())
			}
		}
		return status, body, nil
	})
}

// describeAnswer adds the usual answer, of type out, and that of errors unless the
// operation has described its answers.
func (a *API) describeAnswer(op *huma.Operation, out reflect.Type, usual int) {
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	answer := &huma.Response{Description: http.StatusText(usual), Headers: map[string]*huma.Param{}}
	op.Responses[strconv.Itoa(usual)] = answer
	for f := range out.Fields() {
		switch f.Name {
		case "Status":
		case "Body":
			schema := huma.SchemaFromField(a.schemas(), f, out.Name()+f.Name)
			answer.Content = map[string]*huma.MediaType{"application/json": {Schema: schema}}
		default:
			answer.Headers[f.Tag.Get("header")] = &huma.Param{Schema: huma.SchemaFromField(a.schemas(), f, "")}
		}
	}
	if len(op.Responses) == 1 {
		op.Responses["default"] = &huma.Response{Description: "Error", Content: map[string]*huma.MediaType{
			"application/problem+json": {Schema: a.schemas().Schema(reflect.TypeFor[huma.ErrorModel](), true, "")},
		}}
	}
}

func (a *API) schemas() huma.Registry { return a.openAPI.Components.Schemas }
