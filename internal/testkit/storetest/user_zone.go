package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
)

// userZone checks the zones that profiles name.
func userZone(t *testing.T, s *store.Store, ctx context.Context) {
	t.Helper()
	for metadata, want := range map[string]string{
		``:                                "<nil>, 0 warnings",
		`{"timezone":""}`:                 "<nil>, 0 warnings",
		`{"timezone":null}`:               "<nil>, 0 warnings",
		`{"timezone":"Europe/Berlin"}`:    "Europe/Berlin, 0 warnings",
		`{"timezone":"UTC"}`:              "UTC, 0 warnings",
		`{"timezone":"Mars/Base"}`:        "<nil>, 1 warnings",
		`{"timezone":"Local"}`:            "<nil>, 1 warnings",
		`{"timezone":"../../etc/passwd"}`: "<nil>, 1 warnings",
		`{"timezone":["UTC"]}`:            "<nil>, 1 warnings",
		`{"timezone":"` + strings.Repeat("x", 9999) + `"}`: "<nil>, 1 warnings",
	} {
		log := new(strings.Builder)
		must(t, s.Users().Put(ctx, &store.User{Name: "Ute", Metadata: json.RawMessage(metadata)}))
		at, err := s.Users().Zone(ctx, slog.New(slog.NewTextHandler(log, nil)))
		must(t, err)
		name := "<nil>"
		if at != nil {
			name = at.String()
		}
		wantEqual(t, "zone of "+metadata, fmt.Sprintf("%s, %d warnings", name, strings.Count(log.String(), "level=WARN")), want)
		wantEqual(t, "length of the warning", log.Len() < 500, true)
	}
}
