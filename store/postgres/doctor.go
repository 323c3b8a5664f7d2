package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Finding is the result of one check of the database.
type Finding struct {
	// Name is the checked thing: "connection", "extension vector", …
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Detail is the result of the check.
	Detail string `json:"detail"`
	// Mend is the remedy, "" if OK.
	Mend string `json:"mend,omitempty"`
}

// Doctor checks everything that p8 needs of a database and changes nothing. The findings
// come in the order in which to mend them; without a connection, the first is the only one.
func Doctor(ctx context.Context, url string) []Finding {
	c, err := connect(ctx, url)
	if err != nil {
		f := Finding{Name: "connection", Detail: err.Error(), Mend: "check that the server answers in time"}
		var e *connectionError
		if errors.As(err, &e) {
			f.Detail, f.Mend = e.problem, e.mend
		}
		return []Finding{f}
	}
	defer disconnect(c)
	list := []Finding{{Name: "connection", OK: true, Detail: "the server answers"}}
	list = append(list, requirements(ctx, c, false)...)
	return append(list, reader.look(ctx, c), callers.look(ctx, c), version(ctx, c), connections(ctx, c))
}

// requirements checks the prerequisites of the migrations. With create, it creates missing
// extensions.
func requirements(ctx context.Context, c *pgx.Conn, create bool) []Finding {
	list := []Finding{server(ctx, c), encoding(ctx, c), privileges(ctx, c)}
	for _, e := range []struct{ name, least, provider string }{
		{"vector", minVector, "pgvector (Debian: postgresql-NN-pgvector)"},
		{"pg_trgm", "", "PostgreSQL's contrib modules (Debian: part of postgresql-NN)"},
	} {
		list = append(list, extension(ctx, c, e.name, e.least, e.provider, create))
	}
	return list
}

func server(ctx context.Context, c *pgx.Conn) Finding {
	f := Finding{Name: "server version"}
	var number, text string
	if !f.ask(c.QueryRow(ctx, `SELECT current_setting('server_version_num'), current_setting('server_version')`).Scan(&number, &text)) {
		return f
	}
	n, _ := strconv.Atoi(number)
	f.OK, f.Detail = n >= minServer, "PostgreSQL "+text
	if !f.OK {
		f.Mend = fmt.Sprintf("use PostgreSQL %d or newer", minServer/10000)
	}
	return f
}

func encoding(ctx context.Context, c *pgx.Conn) Finding {
	f := Finding{Name: "encoding"}
	if !f.ask(c.QueryRow(ctx, `SELECT current_setting('server_encoding')`).Scan(&f.Detail)) {
		return f
	}
	if f.OK = f.Detail == "UTF8"; !f.OK {
		f.Mend = "create the database with: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'"
	}
	return f
}

func privileges(ctx context.Context, c *pgx.Conn) Finding {
	f := Finding{Name: "privilege to create tables"}
	var role, schema string
	if !f.ask(c.QueryRow(ctx, `SELECT current_user, coalesce(current_schema(), '')`).Scan(&role, &schema)) {
		return f
	}
	if schema == "" {
		f.Detail, f.Mend = "no schema of the search_path exists", "create it, or set search_path in the database URL"
		return f
	}
	if !f.ask(c.QueryRow(ctx, `SELECT has_schema_privilege(current_schema(), 'CREATE')`).Scan(&f.OK)) {
		return f
	}
	f.Detail = fmt.Sprintf("role %s in schema %s", role, schema)
	if !f.OK {
		f.Mend = fmt.Sprintf("as the owner of the database: GRANT CREATE, USAGE ON SCHEMA %s TO %s",
			pgx.Identifier{schema}.Sanitize(), pgx.Identifier{role}.Sanitize())
	}
	return f
}

func extension(ctx context.Context, c *pgx.Conn, name, least, provider string, create bool) Finding {
	f := Finding{Name: "extension " + name}
	const look = `SELECT coalesce(x.extversion, ''), coalesce(a.default_version, ''), coalesce(v.trusted, false)
		AND has_database_privilege(current_database(), 'CREATE') OR coalesce(u.rolsuper, false)
		FROM (SELECT $1::text AS name) n
		LEFT JOIN pg_extension x ON x.extname = n.name
		LEFT JOIN pg_available_extensions a ON a.name = n.name
		LEFT JOIN pg_available_extension_versions v ON v.name = n.name AND v.version = a.default_version
		LEFT JOIN pg_roles u ON u.rolname = current_user`
	var installed, available string
	var may bool
	if !f.ask(c.QueryRow(ctx, look, name).Scan(&installed, &available, &may)) {
		return f
	}
	switch {
	case installed != "" && older(installed, least):
		f.Detail = fmt.Sprintf("version %s, %s or newer is needed", installed, least)
		f.Mend = fmt.Sprintf("as a superuser: ALTER EXTENSION %s UPDATE", name)
		if older(available, least) {
			f.Mend = fmt.Sprintf("install a newer %s on the server, then as a superuser: ALTER EXTENSION %s UPDATE", provider, name)
		}
	case installed != "":
		f.OK, f.Detail = true, "version "+installed
	case available == "":
		f.Detail, f.Mend = "the server does not have it", "install "+provider+" on the server"
	case older(available, least):
		f.Detail, f.Mend = fmt.Sprintf("the server has version %s, %s or newer is needed", available, least), "install a newer "+provider+" on the server"
	case create:
		if _, err := c.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS `+name); err != nil {
			f.Detail, f.Mend = "it cannot be created: "+message(err), "as a superuser, in this database: CREATE EXTENSION "+name
			return f
		}
		f.OK, f.Detail = true, "created"
	default:
		f.OK, f.Detail = may, "not created yet"
		if !may {
			f.Mend = "as a superuser, in this database: CREATE EXTENSION " + name
		}
	}
	return f
}

func version(ctx context.Context, c *pgx.Conn) Finding {
	f := Finding{Name: "schema version"}
	n, pending, err := behind(ctx, c)
	switch {
	case err != nil:
		f.Detail, f.Mend = err.Error(), "use the program that migrated the database, or a newer one"
	case pending:
		f.OK, f.Detail = true, fmt.Sprintf("version %d: the next start migrates it", n)
	default:
		f.OK, f.Detail = true, fmt.Sprintf("version %d, up to date", n)
	}
	return f
}

// spare is the least number of free connections that lets a replica work.
const spare = 8

func connections(ctx context.Context, c *pgx.Conn) Finding {
	f := Finding{Name: "connections"}
	var most, used int
	if !f.ask(c.QueryRow(ctx, `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')`).Scan(&most, &used)) {
		return f
	}
	f.OK, f.Detail = most-used >= spare, fmt.Sprintf("%d of %d are in use", used, most)
	if !f.OK {
		f.Mend = "raise max_connections, or lower the connections of each replica"
	}
	return f
}

// ask records why a question had no answer.
func (f *Finding) ask(err error) bool {
	if err != nil {
		f.OK, f.Detail, f.Mend = false, "it cannot be read: "+message(err), "check the connection and the role's rights on the system catalogs"
	}
	return err == nil
}

// message returns the server's own words, without the statement.
func message(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// older compares dotted versions; "" is no bound.
func older(have, least string) bool {
	a, b := strings.Split(have, "."), strings.Split(least, ".")
	for i := range b {
		x, y := 0, 0
		if i < len(a) {
			x, _ = strconv.Atoi(a[i])
		}
		y, _ = strconv.Atoi(b[i])
		if x != y {
			return x < y
		}
	}
	return false
}
