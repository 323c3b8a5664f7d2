package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/p8-org/p8/store"
)

// rest adds p8's own resources and their description at /openapi.json. There is
// no page that shows it: huma's would load its scripts from a CDN.
func (h *Handler) rest() {
	config := huma.DefaultConfig("p8", h.o.Version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.CreateHooks = nil // no $schema keys in answers
	config.Transformers = []huma.Transformer{worded}
	config.Info.Description = "Agents from documents. Every path stands under /v1 and /api/v1 as well."
	api := humago.New(h.mux, config)
	h.sessionRoutes(api)
	h.memoryRoutes(api)
	h.momentRoutes(api)
	h.reminderRoutes(api)
	h.dreamRoutes(api)
	h.schemaRoutes(api)
	h.queryRoutes(api)
	h.contentRoutes(api)
	h.runRoutes(api)
	h.approvalRoutes(api)
	h.describeChat(api)
	// Marshalled on the first request: it takes longer than the rest of New.
	spec := sync.OnceValues(func() ([]byte, error) { return json.Marshal(api.OpenAPI()) })
	h.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		spec, err := spec()
		if err != nil {
			h.fail(w, r, h.describe(r.Context(), err))
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(spec)
	})
}

// worded makes huma's own error about a parameter one of ours: what is wrong
// with which of them, and a code.
func worded(_ huma.Context, _ string, v any) (any, error) {
	e, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	f := &failure{status: e.Status, code: "invalid_value", message: e.Detail, details: e.Errors}
	if len(e.Errors) > 0 {
		f.message = ""
		for i, d := range e.Errors {
			if i > 0 {
				f.message += "; "
			}
			_, name, _ := strings.Cut(d.Location, ".")
			if value := fmt.Sprint(d.Value); value != "" {
				name += " is " + cut(value)
			}
			f.message += name + ": " + d.Message
		}
	}
	return f, nil
}

// restFailure words an error of a REST operation; what names the thing that was
// asked for.
func (h *Handler) restFailure(ctx context.Context, what string, err error) *failure {
	var f *failure
	switch {
	case errors.As(err, &f):
	case errors.Is(err, store.ErrNotFound):
		f = &failure{status: http.StatusNotFound, code: "not_found", message: "there is no such " + what + ", or it is not yours"}
	case errors.Is(err, store.ErrInvalid):
		f = invalid("", "%s", strings.TrimPrefix(err.Error(), store.ErrInvalid.Error()+": "))
	case errors.Is(err, store.ErrForbidden):
		f = &failure{status: http.StatusForbidden, code: "forbidden", message: strings.TrimPrefix(err.Error(), store.ErrForbidden.Error()+": ")}
	case errors.Is(err, store.ErrBusy):
		f = crowded(err)
	case errors.Is(err, store.ErrUnavailable):
		f = h.unavailable(ctx, err)
	case errors.Is(err, store.ErrConflict):
		f = &failure{status: http.StatusConflict, code: "conflict", message: err.Error()}
	case errors.As(err, new(*store.Failure)):
		f = h.describe(ctx, err)
		f.message = internal(ctx).message
	default:
		f = h.describe(ctx, err)
	}
	return f
}

// noStore is the answer of a server that stores nothing.
func noStore() *failure {
	return &failure{
		status: http.StatusNotImplemented, code: "storage_disabled",
		message: "this server stores nothing (P8_DATABASE_URL=none), so it has no sessions and no knowledge, and takes no documents",
	}
}

// missing is the answer of a server that was put together without a part.
func (h *Handler) missing(part string) *failure {
	if h.o.Store == nil {
		return noStore()
	}
	return &failure{status: http.StatusNotImplemented, code: "not_available", message: "this server has no " + part}
}

// list is a page of rows. The inputs of lists have the same two fields, Limit
// and Cursor: huma does not look into embedded types that are not exported.
type list[T any] struct {
	Link string `header:"Link" doc:"The next page, <…>; rel=\"next\"; absent after the last."`
	Body []T
}

// newList is a page and the link to the one after it. The link is relative to
// the page's own address, so that it holds under every prefix.
func newList[T any](rows []T, query url.Values, limit int, next string) *list[T] {
	l := &list[T]{Body: rows}
	if rows == nil {
		l.Body = []T{}
	}
	if next != "" {
		query.Set("limit", strconv.Itoa(limit))
		query.Set("cursor", next)
		l.Link = "<?" + query.Encode() + `>; rel="next"`
	}
	return l
}

// query is the parameters that are set.
func query(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return v
}

func operation(id, method, path, summary string, tags ...string) huma.Operation {
	return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: tags}
}

// resource is an operation on rows that belong to whoever asks.
func resource(id, method, path, summary, tag string) huma.Operation {
	op := operation(id, method, path, summary, tag)
	op.Parameters = callers()
	return op
}

// handled describes an operation whose body is read by hand, so that a mistake is
// shown with its place; a like of nil has none.
func handled(api huma.API, op huma.Operation, like any, responses map[string]string) {
	if like != nil {
		schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(like), true, op.OperationID)
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
	}
	op.Responses = map[string]*huma.Response{"default": {Description: "A problem document (RFC 9457)."}}
	for status, words := range responses {
		op.Responses[status] = &huma.Response{Description: words}
	}
	api.OpenAPI().AddOperation(&op)
}
