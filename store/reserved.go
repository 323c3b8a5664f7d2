package store

import (
	"strings"
	"unicode"

	"github.com/p8-org/p8/identity"
)

// reservedNames are names as [reservedForm] writes them.
type reservedNames map[string]bool

// has reports whether no shared document of a tenant may have the name.
func (names reservedNames) has(name string) bool {
	return len(names) > 0 && names[reservedForm(name)]
}

// ignores reports whether a document has a name that it may not have: a row of an
// older program, which counts no more.
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
