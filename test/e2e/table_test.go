package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/testkit/golden"
)

// clientTable says for each feature which version of which client it works with, as
// far as the tests have asked.
type clientTable struct{ text strings.Builder }

// add adds what the clients of one script made of their scenarios. A scenario works if
// the client saw what the golden file says.
func (c *clientTable) add(t *testing.T, name string, report []byte) {
	t.Helper()
	var got, want map[string]json.RawMessage
	if err := json.Unmarshal(report, &got); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join("testdata", "clients", name+".golden"))
	if golden.Update() {
		file, err = report, nil
	}
	if err == nil {
		err = json.Unmarshal(file, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	var played map[string]any
	if err := json.Unmarshal(got["clients"], &played); err != nil {
		t.Fatalf("the clients of %s: %v", name, err)
	}
	delete(got, "clients")
	fmt.Fprintf(&c.text, "\n%s\n", name)
	width := 0
	for feature := range got {
		width = max(width, utf8.RuneCountInString(feature))
	}
	versions := slices.SortedFunc(maps.Keys(played), byVersion)
	for part := range 2 {
		fmt.Fprintf(&c.text, "  %-*s", width, "")
		for _, v := range versions {
			fmt.Fprintf(&c.text, "  %-*s", columnOf(v), strings.Split(v, " ")[part])
		}
		c.text.WriteString("\n")
	}
	for _, feature := range slices.Sorted(maps.Keys(got)) {
		fmt.Fprintf(&c.text, "  %-*s", width, feature)
		for _, v := range versions {
			mark := "-"
			switch {
			case played[v] != "*" && !contains(played[v], feature):
			case bytes.Equal(compact(got[feature]), compact(want[feature])):
				mark = "ok"
			default:
				mark = "FAILS"
			}
			fmt.Fprintf(&c.text, "  %-*s", columnOf(v), mark)
		}
		c.text.WriteString("\n")
	}
}

// contains reports whether the list of a JSON value has a text.
func contains(list any, text string) bool {
	all, _ := list.([]any)
	return slices.Contains(all, any(text))
}

// columnOf is the width of the column of a client and its version.
func columnOf(client string) int {
	name, version, _ := strings.Cut(client, " ")
	return max(len(name), len(version))
}

// byVersion compares "name 1.10.0" and "name 1.9.0" by their numbers.
func byVersion(a, b string) int {
	pad := func(s string) string {
		name, version, _ := strings.Cut(s, " ")
		for part := range strings.SplitSeq(version, ".") {
			name += fmt.Sprintf(" %8s", part)
		}
		return name
	}
	return strings.Compare(pad(a), pad(b))
}

func compact(text json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}
