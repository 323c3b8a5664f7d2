package reminder

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/zone"
)

// zone returns the time zone of a request, else of the caller's profile, else nil.
func (s *Service) zone(ctx context.Context, named string) (*time.Location, error) {
	named = strings.TrimSpace(named)
	if named == "" {
		return s.users.Zone(ctx, s.log)
	}
	loc, err := zone.Named(named)
	if err != nil {
		return nil, problem("timezone", "there is no time zone %.64q: give an IANA name such as Europe/Vienna, or leave it out", named)
	}
	return loc, nil
}

// instant returns the time at which clocks of a zone show a wall time, given as if it
// were UTC: the first of two, and for a skipped one the moment of the jump.
func instant(wall time.Time, loc *time.Location) time.Time {
	const day = 24 * time.Hour
	before, after := offset(wall.Add(-day), loc), offset(wall.Add(day), loc)
	for _, o := range []time.Duration{before, after} {
		if t := wall.Add(-o); offset(t, loc) == o {
			return t.In(loc)
		}
	}
	jump, _ := wall.Add(-before).In(loc).ZoneBounds()
	return jump
}

func offset(t time.Time, loc *time.Location) time.Duration {
	_, seconds := t.In(loc).Zone()
	return time.Duration(seconds) * time.Second
}

// wallOf returns the wall time of t in its zone, as if it were UTC.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// zoneName returns the IANA name of a zone, or its offset.
func zoneName(t time.Time) string {
	return cmp.Or(t.Location().String(), fmt.Sprintf("UTC%s", t.Format("-07:00")))
}
