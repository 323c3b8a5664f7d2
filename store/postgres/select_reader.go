package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/p8-org/p8/store"
)

// readerRole is the role that runs the SELECTs of callers: it logs in nowhere,
// owns nothing, and may read the listed columns of the listed tables.
const readerRole = "p8_reader"

// readerReady asks whether the current user may become the reader and the
// reader may read every listed column: those of a newer schema, too.
const readerReady = `SELECT
	coalesce((SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = $1), false),
	coalesce((SELECT bool_and(has_column_privilege(r.oid, to_regclass(t.name), t.col, 'SELECT')) AND bool_and(has_function_privilege(r.oid, 'p8_caller()', 'EXECUTE'))
		FROM pg_roles r, unnest($2::text[], $3::text[]) AS t(name, col) WHERE r.rolname = $1), false)`

// reader looks at the role of the SELECTs of callers.
func reader(ctx context.Context, c *pgx.Conn) Finding {
	f := Finding{Name: "role of SQL queries"}
	var user string
	var exists, may, creates bool
	if !f.ask(c.QueryRow(ctx, `SELECT current_user, EXISTS (SELECT FROM pg_roles WHERE rolname = $1),
		coalesce((SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = $1), false),
		(SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user)`, readerRole).Scan(&user, &exists, &may, &creates)) {
		return f
	}
	grant := fmt.Sprintf("GRANT %s TO %s", readerRole, pgx.Identifier{user}.Sanitize())
	switch {
	case exists && may:
		f.OK, f.Detail = true, "the role "+readerRole+" is there"
	case creates:
		f.OK, f.Detail = true, "the next start makes the role "+readerRole
	case exists:
		f.Detail, f.Mend = "the role "+readerRole+" may not be used", "as a superuser: "+grant
	default:
		f.Detail, f.Mend = "there is no role "+readerRole, "as a superuser: CREATE ROLE "+readerRole+" NOLOGIN; "+grant
	}
	return f
}

// prepareReader creates the role of callers' SELECTs and grants its rights, if they are
// missing. Without the privilege to do so, SQL queries are refused and all else works.
func prepareReader(ctx context.Context, url string) (Finding, error) {
	c, err := connect(ctx, url)
	if err != nil {
		return Finding{}, err
	}
	defer disconnect(c)
	var tables, columns []string
	for _, t := range store.Tables() {
		for _, col := range t.Columns {
			tables, columns = append(tables, t.Name), append(columns, col.Name)
		}
	}
	ready := func() (bool, error) {
		var member, reads bool
		err := c.QueryRow(ctx, readerReady, readerRole, tables, columns).Scan(&member, &reads)
		return member && reads, err
	}
	if ok, err := ready(); err != nil || ok {
		return Finding{OK: ok}, err
	}
	unlock, err := lock(ctx, c, lockMigrate)
	if err != nil {
		return Finding{}, err
	}
	defer unlock()
	if f := reader(ctx, c); !f.OK {
		return f, nil
	}
	for n := 1; ; n++ {
		err := makeReader(ctx, c)
		if ok, e := ready(); ok || e != nil {
			return Finding{OK: ok}, e
		}
		// Roles belong to the whole server: a process of another database may be
		// doing the same.
		if n == attempts || wait(ctx, n) != nil {
			return reader(ctx, c), err
		}
	}
}

func makeReader(ctx context.Context, c *pgx.Conn) error {
	var there bool
	if err := c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)`, readerRole).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := c.Exec(ctx, `CREATE ROLE `+readerRole+` NOLOGIN NOINHERIT`); err != nil {
			return err
		}
	}
	var user, schema string
	var member bool
	if err := c.QueryRow(ctx, `SELECT current_user, current_schema(), pg_has_role(current_user, $1, 'MEMBER')`, readerRole).Scan(&user, &schema, &member); err != nil {
		return err
	}
	if !member {
		if _, err := c.Exec(ctx, `GRANT `+readerRole+` TO `+pgx.Identifier{user}.Sanitize()); err != nil {
			return err
		}
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		grants := []string{`GRANT USAGE ON SCHEMA ` + pgx.Identifier{schema}.Sanitize(), `GRANT EXECUTE ON FUNCTION p8_caller()`}
		for _, t := range store.Tables() {
			var columns []string
			for _, col := range t.Columns {
				columns = append(columns, pgx.Identifier{col.Name}.Sanitize())
			}
			grants = append(grants, `GRANT SELECT (`+strings.Join(columns, ", ")+`) ON `+pgx.Identifier{t.Name}.Sanitize())
		}
		for _, g := range grants {
			if _, err := tx.Exec(ctx, g+` TO `+readerRole); err != nil {
				return err
			}
		}
		return nil
	})
}
