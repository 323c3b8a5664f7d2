package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// callers is the role of the store's statements for callers.
var callers = role{
	name: callerRole, finding: "role of callers' statements",
	without: "row-level security is not enforced on the store's own statements, which name the tenant and the user themselves",
	lacks:   callersLack,
}

// callerTables lists the tables with the column tenant_id, and what the role has there:
// whether row-level security is enabled, the rights, the columns that policiesOf looks at,
// the role's policies with their comments, and whether a policy is for everybody.
const callerTables = `SELECT t.relname, t.relrowsecurity,
	has_table_privilege(r.oid, t.oid, 'SELECT') AND has_table_privilege(r.oid, t.oid, 'INSERT')
		AND has_table_privilege(r.oid, t.oid, 'UPDATE') AND has_table_privilege(r.oid, t.oid, 'DELETE'),
	ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = t.oid AND attname IN ('user_id', 'owner') AND NOT attisdropped),
	ARRAY(SELECT polname::text FROM pg_policy WHERE polrelid = t.oid AND polroles = ARRAY[r.oid]),
	ARRAY(SELECT coalesce(obj_description(oid, 'pg_policy'), '') COLLATE "C" FROM pg_policy WHERE polrelid = t.oid AND polroles = ARRAY[r.oid] ORDER BY 1),
	EXISTS (SELECT FROM pg_policy WHERE polrelid = t.oid AND polname = 'caller' AND polroles = ARRAY[0::oid])
	FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = current_schema(), pg_roles r
	WHERE r.rolname = $1 AND t.relkind IN ('r', 'p')
		AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attname = 'tenant_id' AND NOT attisdropped)
	ORDER BY t.relname`

// callersLack returns the statements that give the role what it lacks.
func callersLack(ctx context.Context, c *pgx.Conn) (list []string, err error) {
	rows, err := c.Query(ctx, `SELECT 'GRANT USAGE ON SCHEMA ' || quote_ident(s) || ' TO `+callerRole+`'
			FROM unnest(current_schemas(false)) AS s WHERE NOT has_schema_privilege('`+callerRole+`', s, 'USAGE')
		UNION ALL SELECT 'GRANT SELECT ON ' || v || ' TO `+callerRole+`'
			FROM unnest(ARRAY['caller_keys', 'caller_words']) AS v WHERE NOT has_table_privilege('`+callerRole+`', v, 'SELECT')`)
	if err != nil {
		return nil, err
	}
	if list, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return nil, err
	}
	if rows, err = c.Query(ctx, callerTables, callerRole); err != nil {
		return nil, err
	}
	var name string
	var enabled, granted, forAll bool
	var columns, names, comments []string
	_, err = pgx.ForEachRow(rows, []any{&name, &enabled, &granted, &columns, &names, &comments, &forAll}, func() error {
		var ddl []string
		table := pgx.Identifier{name}.Sanitize()
		if !enabled {
			ddl = append(ddl, `ALTER TABLE `+table+` ENABLE ROW LEVEL SECURITY`)
		}
		if forAll {
			// The policy of callers' SELECTs, from before there was another role.
			ddl = append(ddl, `ALTER POLICY caller ON `+table+` TO `+readerRole)
		}
		if want := policiesOf(name, columns); !slices.Equal(comments, definitions(want)) {
			for _, old := range names {
				ddl = append(ddl, `DROP POLICY `+pgx.Identifier{old}.Sanitize()+` ON `+table)
			}
			for _, p := range want {
				ddl = append(ddl, `CREATE POLICY `+p.name+` ON `+table+` FOR `+p.command+` TO `+callerRole+` `+p.condition,
					`COMMENT ON POLICY `+p.name+` ON `+table+` IS '`+strings.ReplaceAll(p.definition(), `'`, `''`)+`'`)
			}
		}
		if !granted {
			ddl = append(ddl, `GRANT SELECT, INSERT, UPDATE, DELETE ON `+table+` TO `+callerRole)
		}
		if len(ddl) > 0 {
			list = append(list, strings.Join(ddl, "; "))
		}
		return nil
	})
	return list, err
}

// definitions returns the definitions of policies, in order.
func definitions(all []policy) (list []string) {
	for _, p := range all {
		list = append(list, p.definition())
	}
	slices.Sort(list)
	return list
}
