package store

import (
	"strings"
	"unicode"

	"github.com/p8-org/p8/identity"
)

// reservedNames are the names of p8's own documents, in their [reservedForm].
type reservedNames map[string]bool

// has reports whether no shared document of a tenant may have the name.
func (names reservedNames) has(name string) bool {
	return len(names) > 0 && names[reservedForm(name)]
}

// ignores reports whether a stored document has a reserved name that it may not have. An
// older program wrote such rows.
func (names reservedNames) ignores(tenant, user, name string) bool {
	return user == "" && tenant != identity.SystemTenant && names.has(name)
}

func newReservedNames(names []string) reservedNames {
	all := make(reservedNames, len(names))
	for _, name := range names {
		if form := reservedForm(name); form != "" {
			all[form] = true
		}
	}
	return all
}

// reservedForm returns the letters and digits of a name: the catalog also finds
// rem-query-agent as RemQueryAgent.
func reservedForm(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, NormalizeKey(name))
}
