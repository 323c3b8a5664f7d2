package reminder

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// TestFires follows reminders over some days by the clock of their zone.
func TestFires(t *testing.T) {
	s := newWorld(t).store
	for _, tt := range []struct {
		when, zone, from string
		days             int
		want             []string // in UTC
	}{
		{"0 9 * * *", "Europe/Vienna", "2026-03-27T12:00:00Z", 3, []string{"03-28T08:00", "03-29T07:00", "03-30T07:00"}},
		{"30 2 * * *", "Europe/Vienna", "2026-03-28T12:00:00Z", 2, []string{"03-29T01:00", "03-30T00:30"}},
		{"30 2 * * *", "Europe/Vienna", "2026-10-24T12:00:00Z", 2, []string{"10-25T00:30", "10-26T01:30"}},
		{"0 9 * * *", "America/New_York", "2026-03-07T00:00:00Z", 2, []string{"03-07T14:00", "03-08T13:00"}},
		{"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", 2, []string{"11-01T05:30", "11-02T06:30"}},
		{"15 9 * * 1-5", "Asia/Kolkata", "2026-03-06T00:00:00Z", 5, []string{"03-06T03:45", "03-09T03:45", "03-10T03:45"}},
		{"2026-03-29T02:30", "Europe/Vienna", "2026-03-28T12:00:00Z", 3, []string{"03-29T01:00"}},
		{"2026-10-25T02:30", "Europe/Vienna", "2026-10-24T12:00:00Z", 3, []string{"10-25T00:30"}},
		{"2026-11-01T01:30-05:00", "Asia/Kolkata", "2026-10-31T12:00:00Z", 3, []string{"11-01T06:30"}},
		{"@every 20h", "UTC", "2026-03-01T00:00:00Z", 2, []string{"03-01T20:00", "03-02T16:00"}},
	} {
		t.Run(tt.when+" "+tt.zone, func(t *testing.T) {
			w, ctx := anotherWorld(t, s), as(t, tt.when+tt.zone+tt.from)
			from := instantOf(t, tt.from)
			w.clock.set(from)
			r := w.remind(ctx, Request{When: tt.when, Zone: tt.zone})
			w.goTo(from.AddDate(0, 0, tt.days))
			var got []string
			for _, n := range w.notes(ctx) {
				got = append(got, n.Due.Format("01-02T15:04"))
				if !n.FiredAt.Equal(n.Due) || n.ReminderID != r.ID || n.Name != "water" || n.Description != "The roses are thirsty." || n.SessionID != "s-1" {
					t.Errorf("%+v", n)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("fired at %v, want %v", got, tt.want)
			}
			if n := len(w.hook.deliveries()); n != len(tt.want) {
				t.Errorf("%d deliveries", n)
			}
			kept, err := w.List(ctx, ListFilter{})
			must(t, err)
			if r.Recurrence == Once {
				if len(kept) != 0 || w.queue.waiting() != 0 {
					t.Errorf("what fired once is listed: %+v, or waits: %d", kept, w.queue.waiting())
				}
				return
			}
			if len(kept) != 1 || !kept[0].Next.After(w.clock.now()) || w.queue.waiting() != 1 {
				t.Errorf("%+v, and %d jobs wait", kept, w.queue.waiting())
			}
		})
	}
}

// TestLate: times missed while no process ran fire once together.
func TestLate(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	w.remind(ctx, Request{When: "0 * * * *"})
	w.remind(ctx, Request{Name: "once", When: "2026-03-02T10:00"})
	w.goTo(start.Add(65 * time.Minute)) // 9:00 fired
	w.clock.set(start.Add(10*time.Hour + 20*time.Minute))
	w.goTo(start.Add(11*time.Hour + 5*time.Minute))
	var got []string
	for _, n := range w.notes(ctx) {
		got = append(got, n.Name+" "+n.Due.Format("15:04")+" at "+n.FiredAt.Format("15:04"))
	}
	if want := "[water 09:00 at 09:00 water 10:00 at 18:20 once 10:00 at 18:20 water 19:00 at 19:00]"; fmt.Sprint(got) != want {
		if swapped := "[water 09:00 at 09:00 once 10:00 at 18:20 water 10:00 at 18:20 water 19:00 at 19:00]"; fmt.Sprint(got) != swapped {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// TestCrash: a process dies at each step, and another one continues.
func TestCrash(t *testing.T) {
	crash := errors.New("the process died")
	s := newWorld(t).store
	for _, when := range []string{"0 9 * * *", "2026-03-02T09:00"} {
		for step := 1; ; step++ {
			w, ctx := anotherWorld(t, s), as(t, fmt.Sprint(when, step))
			r := w.remind(ctx, Request{When: when})
			n, died := 0, ""
			w.broken = func(op string) error {
				if n++; n < step {
					return nil
				}
				died = op
				return crash // every later call fails too
			}
			due := start.Add(time.Hour)
			w.clock.set(due)
			job := w.queue.due(due)
			// The dead process's answer is lost.
			err := w.Worker().Run(t.Context(), job.args)
			heard := len(w.hook.deliveries())
			w.broken = nil
			w.restart()
			w.goTo(due.Add(30 * time.Minute))
			name := fmt.Sprintf("%s, died at step %d %s", when, step, died)

			notes := w.notes(ctx)
			if len(notes) != 1 || !notes[0].Due.Equal(due) {
				t.Errorf("%s: %d notifications", name, len(notes))
			}
			told := w.hook.deliveries()
			if len(told) == 0 || len(told) > heard+1 {
				t.Errorf("%s: told %d times", name, len(told))
			}
			for _, d := range told {
				if d.header.Get("webhook-id") != notes[0].ID {
					t.Errorf("%s: told as %s", name, d.header.Get("webhook-id"))
				}
			}
			kept, e := w.List(ctx, ListFilter{})
			must(t, e)
			if r.Recurrence == Once && len(kept) != 0 {
				t.Errorf("%s: is still listed", name)
			}
			if r.Recurrence == Recurring && (len(kept) != 1 || !kept[0].Next.Equal(due.AddDate(0, 0, 1))) {
				t.Errorf("%s: %+v", name, kept)
			}
			w.goTo(due.AddDate(0, 0, 1).Add(time.Hour))
			if got := len(w.notes(ctx)); r.Recurrence == Recurring && got != 2 {
				t.Errorf("%s: %d notifications after the next day", name, got)
			}
			if died == "" {
				must(t, err)
				if step < 8 {
					t.Errorf("only %d steps", step)
				}
				break
			}
		}
	}
}

// TestOutage: the next time is not lost, however long the database or the queue fails.
func TestOutage(t *testing.T) {
	s := newWorld(t).store
	for _, op := range []string{"get", "by name", "enqueue", "put"} {
		w, ctx := anotherWorld(t, s), as(t, op)
		w.remind(ctx, Request{When: "0 9 * * *"})
		w.broken = func(at string) error {
			if strings.HasSuffix(at, op) {
				return errors.New("away")
			}
			return nil
		}
		w.goTo(start.Add(10 * time.Hour))
		w.broken = nil
		w.goTo(start.Add(10*time.Hour + 5*time.Minute))
		if got := w.notes(ctx); len(got) != 1 {
			t.Errorf("%s: %d notifications", op, len(got))
		}
		w.goTo(start.Add(26 * time.Hour))
		if got := w.notes(ctx); len(got) != 2 {
			t.Errorf("%s: %d notifications a day later", op, len(got))
		}
	}
}

// TestAtOnce: several workers run the same job, as after one of them counted as dead.
func TestAtOnce(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	w.remind(ctx, Request{When: "0 9 * * *"})
	due := start.Add(time.Hour)
	w.clock.set(due)
	job := w.queue.due(due)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			err := w.Worker().Run(t.Context(), job.args)
			if _, again := jobs.AgainAfter(err); err != nil && !again {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	w.goTo(due.Add(time.Hour))
	notes, told := w.notes(ctx), w.hook.deliveries()
	if len(notes) != 1 || len(told) != 1 || told[0].header.Get("webhook-id") != notes[0].ID {
		t.Errorf("%d notifications, told %d times", len(notes), len(told))
	}
	if n := w.queue.waiting(); n != 1 {
		t.Errorf("%d jobs wait", n)
	}
}

// TestAgain: a job that runs again after all steps were done does nothing.
func TestAgain(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	w.remind(ctx, Request{When: "0 9 * * *"})
	job := w.queue.due(start.Add(time.Hour))
	w.goTo(start.Add(2 * time.Hour))
	note := w.notes(ctx)[0]
	for range 2 {
		must(t, w.Worker().Run(t.Context(), job.args))
		if len(w.hook.deliveries()) != 1 || w.queue.waiting() != 1 {
			t.Errorf("told %d times, %d jobs wait", len(w.hook.deliveries()), w.queue.waiting())
		}
		// A deleted notification is not stored again.
		if err := w.store.Moments().Delete(ctx, note.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if got := w.notes(ctx); len(got) != 0 {
		t.Errorf("%+v came back", got)
	}
}

// TestDeletedMeanwhile: a reminder that is deleted while it fires stays deleted.
func TestDeletedMeanwhile(t *testing.T) {
	for _, when := range []string{"0 9 * * *", "2026-03-02T09:00"} {
		w, ctx := newWorld(t), as(t, "alice")
		r := w.remind(ctx, Request{When: when})
		w.broken = func(op string) error {
			if op == "before put" {
				w.broken = nil
				must(t, w.Delete(ctx, r.ID))
			}
			return nil
		}
		w.goTo(start.Add(50 * time.Hour))
		if got := w.notes(ctx); len(got) != 1 {
			t.Errorf("%s: %d notifications", when, len(got))
		}
		if _, err := w.store.Moments().Get(ctx, r.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: it came back: %v", when, err)
		}
		if n := w.queue.waiting(); n != 0 {
			t.Errorf("%s: %d jobs wait", when, n)
		}
	}
}

// TestEarly: a job that is run by hand waits for its time.
func TestEarly(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	w.remind(ctx, Request{When: "2026-03-02T09:00"})
	job := w.queue.due(start.Add(time.Hour))
	if after, again := jobs.AgainAfter(w.Worker().Run(t.Context(), job.args)); !again || after != time.Hour {
		t.Errorf("again after %v, %v", after, again)
	}
	if got := w.notes(ctx); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestEdited: edits of the moment by a user stay, and invalid ones stop nothing.
func TestEdited(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	r := w.remind(ctx, Request{When: "0 9 * * *"})
	merge := store.PutOptions{Merge: true}
	edit := &store.Moment{Summary: "The tulips, too.", Rating: 4}
	edit.ID = r.ID
	must(t, w.store.Moments().PutWith(ctx, merge, edit))
	w.goTo(start.Add(2 * time.Hour))
	m, err := w.store.Moments().Get(ctx, r.ID)
	must(t, err)
	if m.Rating != 4 || w.notes(ctx)[0].Description != "The tulips, too." {
		t.Errorf("%+v", m)
	}
	edit = &store.Moment{}
	edit.ID, edit.Metadata = r.ID, []byte(`{"recurrence":"recurring","schedule":"whenever"}`)
	must(t, w.store.Moments().PutWith(ctx, merge, edit))
	w.goTo(start.Add(26 * time.Hour))
	if got := w.notes(ctx); len(got) != 2 || w.queue.waiting() != 0 {
		t.Errorf("%d notifications, %d jobs wait", len(got), w.queue.waiting())
	}
	if !strings.Contains(w.log.String(), "cannot be read") {
		t.Errorf("the log says %q", w.log)
	}
}

// TestNobody: anonymous callers have reminders too, separate for each tenant.
func TestNobody(t *testing.T) {
	w, ctx := newWorld(t), as(t, "")
	w.remind(ctx, Request{When: "2026-03-02T09:00"})
	w.goTo(start.Add(2 * time.Hour))
	other := identity.With(t.Context(), identity.Identity{TenantID: "other"})
	if mine, theirs, alices := w.notes(ctx), w.notes(other), w.notes(as(t, "alice")); len(mine) != 1 || len(theirs)+len(alices) != 0 {
		t.Errorf("%d, %d and %d notifications", len(mine), len(theirs), len(alices))
	}
}

// TestBadArguments: a job with foreign arguments fails.
func TestBadArguments(t *testing.T) {
	w := newWorld(t)
	for _, raw := range []string{`{}`, `[]`, `{"tenant":"acme","user":"alice"}`} {
		if err := w.Worker().Run(t.Context(), []byte(raw)); err == nil {
			t.Errorf("%s: no error", raw)
		} else if _, again := jobs.AgainAfter(err); again {
			t.Errorf("%s: again", raw)
		}
	}
}
