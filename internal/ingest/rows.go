package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// tables are the rows of a file.
type tables struct {
	resources  []*store.Resource
	ontologies []*store.Ontology
	moments    []*store.Moment
	feedback   []*store.Feedback
	users      []*store.User
}

func (t *tables) count() int {
	return len(t.resources) + len(t.ontologies) + len(t.moments) + len(t.feedback) + len(t.users)
}

// readTables reads lists of rows, by table.
func readTables(file string, list []member, set settings) (*tables, error) {
	t := &tables{}
	for _, m := range list {
		items, _ := elements(m.value)
		var err error
		switch m.key {
		case "resources":
			t.resources, err = decodeRows[store.Resource](file, items)
			for _, r := range t.resources {
				fill(&r.Base, &r.Category, set)
			}
		case "ontologies":
			t.ontologies, err = decodeRows[store.Ontology](file, items)
			for _, r := range t.ontologies {
				fill(&r.Base, &r.Category, set)
			}
		case "moments":
			t.moments, err = decodeRows[store.Moment](file, items)
			for _, r := range t.moments {
				fill(&r.Base, &r.Category, set)
			}
		case "feedback":
			t.feedback, err = decodeRows[store.Feedback](file, items)
			for _, r := range t.feedback {
				fill(&r.Base, new(string), set)
			}
		case "users":
			if !set.local {
				return nil, at(file, m.token, 1, "users are not taken from uploads")
			}
			t.users, err = decodeRows[store.User](file, items)
		}
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// fill sets the fields that the run sets on all rows.
func fill(b *store.Base, category *string, set settings) {
	b.Shared = set.shared
	b.Tags = mergeTags(b.Tags, set.tags)
	if *category == "" {
		*category = set.category
	}
}

// never are the fields that p8 sets.
const never = " id tenant_id user_id created_at updated_at file_id agent_schema_id content_hash "

// decodeRows reads rows strictly: a field that the table does not have is an
// error with its place.
func decodeRows[T any](file string, items []ast.Node) ([]*T, error) {
	fields := map[string]reflect.Type{}
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && !strings.Contains(never, " "+name+" ") {
			fields[name] = f.Type
			names = append(names, name)
		}
	}
	rows := make([]*T, 0, len(items))
	for _, item := range items {
		list, ok := members(item)
		if !ok {
			return nil, at(file, item.GetToken(), 1, "a row must be a mapping")
		}
		row := new(T)
		for _, m := range list {
			if err := decodeField(file, m, row, fields, names); err != nil {
				return nil, err
			}
		}
		if _, named := fields["name"]; named && reflect.ValueOf(row).Elem().FieldByName("Name").String() == "" {
			return nil, at(file, item.GetToken(), 1, "this row has no name")
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// decodeField reads one field of a row.
func decodeField(file string, m member, row any, fields map[string]reflect.Type, names []string) error {
	key := m.key
	if key == "edges" {
		key = "graph_edges"
	}
	typ, known := fields[key]
	if !known {
		if strings.Contains(never, " "+key+" ") {
			return at(file, m.token, 1, key+" is set by p8: leave it out")
		}
		slices.Sort(names)
		return at(file, m.token, 1, fmt.Sprintf("there is no field %q; a row has %s", key, strings.Join(names, ", ")))
	}
	if typ == reflect.TypeFor[[]store.Edge]() {
		edges, err := readEdges(file, m.value, 1)
		if err != nil {
			return err
		}
		reflect.ValueOf(row).Elem().FieldByName("GraphEdges").Set(reflect.ValueOf(edges))
		return nil
	}
	raw, err := toJSON(file, m.value, 1)
	if err != nil {
		return err
	}
	if typ == reflect.TypeFor[time.Time]() {
		if raw, err = timestamp(raw); err != nil {
			return at(file, m.value.GetToken(), 1, key+" must be a time such as 2026-11-20T09:30:00Z")
		}
	}
	if json.Unmarshal(encode(map[string]json.RawMessage{key: raw}), row) != nil {
		return at(file, m.value.GetToken(), 1, fmt.Sprintf("%s must be %s", key, kindName(typ)))
	}
	return nil
}

// timestamp completes a time to RFC 3339: the zone (UTC), the seconds, or everything but
// the day may be missing.
func timestamp(raw json.RawMessage) (json.RawMessage, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	var t time.Time
	var err error
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err = time.Parse(layout, s); err == nil {
			return encode(t.UTC()), nil
		}
	}
	return nil, err
}

// kindName names the type that a field must have.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return "an object or a list"
		}
		return "a list of texts"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	}
	return "a text"
}

// rowsPage is how many rows are written in one transaction.
const rowsPage = 500

// put writes the rows of a file.
func (in *Ingester) putRows(ctx context.Context, t *tables) error {
	if err := putPages(ctx, "resources", in.Store.Resources, t.resources); err != nil {
		return err
	}
	if err := putPages(ctx, "ontologies", in.Store.Ontologies, t.ontologies); err != nil {
		return err
	}
	if err := putPages(ctx, "moments", in.Store.Moments, t.moments); err != nil {
		return err
	}
	if err := putPages(ctx, "feedback", in.Store.Feedback, t.feedback); err != nil {
		return err
	}
	for _, u := range t.users {
		who, err := identity.From(ctx)
		if err != nil {
			return err
		}
		id := identity.UserID(u.Email)
		if id == "" {
			return fmt.Errorf("%w: the user %q has no e-mail address", store.ErrInvalid, u.Name)
		}
		// A user's row is the user's own.
		as := identity.With(ctx, identity.Identity{TenantID: who.TenantID, UserID: id})
		if err := in.Store.Users.Put(as, u); err != nil {
			return err
		}
	}
	return nil
}

func putPages[T any](ctx context.Context, table string, to Rows[T], rows []*T) error {
	if len(rows) > 0 && to == nil {
		return fmt.Errorf("%w: rows of %s are not taken here", store.ErrInvalid, table)
	}
	for page := range slices.Chunk(rows, rowsPage) {
		if err := to.Put(ctx, page...); err != nil {
			return err
		}
	}
	return nil
}
