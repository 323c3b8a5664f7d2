package reminder

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

func TestRemind(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	w.zoneProfile(ctx, "Europe/Vienna")
	r := w.remind(ctx, Request{Name: " Water  the\nroses ", When: "30 9 * * 1-5", Tags: []string{"garden", " garden", "", "roses"}})
	if r.ID == "" || r.ID != r.MomentID {
		t.Fatalf("%+v", r)
	}
	want := Reminder{
		ID: r.ID, MomentID: r.ID, SessionID: "s-1", Name: "Water the roses", Description: "The roses are thirsty.",
		Frequency: "Weekdays at 09:30", Recurrence: Recurring, Schedule: "30 9 * * 1-5", Zone: "Europe/Vienna",
		Next: instantOf(t, "2026-03-02T09:30:00+01:00"), Tags: []string{"garden", "roses"}, CreatedAt: r.CreatedAt,
	}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	m, err := w.store.Moments().Get(ctx, r.ID)
	must(t, err)
	var kept map[string]any
	must(t, json.Unmarshal(m.Metadata, &kept))
	if d := cmp.Diff(map[string]any{
		"reminder_id": r.ID, "title": "Water the roses", "schedule": "30 9 * * 1-5", "timezone": "Europe/Vienna",
		"recurrence": "recurring", "frequency": "Weekdays at 09:30",
	}, kept); d != "" {
		t.Error(d)
	}
	if m.Name != "reminder-Water the roses-"+r.ID[:8] || m.MomentType != "reminder" || m.Category != "reminder" || m.SourceSessionID != "s-1" ||
		len(m.GraphEdges) != 1 || m.GraphEdges[0] != (store.Edge{Target: "session-s-1", Relation: "reminder", Weight: 1}) {
		t.Errorf("%+v", m)
	}
	listed, err := w.List(ctx, ListFilter{})
	must(t, err)
	if d := cmp.Diff([]Reminder{want}, listed); d != "" {
		t.Error(d)
	}

	// An offset wins over the request's zone, which wins over the profile's; without any,
	// UTC counts.
	for _, tt := range []struct{ user, when, zone, next, shown string }{
		{"alice", "2026-04-15T15:00", "", "2026-04-15T13:00:00Z", "Europe/Vienna"},
		{"alice", "2026-04-15T15:00", "Asia/Kolkata", "2026-04-15T09:30:00Z", "Asia/Kolkata"},
		{"alice", "2026-04-15T15:00-04:00", "Asia/Kolkata", "2026-04-15T19:00:00Z", "Asia/Kolkata"},
		{"bob", "2026-04-15T15:00", "", "2026-04-15T15:00:00Z", "UTC"},
		{"bob", "2026-04-15T15:00-04:00", "", "2026-04-15T19:00:00Z", "UTC-04:00"},
		{"", "2026-04-15T15:00", "", "2026-04-15T15:00:00Z", "UTC"},
	} {
		r := w.remind(as(t, tt.user), Request{When: tt.when, Zone: tt.zone})
		if got := r.Next.UTC().Format(time.RFC3339); got != tt.next || r.Zone != tt.shown || r.Recurrence != Once {
			t.Errorf("%+v: %s in %s, %s", tt, got, r.Zone, r.Recurrence)
		}
	}
	if all, err := w.List(as(t, ""), ListFilter{}); err != nil || len(all) != 1 {
		t.Errorf("nobody has %v, %v", all, err)
	}
}

// TestRemindAgain: a repeated request with a key returns the first reminder, one without a
// key makes a new one.
func TestRemindAgain(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	first := w.remind(ctx, Request{When: "30 9 * * *", Key: "k"})
	if again := w.remind(ctx, Request{When: "30 9 * * *", Key: "k"}); cmp.Diff(first, again) != "" {
		t.Errorf("%+v became %+v", first, again)
	}
	for _, other := range []Request{{When: "30 9 * * *"}, {When: "30 9 * * *", Key: "k2"}} {
		if r := w.remind(ctx, other); r.ID == first.ID {
			t.Errorf("%+v is the reminder of another key", other)
		}
	}
	if all, err := w.List(ctx, ListFilter{}); err != nil || len(all) != 3 {
		t.Errorf("there are %v, %v", all, err)
	}
}

func TestRemindRefuses(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	good := Request{Name: "water", Description: "roses", When: "@daily"}
	for field, change := range map[string]func(*Request){
		"name":            func(r *Request) { r.Name = " " },
		"name ":           func(r *Request) { r.Name = strings.Repeat("x", maxName+1) },
		"name  ":          func(r *Request) { r.Name = "a\x00b" },
		"description":     func(r *Request) { r.Description = "\n" },
		"description ":    func(r *Request) { r.Description = strings.Repeat("ü", maxDescription+1) },
		"crontab":         func(r *Request) { r.When = "whenever" },
		"timezone":        func(r *Request) { r.Zone = "Mars/Base" },
		"timezone ":       func(r *Request) { r.Zone = "Local" },
		"tags":            func(r *Request) { r.Tags = make([]string, maxTags+1) },
		"tags ":           func(r *Request) { r.Tags = []string{strings.Repeat("x", maxTag+1)} },
		"description   ":  func(r *Request) { r.Description = "\xff" },
		"timezone       ": func(r *Request) { r.Zone = "../../etc/passwd" },
	} {
		req := good
		change(&req)
		_, err := w.Remind(ctx, req)
		wrong := (*ProblemError)(nil)
		if !errors.As(err, &wrong) || wrong.Field != strings.TrimSpace(field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := w.Remind(t.Context(), good); !errors.Is(err, identity.ErrMissing) {
		t.Errorf("without an identity: %v", err)
	}
	if n := w.queue.waiting(); n != 0 {
		t.Errorf("%d jobs wait for nothing", n)
	}
}

func TestMostReminders(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	rows := make([]*store.Moment, maxKept)
	for i := range rows {
		rows[i] = &store.Moment{Name: fmt.Sprint("old ", i), MomentType: typeReminder}
	}
	must(t, w.store.Moments().Put(ctx, rows...))
	_, err := w.Remind(ctx, Request{Name: "one more", Description: "x", When: "@daily"})
	if err == nil || !strings.Contains(err.Error(), "500 reminders are kept already") {
		t.Errorf("%v", err)
	}
	w.remind(as(t, "bob"), Request{When: "@daily"})
}

func TestListAndDelete(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	daily := w.remind(ctx, Request{When: "0 9 * * *", Zone: "Europe/Vienna"})
	soon := w.remind(ctx, Request{When: "2026-03-02T23:30", Zone: "UTC"})
	again := w.remind(ctx, Request{When: "2026-03-02T23:30", Zone: "UTC"}) // of the same name
	w.remind(as(t, "bob"), Request{When: "@daily"})
	must(t, w.store.Moments().Put(ctx, &store.Moment{Name: "a note", MomentType: typeReminder}))
	ids := func(f ListFilter) string {
		t.Helper()
		all, err := w.List(ctx, f)
		must(t, err)
		var ids []string
		for _, r := range all {
			ids = append(ids, map[string]string{daily.ID: "daily", soon.ID: "soon", again.ID: "soon"}[r.ID])
		}
		return strings.Join(ids, " ")
	}
	today := daily.CreatedAt.UTC().Format(time.DateOnly)
	for want, f := range map[string]ListFilter{
		"soon soon daily":  {},
		"soon soon daily ": {CreatedOn: today},
		"":                 {CreatedOn: "2025-01-01"},
		"soon soon":        {DueOn: "2026-03-02"},
		"daily":            {DueOn: "2026-03-03"},
		"soon":             {Limit: 1},
	} {
		if got := ids(f); got != strings.TrimSpace(want) {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
	if _, err := w.List(ctx, ListFilter{DueOn: "monday"}); err == nil || err.Error() != `due_on: "monday" is no day: write it as 2026-02-21` {
		t.Errorf("%v", err)
	}
	// In the profile's zone the late reminder is due tomorrow.
	w.zoneProfile(ctx, "Europe/Vienna")
	if got := ids(ListFilter{DueOn: "2026-03-03"}); got != "soon soon daily" {
		t.Errorf("in Vienna %q is due on the 3rd", got)
	}

	note, err := w.store.Moments().ByName(ctx, "a note")
	must(t, err)
	for _, id := range []string{"", "water", note.ID, "7d444840-9dc0-11d1-b245-5ffdce74fad2"} {
		if err := w.Delete(ctx, id); id != note.ID && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("delete %q: %v", id, err)
		}
	}
	if err := w.Delete(as(t, "bob"), soon.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("bob deletes alice's: %v", err)
	}
	must(t, w.Delete(ctx, soon.ID))
	if err := w.Delete(ctx, soon.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
	if got := ids(ListFilter{}); got != "soon daily" {
		t.Errorf("%q are left", got)
	}
	w.goTo(instantOf(t, "2026-03-03T12:00:00Z"))
	if got := len(w.notes(ctx)); got != 2 {
		t.Errorf("%d notifications; the deleted one fired, or another did not", got)
	}
}

// TestRemindFails: a reminder that was not stored does not fire, and an invalid one is not
// stored.
func TestRemindFails(t *testing.T) {
	broken := errors.New("broken")
	for _, when := range []string{"before enqueue", "after enqueue", "before put", "after put"} {
		t.Run(when, func(t *testing.T) {
			w, ctx := newWorld(t), as(t, "alice")
			w.broken = func(op string) error {
				if op == when {
					return broken
				}
				return nil
			}
			if _, err := w.Remind(ctx, Request{Name: "water", Description: "x", When: "2026-03-02T09:00"}); !errors.Is(err, broken) {
				t.Fatal(err)
			}
			w.broken = nil
			kept, err := w.List(ctx, ListFilter{})
			must(t, err)
			w.goTo(start.Add(3 * time.Hour))
			if got := len(w.notes(ctx)); got != len(kept) {
				t.Errorf("%d are kept and %d fired", len(kept), got)
			}
			if n := w.queue.waiting(); n != 0 {
				t.Errorf("%d jobs wait for ever", n)
			}
		})
	}
}

// TestSlowStore: the job may be due before the reminder is stored.
func TestSlowStore(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	w.broken = func(op string) error {
		if op == "before put" {
			w.broken = nil
			w.goTo(start.Add(10 * time.Second))
		}
		return nil
	}
	w.remind(ctx, Request{When: "2026-03-02T08:00:01"})
	w.goTo(start.Add(5 * time.Minute))
	if got := w.notes(ctx); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestSameShortID(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	n := 0
	w.broken = func(op string) error {
		if n++; op == "before put" && n < 5 {
			return fmt.Errorf("%w: such a row exists", store.ErrConflict)
		}
		return nil
	}
	w.remind(ctx, Request{When: "2026-03-02T09:00"})
	w.broken = nil
	w.goTo(start.Add(2 * time.Hour))
	if got := w.notes(ctx); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}
