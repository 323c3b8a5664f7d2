package zone

import (
	"sort"
	"time"
)

// DayBegin returns the first second of a date, given as its midnight in UTC, in a zone. It is not always midnight: where clocks
// change at midnight, they skip it or show it twice.
func DayBegin(date time.Time, at *time.Location) time.Time {
	want := date.Format(time.DateOnly)
	// No zone is more than 36 hours from UTC.
	from := date.Add(-36 * time.Hour)
	n := sort.Search(72*60*60, func(i int) bool {
		return from.Add(time.Duration(i)*time.Second).In(at).Format(time.DateOnly) >= want
	})
	return from.Add(time.Duration(n) * time.Second)
}
