package zone

import (
	"sort"
	"time"
)

// DayBegin returns the first second of a date, given as its midnight in UTC, in a zone. It
// is not always midnight: where clocks change at midnight, they skip it or show it twice.
func DayBegin(date time.Time, at *time.Location) time.Time {
	// No zone is more than 36 hours from UTC.
	from := date.Add(-36 * time.Hour)
	n := sort.Search(72*60*60, func(i int) bool {
		y, m, d := from.Add(time.Duration(i) * time.Second).In(at).Date()
		return !time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Before(date)
	})
	return from.Add(time.Duration(n) * time.Second)
}
