package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/p8-org/p8/store"
)

// readerRole is the role that runs the SELECTs of callers: it logs in nowhere,
// owns nothing, and may read the listed columns of the listed tables.
const readerRole = "p8_reader"

// readerReads asks whether the reader may read every listed column: those of a newer
// schema, too.
const readerReads = `SELECT current_schema(),
	(SELECT bool_and(has_column_privilege(r.oid, to_regclass(t.name), t.col, 'SELECT')) AND bool_and(has_function_privilege(r.oid, 'p8_caller()', 'EXECUTE'))
		FROM pg_roles r, unnest($2::text[], $3::text[]) AS t(name, col) WHERE r.rolname = $1)`

// reader is the role of callers' SELECTs.
var reader = role{name: readerRole, finding: "role of SQL queries", without: "SQL queries are refused", lacks: readerLacks}

// readerLacks returns the grants of every listed column, unless the role has them.
func readerLacks(ctx context.Context, c *pgx.Conn) (grants []string, err error) {
	var tables, columns []string
	for _, t := range store.Tables() {
		for _, col := range t.Columns {
			tables, columns = append(tables, t.Name), append(columns, col.Name)
		}
	}
	var schema string
	var reads bool
	if err := c.QueryRow(ctx, readerReads, readerRole, tables, columns).Scan(&schema, &reads); err != nil || reads {
		return nil, err
	}
	grants = []string{`GRANT USAGE ON SCHEMA ` + pgx.Identifier{schema}.Sanitize(), `GRANT EXECUTE ON FUNCTION p8_caller()`}
	for _, t := range store.Tables() {
		var columns []string
		for _, col := range t.Columns {
			columns = append(columns, pgx.Identifier{col.Name}.Sanitize())
		}
		grants = append(grants, `GRANT SELECT (`+strings.Join(columns, ", ")+`) ON `+pgx.Identifier{t.Name}.Sanitize())
	}
	for i := range grants {
		grants[i] += ` TO ` + readerRole
	}
	return []string{strings.Join(grants, "; ")}, nil
}
