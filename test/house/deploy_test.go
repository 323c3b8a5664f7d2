package house

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// The files in deploy/ are YAML and name settings that exist, and a container that they
// start has no rights that it does not need.
func TestDeploymentFiles(t *testing.T) {
	settings := config.Table()
	named := regexp.MustCompile(`\bP8_[A-Z0-9_]+`)
	for _, f := range []struct {
		path string
		has  []string
	}{
		{"Containerfile", []string{"CGO_ENABLED=0", "-trimpath", "USER 65532", "licences.txt"}},
		{"compose.yaml", []string{"read_only: true", "cap_drop: [ALL]", "no-new-privileges:true", "mem_limit:", "internal: true"}},
		{"kubernetes/p8.yaml", []string{"runAsNonRoot: true", "readOnlyRootFilesystem: true", "allowPrivilegeEscalation: false", "drop: [ALL]",
			"automountServiceAccountToken: false", "livenessProbe", "path: /ready", "kind: NetworkPolicy", "kind: PodDisruptionBudget", "limits:"}},
	} {
		raw, err := os.ReadFile(filepath.Join(harness.Root(t), "deploy", f.path))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllString(string(raw), -1) {
			if setting := strings.TrimSuffix(name, "_FILE"); !strings.Contains(settings, "`"+setting+"`") {
				t.Errorf("%s names %s, which is no setting", f.path, name)
			}
		}
		for _, text := range f.has {
			if !bytes.Contains(raw, []byte(text)) {
				t.Errorf("%s does not have %q", f.path, text)
			}
		}
		if !strings.HasSuffix(f.path, ".yaml") {
			continue
		}
		for d := yaml.NewDecoder(bytes.NewReader(raw)); ; {
			var doc map[string]any
			if err := d.Decode(&doc); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %s", f.path, err)
			} else if len(doc) == 0 {
				t.Errorf("%s has an empty document", f.path)
			}
		}
	}
}
