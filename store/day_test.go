package store

import (
	"testing"
	"time"
	_ "time/tzdata"
)

// Days follow one another without a gap, whatever clocks do at midnight.
func TestDays(t *testing.T) {
	for _, test := range []struct {
		zone, date string
		hours      float64
		begin      string
	}{
		{"UTC", "2026-02-21", 24, "2026-02-21T00:00:00Z"},
		{"Europe/Berlin", "2026-03-29", 23, "2026-03-28T23:00:00Z"},
		{"Europe/Berlin", "2026-10-25", 25, "2026-10-24T22:00:00Z"},
		{"America/New_York", "2026-11-01", 25, "2026-11-01T04:00:00Z"},
		{"Asia/Kathmandu", "2026-01-01", 24, "2025-12-31T18:15:00Z"},
		// Midnight is passed over, and seen twice.
		{"America/Sao_Paulo", "2018-11-04", 23, "2018-11-04T03:00:00Z"},
		{"America/Sao_Paulo", "2018-02-17", 25, "2018-02-17T02:00:00Z"},
		{"America/Havana", "2025-11-02", 25, "2025-11-02T04:00:00Z"},
		{"Africa/Cairo", "2026-04-24", 23, "2026-04-23T22:00:00Z"},
		// A day that never was.
		{"Pacific/Apia", "2011-12-30", 0, "2011-12-30T10:00:00Z"},
	} {
		zone, err := time.LoadLocation(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		d, err := openDay(test.date, zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.begin.Format(time.RFC3339); got != test.begin || d.end.Sub(d.begin).Hours() != test.hours {
			t.Errorf("%s in %s begins at %s and has %v", test.date, test.zone, got, d.end.Sub(d.begin))
		}
		// Each moment of some days is of the day that has it.
		for at := d.begin.AddDate(0, 0, -2); at.Before(d.end.AddDate(0, 0, 2)); at = at.Add(7 * time.Minute) {
			if x := dayOf(at, zone); at.Before(x.begin) || !at.Before(x.end) {
				t.Fatalf("%s in %s is of %s, which has %s to %s", at, test.zone, x.date, x.begin, x.end)
			}
		}
	}
	for _, date := range []string{"", "2026-02-30", "2026-2-1", "yesterday", "0000-01-01", "9999-12-31", "2026-02-21T00:00:00Z"} {
		if _, err := openDay(date, nil); err == nil {
			t.Errorf("%q is a day", date)
		}
	}
}
