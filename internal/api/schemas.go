package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/store"
)

type (
	listSchemasInput struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		Kind   string `query:"kind" maxLength:"50" doc:"Only documents of this kind: agent, evaluator."`
		Name   string `query:"name" maxLength:"255" doc:"Only the document of exactly this name."`
	}
	schemaInput struct {
		ID string `path:"id" doc:"The document's name or id."`
	}
	deleted struct {
		Deleted bool `json:"deleted"`
	}
	// putSchema is a stored document and what is odd about it.
	putSchema struct {
		store.Schema
		Warnings agent.Problems `json:"warnings,omitempty"`
	}
)

func (h *Handler) schemaRoutes(api huma.API) {
	huma.Register(api, resource("list-schemas", http.MethodGet, "/schemas", "Documents, by name", "schemas"), h.listSchemas)
	huma.Register(api, resource("get-schema", http.MethodGet, "/schemas/{id}", "One document", "schemas"), h.showSchema)
	huma.Register(api, resource("delete-schema", http.MethodDelete, "/schemas/{id}", "Delete a document of yours", "schemas"), h.deleteSchema)
	// The body is whatever a document may be written in, so it is read by hand.
	h.mux.HandleFunc("POST /schemas", h.putSchema)
	op := resource("put-schema", http.MethodPost, "/schemas", "Store a document, or replace the one of its name", "schemas")
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json": {}, "application/yaml": {},
	}, Description: "An agent document in JSON or YAML, or a row {name, kind, content, json_schema}."}
	op.Responses = map[string]*huma.Response{
		"201": {Description: "Stored; what is odd about the document is in warnings."}, "422": {Description: "Not valid; every problem with its place."},
		"default": {Description: "A problem document (RFC 9457)."},
	}
	api.OpenAPI().AddOperation(&op)
}

func (h *Handler) listSchemas(ctx context.Context, in *listSchemasInput) (*list[store.Schema], error) {
	f := store.SchemaFilter{Kind: in.Kind, Name: in.Name, Limit: in.Limit, Cursor: in.Cursor}
	find := h.catalogSchemas
	if h.o.Store != nil {
		find = h.o.Store.Schemas
	}
	rows, next, err := find(ctx, f)
	if err != nil {
		return nil, h.restFailure(ctx, "schema", err)
	}
	return newList(rows, query("kind", in.Kind, "name", in.Name), in.Limit, next), nil
}

func (h *Handler) showSchema(ctx context.Context, in *schemaInput) (*body[store.Schema], error) {
	var row store.Schema
	var err error
	if h.o.Store != nil {
		row, err = h.storedSchema(ctx, in.ID)
	} else {
		row, err = h.catalogSchema(ctx, in.ID)
	}
	if err != nil {
		return nil, h.restFailure(ctx, "schema", err)
	}
	return &body[store.Schema]{row}, nil
}

// storedSchema is the row of a name or an id; the catalog knows a document's
// other names, and those that are near.
func (h *Handler) storedSchema(ctx context.Context, nameOrID string) (store.Schema, error) {
	row, err := h.o.Store.Schema(ctx, nameOrID)
	if !errors.Is(err, store.ErrNotFound) {
		return row, err
	}
	a, err := h.o.Catalog.Agent(ctx, nameOrID)
	if err != nil {
		return store.Schema{}, err
	}
	return h.o.Store.Schema(ctx, a.Document.Key())
}

// catalogSchemas lists the documents of a server that stores nothing: the
// built-in ones and those of the folder. The cursor is the last name.
func (h *Handler) catalogSchemas(ctx context.Context, f store.SchemaFilter) ([]store.Schema, string, error) {
	entries, err := h.o.Catalog.List(ctx, f.Kind)
	if err != nil {
		return nil, "", err
	}
	entries = slices.DeleteFunc(entries, func(e catalog.Entry) bool {
		return len(e.Problems) > 0 || f.Name != "" && e.Name != f.Name || e.Name <= f.Cursor
	})
	next := ""
	if len(entries) > f.Limit {
		entries = entries[:f.Limit]
		next = entries[f.Limit-1].Name
	}
	rows := make([]store.Schema, len(entries))
	for i, e := range entries {
		if rows[i], err = h.catalogSchema(ctx, e.Name); err != nil {
			return nil, "", err
		}
		rows[i].Origin = e.Origin
	}
	return rows, next, nil
}

func (h *Handler) catalogSchema(ctx context.Context, name string) (store.Schema, error) {
	a, err := h.o.Catalog.Agent(ctx, name)
	if err != nil {
		return store.Schema{}, err
	}
	text, err := json.Marshal(a.Document)
	if err != nil {
		return store.Schema{}, err
	}
	row, err := catalog.Row(a, text)
	row.ID = store.EntityID("schemas", row.Name, "")
	row.CreatedAt, row.UpdatedAt = h.started, h.started
	return row, err
}

// deleteSchema deletes a row that a person wrote; what comes with the program
// or lies in the folder is only mirrored in the table.
func (h *Handler) deleteSchema(ctx context.Context, in *schemaInput) (*body[deleted], error) {
	if h.o.Store == nil {
		return nil, noStore()
	}
	row, err := h.o.Store.Schema(ctx, in.ID)
	if err == nil && row.Origin != catalog.Person {
		err = &failure{
			status: http.StatusForbidden, code: "read_only",
			message: "this document comes with the program or the schema folder and cannot be deleted here; store one of the same name to replace it",
		}
	}
	if err == nil {
		err = h.o.Store.DeleteSchema(ctx, in.ID)
	}
	if err != nil {
		return nil, h.restFailure(ctx, "schema", err)
	}
	return &body[deleted]{deleted{true}}, nil
}

// putSchema is POST /schemas.
func (h *Handler) putSchema(w http.ResponseWriter, r *http.Request) {
	if h.o.Store == nil {
		h.fail(w, r, noStore())
		return
	}
	row, warnings, f := h.readSchema(w, r)
	if f != nil {
		h.fail(w, r, f)
		return
	}
	if err := h.o.Store.PutSchema(r.Context(), &row); err != nil {
		h.fail(w, r, h.restFailure(r.Context(), "schema", err))
		return
	}
	w.Header().Set("Location", "/schemas/"+url.PathEscape(row.Name))
	writeJSON(w, http.StatusCreated, putSchema{row, warnings})
}
