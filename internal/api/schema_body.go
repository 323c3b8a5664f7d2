package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/store"
)

// readSchema makes a row of the request's document.
func (h *Handler) readSchema(w http.ResponseWriter, r *http.Request) (store.Schema, agent.Problems, *failure) {
	var none store.Schema
	text, f := h.readBody(w, r)
	if f != nil {
		return none, nil, f
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return none, nil, badJSON("the body is empty; send a document, with a name and a description at least")
	}
	var row *schemaRow
	if t, err := mediaType(r); err == nil && isJSON(t) { // guarded let nothing but JSON and YAML pass
		row = new(schemaRow)
		if f := decode(text, row); f != nil {
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
		return none, nil, invalid("name", "the row is called %q and its document %q; give both one name", cut(row.Name), cut(doc.Key()))
	}
	warnings := slices.Clone(doc.Warnings)
	if h.o.Tools != nil {
		warnings = append(warnings, doc.CheckTools(h.o.Tools(r.Context()))...)
	}
	for i := range warnings {
		warnings[i] = placed(warnings[i], row.isRow())
	}
	return out, warnings, nil
}

// schemaRow is a document as a row of the table, p8's Schema entity.
type schemaRow struct {
	Name       string          `json:"name"`
	Kind       string          `json:"kind"`
	Version    string          `json:"version"`
	Content    *string         `json:"content"`
	JSONSchema json.RawMessage `json:"json_schema"`
}

// isRow tells a row from a document, which has neither key.
func (s *schemaRow) isRow() bool {
	return s != nil && (s.Content != nil || len(s.JSONSchema) > 0)
}

func (s *schemaRow) check() *failure {
	switch {
	case s.Kind != "" && s.Kind != "agent" && s.Kind != "evaluator":
		return invalid("kind", "the kind %q cannot be stored here; it must be agent or evaluator", cut(s.Kind))
	case len(s.JSONSchema) > 0 && string(s.JSONSchema) != "null" && !isObject(s.JSONSchema):
		return invalid("json_schema", "json_schema must be an object: the agent document")
	}
	return nil
}

// document is the row's document: json_schema, with what only the row says put
// before it. The prompt of a document is its description; content is what
// became of it, and counts only where there is none.
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

// badDocument lists everything that is wrong with a document: by line and
// column, or by JSON pointer where the document was a part of the body.
func badDocument(err error, part bool) *failure {
	f := &failure{status: http.StatusUnprocessableEntity, code: "invalid_document", message: "the document is not valid"}
	var problems agent.Problems
	if !errors.As(err, &problems) {
		f.message += ": " + err.Error()
		return f
	}
	for _, p := range problems {
		p = placed(p, part)
		d := &huma.ErrorDetail{Message: p.Message, Location: p.Pointer, Value: p}
		if p.Hint != "" {
			d.Message += " (" + p.Hint + ")"
		}
		if p.Line > 0 {
			d.Location = at(p.Line, p.Column)
		}
		f.details = append(f.details, d)
	}
	return f
}

// placed is a problem of a document that may be a part of the body, whose own
// lines mean nothing to the client.
func placed(p agent.Problem, part bool) agent.Problem {
	if part {
		p.Pointer = "/json_schema" + p.Pointer
		p.Line, p.Column, p.Snippet = 0, 0, ""
	}
	return p
}
