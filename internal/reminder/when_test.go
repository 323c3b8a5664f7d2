package reminder

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/zone"
)

func loadT(t testing.TB, name string) *time.Location {
	t.Helper()
	if name == "" {
		return nil
	}
	loc, err := zone.Named(name)
	if err != nil {
		t.Fatalf("no zone %s", name)
	}
	return loc
}

func TestReadWhen(t *testing.T) {
	now := time.Date(2026, 3, 2, 8, 0, 30, 5, time.UTC)
	for _, tt := range []struct{ when, zone, first, frequency string }{
		// Times.
		{"2026-04-15T15:00", "", "2026-04-15T15:00:00Z", "Once — Apr 15 at 15:00"},
		{"2026-04-15T15:00", "Europe/Vienna", "2026-04-15T15:00:00+02:00", "Once — Apr 15 at 15:00"},
		{"2026-04-15 15:00:30", "Asia/Kolkata", "2026-04-15T15:00:30+05:30", "Once — Apr 15 at 15:00"},
		{"2026-04-15T15:00:00Z", "", "2026-04-15T15:00:00Z", "Once — Apr 15 at 15:00"},
		{"2026-04-15t15:00:00.5z", "America/New_York", "2026-04-15T11:00:00-04:00", "Once — Apr 15 at 11:00"},
		{"2026-04-15T15:00+02:00", "", "2026-04-15T15:00:00+02:00", "Once — Apr 15 at 15:00"},
		{"2026-04-15T15:00:00-0500", "Europe/Vienna", "2026-04-15T22:00:00+02:00", "Once — Apr 15 at 22:00"},
		{"2026-04-15T15:00:00+05", "", "2026-04-15T15:00:00+05:00", "Once — Apr 15 at 15:00"},
		{"20260415T150000Z", "", "2026-04-15T15:00:00Z", "Once — Apr 15 at 15:00"},
		{"2026-04-15", "America/New_York", "2026-04-15T00:00:00-04:00", "Once — Apr 15 at 00:00"},
		{"2026-03-02T08:01", "", "2026-03-02T08:01:00Z", "Once — Mar 2 at 08:01"},
		{"2036-03-02T08:00", "", "2036-03-02T08:00:00Z", "Once — Mar 2 at 08:00"},
		// The clocks jump from 2:00 to 3:00, and from 3:00 back to 2:00.
		{"2026-03-29T02:30", "Europe/Vienna", "2026-03-29T03:00:00+02:00", "Once — Mar 29 at 03:00"},
		{"2026-10-25T02:30", "Europe/Vienna", "2026-10-25T02:30:00+02:00", "Once — Oct 25 at 02:30"},
		{"2026-10-25T02:30+01:00", "Europe/Vienna", "2026-10-25T02:30:00+01:00", "Once — Oct 25 at 02:30"},
		{"2026-03-08T02:00", "America/New_York", "2026-03-08T03:00:00-04:00", "Once — Mar 8 at 03:00"},
		{"2026-11-01T01:59", "America/New_York", "2026-11-01T01:59:00-04:00", "Once — Nov 1 at 01:59"},
		{"2026-09-06", "America/Santiago", "2026-09-06T01:00:00-03:00", "Once — Sep 6 at 01:00"}, // a day without a midnight
		// Expressions.
		{"0 9 * * *", "Europe/Vienna", "2026-03-03T09:00:00+01:00", "Daily at 09:00"},
		{" 5  9 * * 1-5 ", "", "2026-03-02T09:05:00Z", "Weekdays at 09:05"},
		{"0 9 * * MON-FRI", "", "2026-03-02T09:00:00Z", "Weekdays at 09:00"},
		{"30 18 * * mon", "", "2026-03-02T18:30:00Z", "Every Mon at 18:30"},
		{"30 18 ? * 0", "", "2026-03-08T18:30:00Z", "Every Sun at 18:30"},
		{"30 18 * * 7", "", "2026-03-08T18:30:00Z", "Every Sun at 18:30"},
		{"0 9 1 * *", "", "2026-04-01T09:00:00Z", "Monthly on the 1st at 09:00"},
		{"0 9 22 * ?", "", "2026-03-22T09:00:00Z", "Monthly on the 22nd at 09:00"},
		{"0 9 13 * *", "", "2026-03-13T09:00:00Z", "Monthly on the 13th at 09:00"},
		{"*/15 * * * *", "", "2026-03-02T08:15:00Z", "Custom (*/15 * * * *)"},
		{"0 9 1 1 *", "", "2027-01-01T09:00:00Z", "Custom (0 9 1 1 *)"},
		{"0 9 1 * 1", "", "2026-03-02T09:00:00Z", "Custom (0 9 1 * 1)"},
		{"0 9 * * 1,3", "", "2026-03-02T09:00:00Z", "Custom (0 9 * * 1,3)"},
		{"* * * * *", "", "2026-03-02T08:01:00Z", "Custom (* * * * *)"},
		{"@daily", "Asia/Kolkata", "2026-03-03T00:00:00+05:30", "Daily at 00:00"},
		{"@weekly", "", "2026-03-08T00:00:00Z", "Every Sun at 00:00"},
		{"@monthly", "", "2026-04-01T00:00:00Z", "Monthly on the 1st at 00:00"},
		{"@hourly", "Asia/Kolkata", "2026-03-02T14:00:00+05:30", "Custom (@hourly)"},
		{"@every 90m", "", "2026-03-02T09:30:30Z", "Custom (@every 90m)"},
		{"CRON_TZ=Europe/Vienna 0 9 * * *", "Asia/Kolkata", "2026-03-03T09:00:00+01:00", "Daily at 09:00"},
		{"TZ=Europe/Vienna 0 10 * * *", "", "2026-03-02T10:00:00+01:00", "Daily at 10:00"},
	} {
		p, err := readWhen(tt.when, loadT(t, tt.zone), now)
		if err != nil {
			t.Errorf("%q: %v", tt.when, err)
			continue
		}
		label := once(p.first)
		if p.schedule != nil {
			label = frequency(p.schedule.expression)
		}
		if got := p.first.Format(time.RFC3339); got != tt.first || label != tt.frequency {
			t.Errorf("%q in %q: %s, %q; want %s, %q", tt.when, tt.zone, got, label, tt.first, tt.frequency)
		}
	}
}

func TestReadWhenRefuses(t *testing.T) {
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ when, zone, says string }{
		{"", "", "give a cron expression"},
		{strings.Repeat("1", 129), "", "at most 128 characters"},
		{"tomorrow at nine", "", "neither a time nor a cron"},
		{"0 9 * *", "", "neither a time nor a cron"},
		{"0 0 9 * * *", "", "neither a time nor a cron"}, // no seconds
		{"61 9 * * *", "", "cannot be read"},
		{"0 9 30 2 *", "", "never comes due"},
		{"@every 30s", "", "a pause from 1m"},
		{"@every 1000000h", "", "a pause from 1m"},
		{"CRON_TZ=Atlantis/City 0 9 * * *", "", "no time zone"},
		{"CRON_TZ=Local 0 9 * * *", "", "no time zone"},
		{"CRON_TZ=Europe/Vienna", "", "cannot be read"},
		{"2026-03-02T08:00", "", "is past, it is 2026-03-02T08:00:00Z now"},
		{"2026-03-02T08:59", "Europe/Vienna", "2026-03-02T08:59:00+01:00 is past, it is 2026-03-02T09:00:00+01:00 now"},
		{"2026-03-02T10:00+05:00", "", "is past, it is 2026-03-02T13:00:00+05:00 now"},
		{"2026-03-02", "", "is past"},
		{"2036-03-02T08:01", "", "at most 10 years"},
		{"2026-13-01", "", "is no time"},
		{"2026-02-30T10:00", "", "is no time"},
		{"2026-04-15T25:00", "", "is no time"},
		{"2026/04/15 10:00", "", "is no time"},
		{"1776000000", "", "is no time"},
	} {
		_, err := readWhen(tt.when, loadT(t, tt.zone), now)
		wrong := (*ProblemError)(nil)
		if !errors.As(err, &wrong) || wrong.Field != "crontab" || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v; want %q", tt.when, err, tt.says)
		}
	}
}

// TestNext follows expressions over the days on which clocks change.
func TestNext(t *testing.T) {
	for _, tt := range []struct {
		expression, zone, from string
		want                   []string
	}{
		{"30 2 * * *", "Europe/Vienna", "2026-03-28T00:00:00Z", []string{"28T02:30+01:00", "29T03:00+02:00", "30T02:30+02:00"}},
		{"30 2 * * *", "Europe/Vienna", "2026-10-24T00:00:00Z", []string{"24T02:30+02:00", "25T02:30+02:00", "26T02:30+01:00"}},
		{"30 2 * * *", "Europe/Vienna", "2026-10-25T01:10:00Z", []string{"26T02:30+01:00"}}, // in the second hour
		{"0,30 2,3 * * *", "Europe/Vienna", "2026-03-29T00:00:00Z", []string{"29T03:00+02:00", "29T03:30+02:00", "30T02:00+02:00"}},
		{"*/30 * * * *", "Europe/Vienna", "2026-10-24T23:50:00Z", []string{
			"25T02:00+02:00", "25T02:30+02:00", "25T02:00+01:00", "25T02:30+01:00", "25T03:00+01:00"}},
		{"*/30 * * * *", "Europe/Vienna", "2026-03-29T00:30:00Z", []string{"29T03:00+02:00", "29T03:30+02:00"}},
		{"0 9 * * *", "America/New_York", "2026-03-07T12:00:00Z", []string{"07T09:00-05:00", "08T09:00-04:00", "09T09:00-04:00"}},
		{"0 9 * * *", "America/New_York", "2026-10-31T12:00:00Z", []string{"31T09:00-04:00", "01T09:00-05:00"}},
		{"15 1 * * *", "America/New_York", "2026-11-01T00:00:00Z", []string{"01T01:15-04:00", "02T01:15-05:00"}},
		{"0 9 * * 1-5", "Asia/Kolkata", "2026-03-06T03:30:00Z", []string{"09T09:00+05:30", "10T09:00+05:30"}},
		{"0 * * * *", "Asia/Kolkata", "2026-03-06T03:45:00Z", []string{"06T10:00+05:30", "06T11:00+05:30"}},
		{"15,40 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", []string{"04T02:30+11:00", "04T02:40+11:00", "05T02:15+11:00"}},
		{"@daily", "America/Santiago", "2026-09-05T12:00:00Z", []string{"06T01:00-03:00", "07T00:00-03:00"}},
		{"0 0 29 2 *", "UTC", "2026-03-01T00:00:00Z", []string{"29T00:00Z"}},
	} {
		s, err := parseSchedule(tt.expression, loadT(t, tt.zone))
		must(t, err)
		at := instantOf(t, tt.from)
		var got []string
		for range tt.want {
			at = s.next(at, at)
			got = append(got, at.In(s.loc).Format("02T15:04Z07:00"))
		}
		if strings.Join(got, " ") != strings.Join(tt.want, " ") {
			t.Errorf("%q in %s: %v, want %v", tt.expression, tt.zone, got, tt.want)
		}
	}
}

// TestEvery: the pauses count from the first time, however late the job runs.
func TestEvery(t *testing.T) {
	s, err := parseSchedule("@every 90m", time.UTC)
	must(t, err)
	due := start
	for late, want := range map[time.Duration]time.Duration{
		0: 90 * time.Minute, time.Second: 90 * time.Minute, 90 * time.Minute: 180 * time.Minute,
		-time.Hour: 90 * time.Minute, 100 * time.Hour: 100*time.Hour + 30*time.Minute,
	} {
		if got := s.next(due, due.Add(late)).Sub(due); got != want {
			t.Errorf("%v late: after %v, want %v", late, got, want)
		}
	}
}

func FuzzReadWhen(f *testing.F) {
	for _, seed := range []string{"0 9 * * *", "2026-04-15T15:00+02:00", "@every 1h", "CRON_TZ=UTC 1 1 1 1 1", "2026-04-15", "TZ= x", "* * 31 2 *", "20260415T1500Z", "@every 9999999h9m"} {
		f.Add(seed, int64(0))
	}
	zones := []*time.Location{nil, time.UTC, loadT(f, "Europe/Vienna"), loadT(f, "America/Santiago"), loadT(f, "Australia/Lord_Howe")}
	f.Fuzz(func(t *testing.T, text string, n int64) {
		now := start.Add(time.Duration(uint64(n)%(20*365*24*60)) * time.Minute)
		p, err := readWhen(text, zones[uint64(n)%uint64(len(zones))], now)
		if err != nil {
			return
		}
		if !p.first.After(now.Truncate(time.Second)) {
			t.Fatalf("%q at %s is first %s", text, now, p.first)
		}
		if p.schedule == nil {
			return
		}
		if second := p.schedule.next(p.first, p.first); !second.IsZero() && second.Sub(p.first) < time.Minute {
			t.Fatalf("%q fires at %s and %s", text, p.first, second)
		}
		// The stored expression parses to the same schedule.
		again, err := parseSchedule(p.schedule.expression, p.schedule.loc)
		if err != nil || !again.next(p.first, p.first).Equal(p.schedule.next(p.first, p.first)) {
			t.Fatalf("%q is stored as %q: %v", text, p.schedule.expression, err)
		}
	})
}
