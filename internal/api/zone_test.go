package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// TestZoneOfProfile: days are those of the zone that the request names, else of the
// caller's profile, else of UTC.
func TestZoneOfProfile(t *testing.T) {
	var set setup
	set.api.TrustHeaders, set.knowledge = true, true
	s := newServer(t, set)
	log := new(strings.Builder)
	o := set.api
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	o.Store, o.Diary, o.Now = s.store, s.store.Diary(), now
	o.Zone = func(ctx context.Context) (*time.Location, error) { return s.store.Users().Zone(ctx, o.Logger) }
	e := rem.New(rem.Options{Knowledge: s.store})
	asker, err := ask.New(ask.Options{Engine: e, Now: now, Zone: o.Zone})
	must(t, err)
	o.Knowledge, o.Asker = e, asker
	s.Handler = api.New(o)
	for user, zone := range map[string]string{"kiri": `"Pacific/Kiritimati"`, "mars": `"Mars/Base"`, "seven": `7`, "here": `"Local"`, "none": `""`} {
		ctx := as(user, "acme")
		must(t, s.store.Users().Put(ctx, &store.User{Name: user, Metadata: json.RawMessage(`{"timezone":` + zone + `}`)}))
		must(t, s.store.Moments().Put(ctx, &store.Moment{Name: "late", Summary: "Late.", StartsAt: time.Date(2025, 10, 8, 11, 0, 0, 0, time.UTC)}))
	}
	const kiri, utc = "2025-10-09", "2025-10-08" // the clock shows 08:53 UTC on the 9th
	for _, c := range []struct {
		user, tz, day string // the day of the moment
		warnings      int
	}{
		{"kiri", "", kiri, 0},
		{"kiri", "Europe/Berlin", utc, 0},
		{"kiri", "UTC", utc, 0},
		{"none", "", utc, 0},
		{"nobody", "", "", 0},
		{"none", "Pacific/Kiritimati", kiri, 0},
		{"mars", "", utc, 1},
		{"seven", "", utc, 1},
		{"here", "", utc, 1},
		{"mars", "Pacific/Kiritimati", kiri, 0},
	} {
		log.Reset()
		w := s.do("GET", "/moments/feed?include_future=true&tz="+c.tz, "", "X-User-Id: "+c.user, "X-Tenant-Id: acme")
		var days []struct {
			Date string `json:"event_date"`
		}
		must(t, json.Unmarshal(w.Body.Bytes(), &days))
		if w.Code != http.StatusOK || c.day != "" && (len(days) == 0 || days[0].Date != c.day) || c.day == "" && len(days) > 0 {
			t.Errorf("feed of %s in %q: %d %s", c.user, c.tz, w.Code, w.Body)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != c.warnings {
			t.Errorf("feed of %s in %q: %d warnings, want %d: %s", c.user, c.tz, n, c.warnings, log)
		}
	}
	for user, want := range map[string]string{"kiri": `"count":1`, "none": `"count":0`, "mars": `"count":0`} {
		log.Reset()
		w := s.do("POST", "/ask", `{"query":"what happened today?"}`, "X-User-Id: "+user, "X-Tenant-Id: acme")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s asks: %d %s", user, w.Code, w.Body)
		}
		if n := strings.Count(log.String(), "level=WARN"); user == "mars" && n != 1 {
			t.Errorf("%s asks: %d warnings", user, n)
		}
	}
	// A clock shows another date in Kiritimati, 14 hours ahead.
	o.Now = func() time.Time { return time.Date(2025, 10, 8, 11, 0, 0, 0, time.UTC) }
	s.Handler = api.New(o)
	for path, want := range map[string]string{"/moments/today": kiri, "/moments/today?tz=UTC": utc} {
		if w := s.do("GET", path, "", "X-User-Id: kiri", "X-Tenant-Id: acme"); !strings.Contains(w.Body.String(), `"event_date":"`+want+`"`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	o.Zone = func(context.Context) (*time.Location, error) { return nil, errors.New("store: gone") }
	s.Handler = api.New(o)
	if w := s.do("GET", "/moments/today", "", alice...); w.Code < 500 || strings.Contains(w.Body.String(), "store:") {
		t.Errorf("a broken database: %d %s", w.Code, w.Body)
	}
}
