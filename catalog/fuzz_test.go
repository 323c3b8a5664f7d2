package catalog

import (
	"path/filepath"
	"strings"
	"testing"
)

// FuzzName: whatever the name, what is looked up is no path and stays itself
// when it is cleaned again.
func FuzzName(f *testing.F) {
	for _, s := range []string{"general", "agents/general.yaml", "../x", `C:\x`, "rem.agents.QueryAgent", "a.yaml.yaml", " ", "agents/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		clean, err := cleanName(name)
		if err != nil {
			if clean != "" || err.Error() == "" {
				t.Fatalf("%q: %q, %v", name, clean, err)
			}
			return
		}
		if strings.ContainsAny(clean, `/\`) || !filepath.IsLocal(clean) || strings.TrimSpace(clean) == "" {
			t.Fatalf("%q is looked up as %q", name, clean)
		}
	})
}
