package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TableInfo describes a table that a SELECT may read, for people, models and
// the registry (schemas rows of kind "table").
type TableInfo struct {
	Name string `json:"name"`
	// Type is the entity type of its rows, as LOOKUP names it.
	Type string `json:"entity_type"`
	// Description is one sentence.
	Description string `json:"description"`
	// Keyed tables are in the key index.
	Keyed bool `json:"has_kv_sync"`
	// EmbeddingField is the embedded column, "" for none; SEARCH reads the tables
	// that have one.
	EmbeddingField string `json:"embedding_field,omitempty"`
	// Private: a user's rows are read by that user only, rows without a user only by the
	// tenant's anonymous callers. In other tables, rows without a user are shared with the
	// tenant or, in the system's tenant, with everybody.
	Private bool `json:"private,omitempty"`
	// Columns are all columns, the system's last.
	Columns []ColumnInfo `json:"columns"`
}

// Stored returns the name of the table that has the rows.
func (t TableInfo) Stored() string {
	if t.Name == ManualTable {
		return resources.Name
	}
	return t.Name
}

// ColumnInfo describes a column.
type ColumnInfo struct {
	Name string `json:"name"`
	// Type is text, integer, number, boolean, timestamp or json.
	Type string `json:"type"`
}

// Document is a file with its ontology and its chunks.
type Document struct {
	File *File
	// Ontology is the document as a whole, nil for none.
	Ontology *Ontology
	// Chunks are its pieces in order.
	Chunks []*Resource
	// Written is set by PutDocuments; it is false if nothing had to be written.
	Written bool
}

// table is the table of a type of records.
type table struct {
	TableInfo
	new func() record
	// columns are the columns of the records; text is the index of the embedded one, -1 for
	// none.
	columns []ColumnInfo
	text    int
	// selects reads whole records; placing reads also whether they are live; upsert writes
	// one record, unless the guard forbids it.
	selects, placing, upsert string
	// byID reads the live row of a tenant ($1) and an id ($2).
	byID string
}

// The columns of every table, in the order in which they are shown.
var systemColumns = []ColumnInfo{
	{"id", "text"}, {"tenant_id", "text"}, {"user_id", "text"}, {"graph_edges", "json"}, {"metadata", "json"}, {"tags", "json"},
	{"created_at", "timestamp"}, {"updated_at", "timestamp"}, {"deleted_at", "timestamp"},
}

// newTable derives a table's statements from its records. guard is the
// condition under which a row may be replaced, "" for always.
func newTable(info TableInfo, guard string, create func() record) *table {
	t := &table{TableInfo: info, new: create, text: -1}
	var names, params, sets []string
	for i, x := range new(fields).of(create()) {
		column := ColumnInfo{x.name, x.kind()}
		t.columns = append(t.columns, column)
		names = append(names, x.name)
		params = append(params, "$"+strconv.Itoa(i+2))
		switch x.name {
		case "id", "user_id", "created_at":
		default:
			sets = append(sets, x.name+" = excluded."+x.name)
		}
		if x.name == info.EmbeddingField {
			t.text = i
		}
	}
	t.Columns = withSystem(t.columns)
	list := strings.Join(names, ", ")
	t.selects = "SELECT tenant_id, " + list + " FROM " + info.Name + " WHERE "
	t.byID = t.selects + "tenant_id = $1 AND id = $2 AND deleted_at IS NULL"
	t.placing = "SELECT tenant_id, " + list + ", deleted_at IS NULL FROM " + info.Name + " WHERE "
	t.upsert = "INSERT INTO " + info.Name + " (tenant_id, " + list + ") VALUES ($1, " + strings.Join(params, ", ") + ")\n" +
		"ON CONFLICT (tenant_id, id) DO UPDATE SET " + strings.Join(sets, ", ") + ", deleted_at = NULL"
	if guard != "" {
		t.upsert += " WHERE " + guard
	}
	return t
}

// withSystem returns a table's own columns, then the system's.
func withSystem(own []ColumnInfo) []ColumnInfo {
	own = slices.DeleteFunc(slices.Clone(own), func(c ColumnInfo) bool { return slices.Contains(systemColumns, c) })
	return append(own, systemColumns...)
}

// kind returns the column's type as ColumnInfo names it.
func (x field) kind() string {
	switch x.value.(type) {
	case *string:
		return "text"
	case *int, *int64:
		return "integer"
	case *float64:
		return "number"
	case *time.Time:
		return "timestamp"
	}
	return "json"
}

// read calls each for every record that the query selects. The query begins with t.selects.
func (t *table) read(ctx context.Context, c Conn, q *query, each func(record) error) error {
	var f fields
	return c.Query(ctx, q.String(), func(r Row) error {
		rec := t.new()
		if err := f.scan(r, rec); err != nil {
			return err
		}
		return each(rec)
	}, q.args...)
}

// first returns the first record that the query selects, nil for none.
func (t *table) first(ctx context.Context, c Conn, q *query) (first record, err error) {
	err = t.read(ctx, c, q, func(rec record) error {
		first = rec
		return nil
	})
	return first, err
}

// embedded returns the text of the embedded column, "" for none.
func (t *table) embedded(rec record) string {
	if t.text < 0 || rec == nil {
		return ""
	}
	return *new(fields).of(rec)[t.text].value.(*string)
}

// listedTable describes a table whose rows are read and written elsewhere.
func listedTable(info TableInfo) *table { return &table{text: -1, TableInfo: info} }

// The tables. newTable derives the statements that read and write their records; sessions
// and messages have statements of their own.
var (
	schemas = newTable(TableInfo{
		Name: "schemas", Type: TypeSchema, Keyed: true, EmbeddingField: "description",
		Description: "Agents, evaluators and other stored documents; a row of kind table describes a table.",
	}, `excluded.origin = '' OR schemas.origin <> '' OR schemas.deleted_at IS NOT NULL`, func() record { return new(Schema) })
	resources = newTable(TableInfo{
		Name: "resources", Type: TypeResource, Keyed: true, EmbeddingField: "content",
		Description: "Pieces of knowledge: documents and the chunks of files, in the order of ordinal.",
	}, "", func() record { return new(Resource) })
	ontologies = newTable(TableInfo{
		Name: "ontologies", Type: TypeOntology, Keyed: true, EmbeddingField: "content",
		Description: "Documents of a domain as a whole: people, projects, pages; graph_edges are their links.",
	}, "", func() record { return new(Ontology) })
	moments = newTable(TableInfo{
		Name: "moments", Type: TypeMoment, Keyed: true, EmbeddingField: "summary", Private: true,
		Description: "What happened: meetings, stretches of conversations, dreams, with their times and people.",
	}, "", func() record { return new(Moment) })
	users = newTable(TableInfo{
		Name: "users", Type: TypeUser, Keyed: true, Private: true,
		Description: "The person who asks: name, e-mail, profile and interests.",
	}, "", func() record { return new(User) })
	files = newTable(TableInfo{
		Name: "files", Type: TypeFile, Keyed: true,
		Description: "Files that were taken in; their texts are the resources with their file_id.",
	}, "", func() record { return new(File) })
	feedback = newTable(TableInfo{
		Name: "feedback", Type: TypeFeedback, Private: true,
		Description: "What a person said about an answer: a rating and a comment.",
	}, "", func() record { return new(Feedback) })
	sessions = listedTable(TableInfo{
		Name: "sessions", Type: TypeSession, Private: true,
		Description: "Conversations, with their agent and totals.",
		Columns:     withSystem(columnInfos("name", "description", "agent_name", "mode", "client_id", "total_tokens integer", "message_count integer")),
	})
	messages = listedTable(TableInfo{
		Name: "messages", Type: TypeMessage, Private: true,
		Description: "The rows of conversations in the order of seq: what was said, called and answered.",
		// Without the parts: SELECT * must not return the bytes of images.
		Columns: withSystem(columnInfos("session_id", "seq integer", "message_type", "content", "tool_calls json", "status",
			"token_count integer", "input_tokens integer", "output_tokens integer", "cached_tokens integer",
			"reasoning_tokens integer", "cost_usd number", "latency_ms integer", "model",
			"agent_name", "agent_path", "run_id", "agent_run_id", "parent_tool_call_id", "trace_id", "span_id")),
	})

	// manual is a view of resources: those of identity.ManualTenant.
	manual = listedTable(TableInfo{
		Name: ManualTable, Type: TypeResource, EmbeddingField: "content",
		Description: "The pages of p8's own manual, which no other table holds.",
		Columns:     withSystem(columnInfos("name", "uri", "content", "category")),
	})

	tables = []*table{schemas, resources, ontologies, moments, sessions, messages, users, files, feedback, manual}
)

// ManualTable is the name under which a query reads p8's manual.
const ManualTable = "manual"

// columnInfos reads "name type"; the type is text when none is given.
func columnInfos(list ...string) []ColumnInfo {
	var out []ColumnInfo
	for _, text := range list {
		name, kind, found := strings.Cut(text, " ")
		if !found {
			kind = "text"
		}
		out = append(out, ColumnInfo{name, kind})
	}
	return out
}

// tableOf returns the table whose rows have that entity type and whose records can
// be read, nil for none.
func tableOf(entity string) *table {
	for _, t := range tables {
		if t.Type == entity && t.new != nil {
			return t
		}
	}
	return nil
}

// tableNamed returns the table of that name, nil for none.
func tableNamed(name string) *table {
	for _, t := range tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Tables lists the tables that a SELECT may read. The list is fixed.
func Tables() []TableInfo {
	list := make([]TableInfo, len(tables))
	for i, t := range tables {
		list[i] = t.TableInfo
		list[i].Columns = slices.Clone(t.Columns)
	}
	return list
}

func hasCategory(t *table) bool {
	return slices.ContainsFunc(t.columns, func(c ColumnInfo) bool { return c.Name == "category" })
}

// The kinds of rows, as entity_type names them.
const (
	TypeSchema   = "schema"
	TypeResource = "resource"
	TypeOntology = "ontology"
	TypeMoment   = "moment"
	TypeFile     = "file"
	TypeUser     = "user"
	TypeSession  = "session"
	TypeMessage  = "message"
	TypeFeedback = "feedback"
)

// keyOwner returns the owner of a row's key: its user. For a row without one, it is ""
// (everybody) or, in a private table, anonymousOwner.
func keyOwner(t *table, user string) string {
	if user == "" && t.Private {
		return anonymousOwner
	}
	return user
}
