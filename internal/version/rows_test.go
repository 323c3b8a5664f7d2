package version_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/version"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// TestCheckRows: the store refuses a document whose version number contradicts what changed,
// whoever writes it and however.
func TestCheckRows(t *testing.T) {
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Replaces: version.CheckRows})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ann := identity.With(t.Context(), identity.Identity{TenantID: "t", UserID: "ann"})
	bob := identity.With(t.Context(), identity.Identity{TenantID: "t", UserID: "bob"})
	row := func(old, new string) *store.Schema {
		_, row, err := catalog.Read([]byte(strings.ReplaceAll(versioned, old, new)))
		if err != nil {
			t.Fatal(err)
		}
		return &row
	}
	forced := row("  - name: search\n", "")
	forced.AnyVersion = true
	for _, step := range []struct {
		name    string
		by      *store.Schema
		refused bool
	}{
		{"the first", row("", ""), false},
		{"the same", row("", ""), false},
		{"without a tool", row("  - name: search\n", ""), true},
		{"a better text", row("You answer.", "You answer well."), false},
		{"a lower number", row("1.2.3", "1.2.2"), true},
		{"anyhow", forced, false},
	} {
		switch err := s.PutSchema(ann, step.by); {
		case step.refused && !errors.Is(err, store.ErrConflict), !step.refused && err != nil:
			t.Errorf("%s: %v", step.name, err)
		}
	}
	if err := s.DeleteSchema(ann, "clerk"); err != nil {
		t.Fatal(err)
	}
	if err := s.PutSchema(ann, row("1.2.3", "0.1.0")); err != nil {
		t.Errorf("after it was deleted: %v", err)
	}
	if err := s.PutSchema(bob, row("1.2.3", "0.0.1")); err != nil {
		t.Errorf("another user's own: %v", err)
	}
}
