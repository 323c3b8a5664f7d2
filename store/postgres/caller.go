package postgres

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// The store's statements for a caller run as a role that owns no table. Row-level security
// shows that role the rows of the caller's tenant and user, which settings name: no caller
// writes the text of such a statement, so the settings need no signature.
const callerRole = "p8_caller"

// The statements that begin a caller's transaction: $1 is the tenant, $2 the user, $3 the
// owner of its keys, $4 the user whose session it is in. Without the role, nothing is enforced; the settings are for the views.
const (
	enterPlain = `SELECT set_config('p8.tenant', $1, true), set_config('p8.user', $2, true),
		set_config('p8.owner', $3, true), set_config('p8.host', $4, true)`
	enterRole = enterPlain + `, set_config('role', '` + callerRole + `', true)`
)

// entering returns the parameters of enterPlain and enterRole.
func entering(sc store.Scope) []any {
	return []any{sc.Tenant, sc.User, sc.KeyOwners()[0].UserID, cmp.Or(sc.Host, sc.User)}
}

// The conditions of the policies. PostgreSQL compares ofTenant with the tenant of a statement
// once. The other conditions are CASEs, which the planner takes for neither selective nor a
// reason to choose an index: the statement has the same conditions.
const (
	ofTenant = `tenant_id = current_setting('p8.tenant')`
	ofUser   = `CASE WHEN user_id IS NULL OR user_id = (SELECT current_setting('p8.user')) THEN true ELSE user_id = (SELECT current_setting('p8.host')) END`
	ofOwner  = `CASE WHEN owner IN ('', (SELECT current_setting('p8.owner'))) THEN true ELSE owner = (SELECT current_setting('p8.host')) END`
	// orSystem is for the rows of the tenant, and the shared ones of the system.
	orSystem = `CASE tenant_id WHEN (SELECT current_setting('p8.tenant')) THEN %s WHEN '` + identity.SystemTenant + `' THEN %s ELSE false END`
)

// systemRows are the tables of which callers also read the system's shared rows.
var systemRows = []string{"schemas", "resources", "ontologies", "files", "schema_timemachine", "embeddings", "kv_store", "kv_edges", "keywords"}

// wholeTenant are the tables of whose rows callers may reach those of other users. The store
// decides which.
var wholeTenant = []string{
	"api_keys", "accounts", "audit_log", "feedback", // an administrator's
	"sessions", "messages", "session_shares", // lists of the sessions that others have shared
	"users", // shares name a user by the address
	"runs",  // a quota counts those of the tenant
}

// policy is one of the role's policies for a table. Its comment in the database is its
// definition: PostgreSQL prints a condition in other words than it was given.
type policy struct{ name, command, condition string }

func (p policy) definition() string { return p.command + ` ` + p.condition }

// policiesOf returns the policies of a table with the column tenant_id and these other
// columns. A table that a later migration adds needs nothing here, unless callers read the
// system's rows of it, or those of other users.
func policiesOf(table string, columns []string) []policy {
	mine, shared := `true`, `true`
	switch {
	case slices.Contains(wholeTenant, table):
	case slices.Contains(columns, "user_id"):
		mine, shared = ofUser, `user_id IS NULL`
	case slices.Contains(columns, "owner"):
		mine, shared = ofOwner, `owner = ''`
	}
	own := `(` + ofTenant + ` AND ` + mine + `)`
	if !slices.Contains(systemRows, table) {
		return []policy{{"store", `ALL`, `USING ` + own}}
	}
	return []policy{
		{"store_read", `SELECT`, `USING (` + fmt.Sprintf(orSystem, mine, shared) + `)`},
		{"store_insert", `INSERT`, `WITH CHECK ` + own},
		{"store_update", `UPDATE`, `USING ` + own},
		{"store_delete", `DELETE`, `USING ` + own},
	}
}
