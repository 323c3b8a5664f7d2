package house

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the rooms from the roof down: a package imports only rooms that
// stand after its own. A sub-room (llm/openai, store/sqlite) belongs to its room
// and may import it, and its siblings. Rooms outside of internal are for programs
// that import the module: see api_test.go.
var floors = []string{
	"cmd/p8",
	"internal/api", "internal/mcpserver", "internal/a2a", "stream",
	"internal/dream", "chat", "internal/ask", "internal/live", "memory", "routing", "run", "internal/reminder", "tool", "internal/simulator",
	"catalog", "internal/ingest", "rem", "agent", "llm", "internal/embed",
	"internal/jobs", "store", "event", "identity", "internal/config", "internal/schema", "internal/outbound",
}

// ground holds embedded files and nothing else: it imports no room, any room may
// import it.
var ground = []string{"agents", "docs"}

// yard stands outside of the house: it may import every room, no room imports it.
// internal/testkit holds what tests share; no product code imports it.
var yard = []string{"test", "bench", "examples", "internal/testkit", "llm/internal/wire/wiretest"}

// place is a package's room and how deep it lies; -1 for the yard, len(floors)
// for the ground.
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

func TestImportsPointDown(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		room, depth, known := place(p.dir)
		if !known {
			t.Errorf("%s is in no room of the house: give it a place in the floors of this test and in ARCHITECTURE.md, or move it into the room that it belongs to", p.dir)
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
				case to == room, depth < 0 && toDepth < 0:
				case toDepth <= depth:
					t.Errorf("%s: %s imports %s, which is above it or outside: declare a small interface in %s and wire the two in cmd/p8", name, room, to, room)
				case depth == len(floors):
					t.Errorf("%s: %s holds embedded files and imports no room", name, room)
				}
			}
		}
	}
	if seen == 0 {
		t.Fatal("no import of one package by another was found: the test proves nothing")
	}
}
