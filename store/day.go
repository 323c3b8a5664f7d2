package store

import (
	"time"

	"github.com/p8-org/p8/internal/zone"
)

// day is a date in a zone: the time from begin to before end.
type day struct {
	date       string
	begin, end time.Time
}

// openDay returns the day of a date in a zone, nil for UTC.
func openDay(date string, zone *time.Location) (day, error) {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil || t.Year() < 1 || !t.Before(lastTime.AddDate(0, 0, -2)) {
		return day{}, invalidf("%.32q is not a date like 2026-02-21", date)
	}
	return newDay(t, zone), nil
}

// dayOf returns the day of a time.
func dayOf(at time.Time, zone *time.Location) day {
	if zone == nil {
		zone = time.UTC
	}
	y, m, n := at.In(zone).Date()
	d := newDay(time.Date(y, m, n, 0, 0, 0, 0, time.UTC), zone)
	// If clocks were set back over midnight, the repeated minutes before midnight belong
	// to the day that was repeated.
	switch date, _ := time.Parse(time.DateOnly, d.date); {
	case at.Before(d.begin):
		return newDay(date.AddDate(0, 0, -1), zone)
	case !at.Before(d.end):
		return newDay(date.AddDate(0, 0, 1), zone)
	}
	return d
}

// newDay returns the day of a date, given as that date's midnight in UTC.
func newDay(date time.Time, at *time.Location) day {
	if at == nil {
		at = time.UTC
	}
	return day{date.Format(time.DateOnly), zone.DayBegin(date, at), zone.DayBegin(date.AddDate(0, 0, 1), at)}
}
