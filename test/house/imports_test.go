package house

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors lists the rooms from the roof down: a package imports only rooms after
// its own. A sub-package (llm/openai, store/sqlite) belongs to its room and may
// import it and its siblings. api_test.go says which rooms are public.
var floors = []string{
	"cmd/p8",
	"internal/api", "internal/mcpserver", "internal/a2a", "stream",
	"internal/privacy", "internal/dream", "internal/title", "internal/experiment", "internal/testcase", "internal/evaluation", "chat", "internal/ask", "internal/live", "memory", "routing", "run", "internal/trace", "internal/reminder", "internal/feedback", "internal/replay", "tool", "internal/simulator",
	"catalog", "internal/ingest", "rem", "internal/version", "agent", "internal/scoring", "llm", "internal/embed", "internal/account",
	"internal/quota", "internal/jobs", "internal/phoenix", "store", "event", "internal/config", "internal/auth", "internal/signin", "identity", "internal/tree", "internal/schema", "internal/outbound", "internal/edge", "internal/near", "internal/diff", "internal/arrange", "internal/zone", "internal/tokens", "internal/filelock", "internal/seal", "internal/redact", "telemetry",
}

// inner has the packages of a room whose order matters, from the roof down: a package
// imports only packages after it. Packages that are not listed have no order.
var inner = map[string][]string{
	"cmd/p8": {
		"cmd/p8",
		"cmd/p8/internal/converse",
		"cmd/p8/internal/evals", "cmd/p8/internal/access", "cmd/p8/internal/cases", "cmd/p8/internal/sessions", "cmd/p8/internal/runs", "cmd/p8/internal/knowledge", "cmd/p8/internal/documents", "cmd/p8/internal/operate", "cmd/p8/internal/tools", "cmd/p8/internal/account",
		"cmd/p8/internal/completion", "cmd/p8/internal/turns", "cmd/p8/internal/peer",
		"cmd/p8/internal/wiring", "cmd/p8/internal/datadir", "cmd/p8/internal/logins", "cmd/p8/internal/prompt", "cmd/p8/internal/browser", "cmd/p8/internal/command",
		"cmd/p8/internal/watch", "cmd/p8/internal/show", "cmd/p8/internal/markdown", "cmd/p8/internal/term",
	},
}

// pointsUp reports whether a package imports one of the same room that is before it.
func pointsUp(room, from, to string) bool {
	i, j := slices.Index(inner[room], from), slices.Index(inner[room], to)
	return i >= 0 && j >= 0 && j < i
}

// ground holds embedded files. It imports no room; any room may import it.
var ground = []string{"agents", "docs"}

// yard is outside of the house: it may import every room, and no room imports it.
// internal/testkit holds what tests share.
var yard = []string{"test", "bench", "internal/testkit", "llm/internal/wire/wiretest"}

// place returns a package's room and its depth: the index in floors, -1 for the
// yard, len(floors) for the ground.
func place(dir string) (room string, depth int, known bool) {
	under := func(room string) bool { return dir == room || strings.HasPrefix(dir, room+"/") }
	if i := slices.IndexFunc(yard, under); i >= 0 {
		return yard[i], -1, true
	}
	for i, room := range floors {
		if under(room) {
			return room, i, true
		}
	}
	if i := slices.IndexFunc(ground, under); i >= 0 {
		return ground[i], len(floors), true
	}
	return "", 0, false
}

func TestRoomsExist(t *testing.T) {
	lived := map[string]bool{}
	for _, p := range packages(t) {
		room, _, _ := place(p.dir)
		lived[room] = true
	}
	for _, room := range slices.Concat(floors, ground, yard) {
		if !lived[room] {
			t.Errorf("the room %s has no package: remove it from the list", room)
		}
	}
}

func TestImportsPointDown(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		room, depth, known := place(p.dir)
		if !known {
			t.Errorf("%s is in no room: add it to the floors of this test and to ARCHITECTURE.md, or move it into the room that it belongs to", p.dir)
			continue
		}
		for name, file := range p.files {
			for _, spec := range file.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				dir, ours := strings.CutPrefix(imported, module+"/")
				if !ours {
					continue
				}
				seen++
				to, toDepth, known := place(dir)
				switch {
				case !known:
					t.Errorf("%s imports %s, which is in no room", name, imported)
				case to == room && pointsUp(room, p.dir, dir):
					t.Errorf("%s: %s imports %s, which is above it: move what both need below, or change the order of the inner rooms in this test", name, p.dir, dir)
				case to == room, depth < 0 && toDepth < 0:
				case toDepth <= depth:
					t.Errorf("%s: %s imports %s, which is above it or in the yard: declare a small interface in %s and wire the two in cmd/p8", name, room, to, room)
				case depth == len(floors):
					t.Errorf("%s: %s holds embedded files and must import no room", name, room)
				}
			}
		}
	}
	if seen == 0 {
		t.Fatal("no import of one package by another was found: the test proves nothing")
	}
}
