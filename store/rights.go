package store

import (
	"context"
	"strings"
	"unicode"

	"github.com/p8-org/p8/identity"
)

// Who may write what, for every path to a row: [writer.replace] and [writer.remove] ask.
//
// A private row is its writer's. A row with a user is that user's, whom place has
// compared. A row that everybody of a tenant sees takes the right to write those,
// which the identity carries. And no shared document of a tenant has the name of one
// that comes with the program, else one caller would speak for it to all; a person's
// own may, for that person.

// reservedNames are names as [reservedForm] writes them.
type reservedNames map[string]bool

func newReservedNames(names []string) reservedNames {
	all := make(reservedNames, len(names))
	for _, name := range names {
		if form := reservedForm(name); form != "" {
			all[form] = true
		}
	}
	return all
}

// reservedForm is what of a name tells documents apart, whichever way they are asked
// for: its letters and digits. The catalog finds rem-query-agent as RemQueryAgent, too.
func reservedForm(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, NormalizeKey(name))
}

// has reports whether no shared document of a tenant may have the name.
func (names reservedNames) has(name string) bool {
	return len(names) > 0 && names[reservedForm(name)]
}

// ignores reports whether a document has a name that it may not have: a row of an
// older program, which counts no more.
func (names reservedNames) ignores(tenant, user, name string) bool {
	return user == "" && tenant != identity.SystemTenant && names.has(name)
}

// mayReplace refuses a record that the caller may not write for that owner.
func (w *writer) mayReplace(t *table, rec record, owner any) error {
	if err := w.mayShare(t, owner); err != nil || t != schemas || owner != nil {
		return err
	}
	if name := rec.entry().name; w.store.reserved.ignores(w.sc.TenantID, "", name) {
		return forbiddenf("%.128q is the name of a document that comes with p8, and nobody's shared document may have it: "+
			"choose another name, or store it for one user", name)
	}
	return nil
}

// mayShare refuses a row of that owner if everybody of the tenant sees it and the caller
// may not write such rows.
func (w *writer) mayShare(t *table, owner any) error {
	if owner != nil || t.Private || !w.sc.SharedReadOnly {
		return nil
	}
	return forbiddenf("the caller may not write a %s that everybody of the tenant sees: store it for one user", t.Type)
}

// ReservedSchema is a shared document under a name that comes with the program. An
// older program let people write it; now it is ignored.
type ReservedSchema struct {
	TenantID string `json:"tenant_id"`
	ID       string `json:"id"`
	Name     string `json:"name"`
}

// ReservedSchemas lists those of all tenants, by tenant and name. It reads the names of
// all shared documents.
func (m Maintenance) ReservedSchemas(ctx context.Context) (list []ReservedSchema, err error) {
	err = m.read(ctx, "read shared documents", func(c Conn) error {
		list = nil
		return c.Query(ctx, `SELECT tenant_id, id, name FROM schemas WHERE user_id IS NULL AND tenant_id <> $1 AND deleted_at IS NULL
			ORDER BY tenant_id, name, id`, func(r Row) error {
			var x ReservedSchema
			if err := r.Scan(&x.TenantID, &x.ID, &x.Name); err != nil {
				return err
			}
			if m.store.reserved.has(x.Name) {
				list = append(list, x)
			}
			return nil
		}, identity.SystemTenant)
	})
	return list, err
}
