package documents

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/internal/api/internal/body"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
)

// read makes a row of the document in the body.
func (h *handlers) read(w http.ResponseWriter, r *http.Request) (store.Schema, agent.Problems, *problem.Problem) {
	var none store.Schema
	text, f := h.api.Bytes(w, r)
	if f != nil {
		return none, nil, f
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return none, nil, problem.BadJSON("the body is empty; send a document, with a name and a description at least")
	}
	var row *schemaRow
	if t, err := web.MediaType(r); err == nil && web.IsJSON(t) { // the middleware lets only JSON and YAML pass
		row = new(schemaRow)
		if f := body.Decode(text, row); f != nil {
			return none, nil, f
		}
	}
	if row.isRow() {
		if f := row.check(); f != nil {
			return none, nil, f
		}
		text = row.document()
	}
	a, out, err := catalog.Read(text)
	if err != nil {
		return none, nil, badDocument(err, row.isRow())
	}
	doc := a.Document
	if row.isRow() && row.Name != "" && !slices.Contains(doc.Names(), row.Name) {
		return none, nil, problem.Invalid("name", "the row is called %q and its document %q; give both one name", web.Cut(row.Name), web.Cut(doc.Key()))
	}
	warnings := slices.Clone(doc.Warnings)
	if h.o.Tools != nil {
		warnings = append(warnings, doc.CheckTools(h.o.Tools(r.Context()))...)
	}
	warnings = append(warnings, doc.CheckProviders()...)
	for i := range warnings {
		warnings[i] = placed(warnings[i], row.isRow())
	}
	return out, warnings, nil
}

// schemaRow is a document as a row of the table schemas.
type schemaRow struct {
	Name       string          `json:"name"`
	Kind       string          `json:"kind"`
	Version    string          `json:"version"`
	Content    *string         `json:"content"`
	JSONSchema json.RawMessage `json:"json_schema"`
}

// isRow reports whether the body is a row. A document has neither key.
func (s *schemaRow) isRow() bool {
	return s != nil && (s.Content != nil || len(s.JSONSchema) > 0)
}

func (s *schemaRow) check() *problem.Problem {
	switch {
	case s.Kind != "" && s.Kind != "agent" && s.Kind != "evaluator":
		return problem.Invalid("kind", "the kind %q cannot be stored here; it must be agent or evaluator", web.Cut(s.Kind))
	case len(s.JSONSchema) > 0 && string(s.JSONSchema) != "null" && !web.IsObject(s.JSONSchema):
		return problem.Invalid("json_schema", "json_schema must be an object: the agent document")
	}
	return nil
}

// document returns the row's document: json_schema, with the fields that only the row
// has put before it. content becomes the description of a document without one.
func (s *schemaRow) document() []byte {
	has := map[string]json.RawMessage{}
	_ = json.Unmarshal(s.JSONSchema, &has) // an object, or nothing
	add := []byte{'{'}
	set := func(key, value string) {
		if _, there := has[key]; !there && value != "" {
			quoted, _ := json.Marshal(value)
			add = append(append(append(add, '"'), key...), `":`...)
			add = append(append(add, quoted...), ',')
		}
	}
	set("type", "object")
	if _, nested := has["json_schema_extra"]; !nested {
		set("name", s.Name)
		set("kind", s.Kind)
		set("version", s.Version)
	}
	if s.Content != nil {
		set("description", *s.Content)
	}
	switch {
	case len(add) == 1:
		return s.JSONSchema
	case len(has) == 0:
		return append(bytes.TrimSuffix(add, []byte(",")), '}')
	}
	return append(add, bytes.TrimSpace(s.JSONSchema)[1:]...)
}

// badDocument lists every mistake in a document: by line and column, or by JSON
// pointer if the document was a part of the body.
func badDocument(err error, part bool) *problem.Problem {
	f := &problem.Problem{Status: http.StatusUnprocessableEntity, Code: "invalid_document", Message: "the document is not valid"}
	var problems agent.Problems
	if !errors.As(err, &problems) {
		f.Message += ": " + err.Error()
		return f
	}
	for _, p := range problems {
		p = placed(p, part)
		d := &huma.ErrorDetail{Message: p.Message, Location: p.Pointer, Value: p}
		if p.Hint != "" {
			d.Message += " (" + p.Hint + ")"
		}
		if p.Line > 0 {
			d.Location = body.At(p.Line, p.Column)
		}
		f.Details = append(f.Details, d)
	}
	return f
}

// placed returns a problem with its place in the body. If the document was a part of
// the body, that is a JSON pointer: the document's own lines mean nothing to the client.
func placed(p agent.Problem, part bool) agent.Problem {
	if part {
		p.Pointer = "/json_schema" + p.Pointer
		p.Line, p.Column, p.Snippet = 0, 0, ""
	}
	return p
}
