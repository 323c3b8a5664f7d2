package memory_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// reminded is a reminder of the API.
type reminded struct {
	ID   string    `json:"reminder_id"`
	Name string    `json:"name"`
	Next time.Time `json:"next_fire"`
	Zone string    `json:"timezone"`
}

// A reminder is kept by the clocks of its zone, fires once, and also when its server
// was dead when it was due.
func TestReminders(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		s := harness.Serve(t, p.Options)
		as := []string{"--user", alice.email, "--tenant", alice.tenant}
		list := func() (all []reminded) {
			t.Helper()
			if err := json.Unmarshal([]byte(p.p8(t, append([]string{"reminders", "list", "--json"}, as...)...)), &all); err != nil {
				t.Fatal(err)
			}
			return all
		}
		remind := func(name, when string, more ...string) (r reminded) {
			t.Helper()
			args := append(append([]string{"remind", name, when, "--json"}, as...), more...)
			if err := json.Unmarshal([]byte(p.p8(t, args...)), &r); err != nil {
				t.Fatal(err)
			}
			return r
		}
		year := time.Now().Year() + 1
		day := func(month time.Month, hour, minute int) time.Time {
			return time.Date(year, month, 15, hour, minute, 0, 0, time.UTC)
		}
		on := func(month time.Month) string { return day(month, 9, 0).Format("2006-01-02T15:04") }
		want := map[string]time.Time{
			remind("winter", on(time.January), "--zone", "America/New_York").ID: day(time.January, 14, 0),
			remind("summer", on(time.July), "--zone", "America/New_York").ID:    day(time.July, 13, 0),
			remind("half", on(time.January), "--zone", "Asia/Kolkata").ID:       day(time.January, 3, 30),
			remind("offset", on(time.January)+"+02:00").ID:                      day(time.January, 7, 0),
		}
		began := time.Now()
		daily := remind("daily", "30 9 * * *", "--zone", "Asia/Kolkata")
		slow := time.Since(began)
		if at := daily.Next.UTC(); at.Hour() != 4 || at.Minute() != 0 || daily.Zone != "Asia/Kolkata" {
			t.Errorf("half past nine in India is %v", daily)
		}
		// shortly is a reminder in 2 s, and later where p8 is slow to start.
		shortly := func(name string) reminded {
			t.Helper()
			return remind(name, time.Now().Add(2*time.Second+3*slow).Format(time.RFC3339))
		}
		all := list()
		if len(all) != len(want)+1 {
			t.Errorf("there are %+v", all)
		}
		for _, r := range all {
			if at, ok := want[r.ID]; ok && !r.Next.Equal(at) {
				t.Errorf("%s fires at %v, want %v", r.Name, r.Next, at)
			}
		}
		code, _, stderr := p.try(t, append([]string{"remind", "late", "2020-02-03T09:00", "--zone", "Europe/Vienna"}, as...)...)
		if code == 0 || !strings.Contains(stderr, "2020-02-03T09:00:00+01:00 is past") {
			t.Errorf("a time that is past ends with %d: %s", code, stderr)
		}

		hers, his := follow(t, s, alice), follow(t, s, bob)
		soon := shortly("soon")
		n := next(t, hers)
		if n.ReminderID != soon.ID || n.FiredAt.Before(soon.Next) || n.FiredAt.After(soon.Next.Add(20*time.Second)) {
			t.Errorf("the notification %+v of %+v", n, soon)
		}
		if all := list(); len(all) != len(want)+1 {
			t.Errorf("a reminder that fired is still listed: %+v", all)
		}

		// It is due while no server runs.
		missed := shortly("missed")
		s.Kill()
		<-time.After(time.Until(missed.Next.Add(10 * time.Millisecond)))
		s = harness.Serve(t, p.Options)
		told := follow(t, s, alice, "Last-Event-ID", n.ID)
		if n := next(t, told); n.ReminderID != missed.ID || !n.FiredAt.After(missed.Next) {
			t.Errorf("the notification %+v of %+v", n, missed)
		}
		last := shortly("last")
		if n := next(t, told); n.ReminderID != last.ID {
			t.Errorf("something else was told: %+v", n)
		}
		if fired := moments(t, s, alice, "notification", ""); len(fired) != 3 {
			t.Errorf("there are the notifications %+v", fired)
		}
		select {
		case n, open := <-his:
			if open {
				t.Errorf("somebody else was told %+v", n)
			}
		default:
		}
	})
}

// told is a notification.
type notified struct {
	ID         string    `json:"id"`
	ReminderID string    `json:"reminder_id"`
	FiredAt    time.Time `json:"fired_at"`
}

// follow reads a user's notifications until the test or the server ends.
func follow(t *testing.T, s *harness.Server, who person, headers ...string) <-chan notified {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/notifications", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range who.headers() {
		req.Header.Set(name, value)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET /notifications: status %d", res.StatusCode)
	}
	t.Cleanup(func() { res.Body.Close() })
	out := make(chan notified, 16)
	go func() {
		defer close(out)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			var n notified
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &n) == nil {
				out <- n
			}
		}
	}()
	return out
}

// next is the next notification.
func next(t *testing.T, from <-chan notified) notified {
	t.Helper()
	select {
	case n, open := <-from:
		if !open {
			t.Fatal("the stream of notifications ended")
		}
		return n
	case <-time.After(patience):
		t.Fatalf("no notification within %v", patience)
		return notified{}
	}
}
