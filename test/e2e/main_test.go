// Package e2e tests the real p8 binary with common clients and a third-party model
// provider.
package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// agents is the folder of the documents that these tests talk to.
func agents(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "agents"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var (
	dates = regexp.MustCompile(`Date: \d{4}-\d{2}-\d{2}`)
	times = regexp.MustCompile(`Time: \d{2}:\d{2}:\d{2}`)
)

// timeless replaces the date and time of a prompt.
func timeless(s string) string {
	return times.ReplaceAllString(dates.ReplaceAllString(s, "Date: <date>"), "Time: <time>")
}
