package version

import (
	"cmp"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/store"
)

// CheckRows is Check for two stored documents, for store.Options.Replaces. A document that
// cannot be read, such as one that an older program stored, is not checked.
func CheckRows(before, after *store.Schema) error {
	was, err := agent.Parse(before.Name, text(before))
	if err != nil {
		return nil
	}
	is, err := agent.Parse(after.Name, text(after))
	if err != nil {
		return nil
	}
	return Check(was.Version, is.Version, Compare(was, is))
}

func text(row *store.Schema) []byte { return []byte(cmp.Or(row.Source, string(row.JSONSchema))) }
