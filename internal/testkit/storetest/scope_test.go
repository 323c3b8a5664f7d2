package storetest

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
)

// A Scoper finds the statements that forget their tenant, or have another one.
func TestScoper(t *testing.T) {
	s, sc := NewScoper([]string{"runs", "messages", "sessions"}), store.Scope{Tenant: "acme", User: "ann"}
	for _, tt := range []struct {
		sql  string
		args []any
		want string // in the error, "" for none
	}{
		{`SELECT id FROM runs WHERE tenant_id = $1 AND id = $2`, []any{"acme", "x"}, ""},
		{`SELECT id FROM runs WHERE tenant_id IN ($2, $1)`, []any{"_", "acme"}, ""},
		{`SELECT id FROM runs WHERE id = $1`, []any{"x"}, "tenant_id of runs"},
		{`SELECT id FROM runs WHERE tenant_id = $1`, []any{"umbra"}, "$1 is not"},
		{`SELECT tenant_id, id FROM runs`, nil, "tenant_id of runs"},
		{`SELECT id FROM runs ORDER BY tenant_id`, nil, "tenant_id of runs"},
		{`SELECT 1 -- tenant_id = $1` + "\n" + `FROM runs`, nil, "tenant_id of runs"},
		{`SELECT 'tenant_id = 1' FROM runs`, nil, "tenant_id of runs"},
		{`SELECT m.id FROM messages m JOIN sessions s ON s.tenant_id = m.tenant_id AND s.id = m.session_id WHERE m.tenant_id = $1`, []any{"acme"}, ""},
		{`SELECT m.id FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.tenant_id = $1`, []any{"acme"}, "tenant_id of sessions"},
		{`SELECT id FROM runs WHERE tenant_id = $1 AND id IN (SELECT run_id FROM messages)`, []any{"acme"}, "tenant_id of messages"},
		{`SELECT id FROM (SELECT id FROM runs) AS r WHERE tenant_id = $1`, []any{"acme"}, "tenant_id of runs"},
		{`SELECT id FROM runs WHERE tenant_id = $1 UNION SELECT id FROM messages`, []any{"acme"}, "tenant_id of messages"},
		{`UPDATE runs SET status = $1`, []any{"x"}, "tenant_id of runs"},
		{`UPDATE runs SET status = $1 WHERE (tenant_id = $2 AND id = $3)`, []any{"x", "acme", "y"}, ""},
		{`DELETE FROM runs`, nil, "tenant_id of runs"},
		{`INSERT INTO runs (tenant_id, id) VALUES ($1, $2)`, []any{"acme", "x"}, ""},
		{`INSERT INTO runs (id) VALUES ($1)`, []any{"x"}, "first column of runs"},
		{`INSERT INTO runs (tenant_id, id) VALUES ($1, $2)`, []any{"umbra", "x"}, "$1 is not"},
		{`SELECT id FROM processes`, nil, ""},
	} {
		err := s.Check(sc, tt.sql, tt.args)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.sql, err, tt.want)
		}
	}
}
