package zone

import (
	"testing"
	"time"
)

func TestDayBegin(t *testing.T) {
	for _, test := range []struct{ zone, date, want string }{
		{"UTC", "2026-11-20", "2026-11-20T00:00:00Z"},
		{"Europe/Berlin", "2026-11-20", "2026-11-19T23:00:00Z"},
		{"Pacific/Kiritimati", "2026-11-20", "2026-11-19T10:00:00Z"},
		{"Pacific/Pago_Pago", "2026-11-20", "2026-11-20T11:00:00Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z"}, // clocks skip midnight
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z"},   // 00:00 to 01:00 comes twice
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"},     // there was no such day
		{"UTC", "0001-01-02", "0001-01-02T00:00:00Z"},
	} {
		at, err := Named(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		date, err := time.Parse(time.DateOnly, test.date)
		if err != nil {
			t.Fatal(err)
		}
		if got := DayBegin(date, at).UTC().Format(time.RFC3339); got != test.want {
			t.Errorf("%s in %s begins at %s, want %s", test.date, test.zone, got, test.want)
		}
	}
	after := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := DayBegin(after, time.UTC); !got.Equal(after) {
		t.Errorf("the year 10000 begins at %s", got)
	}
}
