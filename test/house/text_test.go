package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// secrets are the shapes of keys that must never be committed. Keys in tests are
// shorter, or say that they are not one.
var secrets = regexp.MustCompile(`sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|xox[bp]-[0-9A-Za-z-]{20,}|-----BEGIN [A-Z ]*PRIVATE KEY-----`)

// hosts are package registries: a lock file or script that names one works only
// where that one is reachable. (Split, so that this file passes itself.)
var hosts = regexp.MustCompile(`registry\.` + `(npmjs|yarnpkg)\.|proxy\.` + `golang\.org|sum\.` + `golang\.org|"resolved": *"http`)

// unfinished are the marks of work that was left for later.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b|\bt\.Sk` + `ip(Now|f)?\(`)

// marked are texts of which each line that one of the expressions above matches has
// one: they are found much faster.
var marked = []string{"sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "AKIA", "AIza", "xox", "-----BEGIN", "registry.", "golang.org", `"resolved"`, "TO" + "DO", "FIX" + "ME", "X" + "XX", "t.Sk" + "ip"}

func TestNothingThatBelongsToOneMachine(t *testing.T) {
	here := filepath.ToSlash(harness.Root(t)) + "/"
	home, _ := os.UserHomeDir()
	for _, name := range tracked(t) {
		for i, line := range strings.Split(string(read(t, name)), "\n") {
			report := func(what, mend string) { t.Errorf("%s:%d holds %s: %s", name, i+1, what, mend) }
			if strings.Contains(line, here) || (len(home) > 1 && strings.Contains(line, home+"/")) {
				report("a path of this machine", "use a relative one")
			}
			if !slices.ContainsFunc(marked, func(mark string) bool { return strings.Contains(line, mark) }) {
				continue
			}
			if secrets.MatchString(line) {
				report("what looks like a secret", "take it out, and revoke it if it is real")
			}
			if name != "go.sum" && hosts.MatchString(line) {
				report("the host of a package registry", "leave it to the settings of Go or npm (npm: omit-lockfile-registry-resolved)")
			}
			if strings.HasSuffix(name, ".go") && unfinished.MatchString(line) {
				report("a mark of unfinished work", "finish it, or take it out")
			}
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#: ]+)(?:#[^)]*)?\)`)

// TestLinksLeadSomewhere checks every relative link of the Markdown files.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, name := range tracked(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(read(t, name)), -1) {
			target := filepath.Join(harness.Root(t), filepath.Dir(name), m[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			}
		}
	}
}
