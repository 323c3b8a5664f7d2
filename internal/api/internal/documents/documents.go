// Package documents serves agent documents: their list, one of them, storing and
// deleting one.
package documents

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/store"
)

// Store has the documents as rows. Implemented by *store.Store.
type Store interface {
	Schemas(ctx context.Context, f store.SchemaFilter) (page []store.Schema, next string, err error)
	Schema(ctx context.Context, nameOrID string) (store.Schema, error)
	PutSchema(ctx context.Context, s *store.Schema) error
	DeleteSchema(ctx context.Context, nameOrID string) error
}

// Catalog has every document that agents are made of. Implemented by *catalog.Catalog.
type Catalog interface {
	// Agent fails with a *catalog.NotFoundError if no document has the name.
	Agent(ctx context.Context, name string) (*agent.Agent, error)
	// List returns the documents that the caller may use, by name; kind "" is all.
	List(ctx context.Context, kind string) ([]catalog.Entry, error)
}

// Options are what the routes work with.
type Options struct {
	Catalog Catalog
	// Store may be nil: then the catalog's documents are shown, and none is stored.
	Store Store
	// Tools are the names that documents may declare; a stored document gets a warning
	// about others. nil warns of none.
	Tools func(context.Context) []string
	// Started is the creation time of documents that no row has.
	Started time.Time
}

type handlers struct {
	api *rest.API
	o   Options
}

type (
	listSchemasInput struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		Kind   string `query:"kind" maxLength:"50" doc:"Only documents of this kind: agent, evaluator."`
		Name   string `query:"name" maxLength:"255" doc:"Only the document with exactly this name."`
	}
	schemaInput struct {
		ID string `path:"id" doc:"The document's name or id."`
	}
	deleted struct {
		Deleted bool `json:"deleted"`
	}
	// putSchema is a stored document with its warnings.
	putSchema struct {
		store.Schema
		Warnings agent.Problems `json:"warnings,omitempty"`
	}
)

// Routes adds /schemas.
func Routes(api *rest.API, o Options) {
	h := &handlers{api: api, o: o}
	rest.Register(api, rest.Resource("list-schemas", http.MethodGet, "/schemas", "Documents, by name", "schemas"), h.list)
	rest.Register(api, rest.Resource("get-schema", http.MethodGet, "/schemas/{id}", "One document", "schemas"), h.show)
	rest.Register(api, rest.Resource("delete-schema", http.MethodDelete, "/schemas/{id}", "Delete a document of yours", "schemas"), h.delete)
	op := rest.Resource("put-schema", http.MethodPost, "/schemas", "Store a document, or replace the one with its name", "schemas")
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json": {}, "application/yaml": {},
	}, Description: "An agent document in JSON or YAML, or a row {name, kind, content, json_schema}."}
	op.Parameters = append(op.Parameters, rest.Text("any_version", "query", "true: store it even if its version number does not fit what has changed."))
	rest.Answers(&op, map[string]string{
		"201": "Stored; warnings lists questionable parts of the document.", "422": "Invalid; every problem with its place.",
	})
	api.Route(op, h.put)
}

func (h *handlers) list(ctx context.Context, in *listSchemasInput) (*rest.List[store.Schema], error) {
	f := store.SchemaFilter{Kind: in.Kind, Name: in.Name, Limit: in.Limit, Cursor: in.Cursor}
	find := h.listCatalog
	if h.o.Store != nil {
		find = h.o.Store.Schemas
	}
	rows, next, err := find(ctx, f)
	if err != nil {
		return nil, h.api.About(ctx, "schema", err)
	}
	return rest.NewList(rows, rest.Query("kind", in.Kind, "name", in.Name), in.Limit, next), nil
}

func (h *handlers) show(ctx context.Context, in *schemaInput) (*rest.Body[store.Schema], error) {
	var row store.Schema
	var err error
	if h.o.Store != nil {
		row, err = h.stored(ctx, in.ID)
	} else {
		row, err = h.fromCatalog(ctx, in.ID)
	}
	if err != nil {
		return nil, h.api.About(ctx, "schema", err)
	}
	return &rest.Body[store.Schema]{Body: row}, nil
}

// stored returns the row of a name or an id. The catalog knows a document's other
// names, and suggests similar ones.
func (h *handlers) stored(ctx context.Context, nameOrID string) (store.Schema, error) {
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

// listCatalog lists the documents of a server without a database: the built-in ones and
// those of the schema folder. The cursor is the last name.
func (h *handlers) listCatalog(ctx context.Context, f store.SchemaFilter) ([]store.Schema, string, error) {
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
		if rows[i], err = h.fromCatalog(ctx, e.Name); err != nil {
			return nil, "", err
		}
		rows[i].Origin = e.Origin
	}
	return rows, next, nil
}

func (h *handlers) fromCatalog(ctx context.Context, name string) (store.Schema, error) {
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
	row.CreatedAt, row.UpdatedAt = h.o.Started, h.o.Started
	return row, err
}

// delete deletes a row that a person wrote. Built-in documents and those of the schema
// folder are only mirrored in the table.
func (h *handlers) delete(ctx context.Context, in *schemaInput) (*rest.Body[deleted], error) {
	if h.o.Store == nil {
		return nil, problem.NoStore()
	}
	row, err := h.o.Store.Schema(ctx, in.ID)
	if err == nil && row.Origin != catalog.Person {
		err = &problem.Problem{
			Status: http.StatusForbidden, Code: "read_only",
			Message: "this document comes with the program or the schema folder and cannot be deleted here; store one of the same name to replace it",
		}
	}
	if err == nil {
		err = h.o.Store.DeleteSchema(ctx, in.ID)
	}
	if err != nil {
		return nil, h.api.About(ctx, "schema", err)
	}
	return &rest.Body[deleted]{Body: deleted{true}}, nil
}

// put is POST /schemas.
func (h *handlers) put(w http.ResponseWriter, r *http.Request) (int, any, error) {
	if h.o.Store == nil {
		return 0, nil, problem.NoStore()
	}
	row, warnings, p := h.read(w, r)
	if p != nil {
		return 0, nil, p
	}
	row.AnyVersion = r.URL.Query().Get("any_version") == "true"
	if err := h.o.Store.PutSchema(r.Context(), &row); err != nil {
		return 0, nil, h.api.About(r.Context(), "schema", err)
	}
	w.Header().Set("Location", "/schemas/"+url.PathEscape(row.Name))
	return http.StatusCreated, putSchema{row, warnings}, nil
}
