package reminder

import (
	"strings"
	"time"

	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/zone"
)

// furthest bounds how far ahead a reminder may be, and the pause of @every.
const furthestYears = 10

// schedule computes when a reminder fires again.
type schedule struct {
	expression string
	loc        *time.Location
	cron       interface{ Next(time.Time) time.Time }
	// every is the pause of @every, 0 for an expression by the clock.
	every time.Duration
	// hourly expressions fire in every hour, so also in the one that clocks show
	// twice.
	hourly bool
}

// parseSchedule parses a cron expression, in loc unless it says CRON_TZ.
func parseSchedule(text string, loc *time.Location) (*schedule, error) {
	s := &schedule{expression: strings.Join(strings.Fields(text), " "), loc: loc}
	if head, rest, ok := strings.Cut(s.expression, " "); ok {
		if _, name, found := strings.Cut(head, "TZ="); found {
			named, err := zone.Named(name)
			if err != nil {
				return nil, problem("crontab", "there is no time zone %.64q", name)
			}
			s.expression, s.loc = rest, named
		}
	}
	parsed, err := jobs.ParseCron(s.expression)
	if err != nil {
		return nil, problem("crontab", "%s", strings.TrimPrefix(err.Error(), "jobs: "))
	}
	s.cron = parsed
	if pause, ok := strings.CutPrefix(s.expression, "@every "); ok {
		every, err := time.ParseDuration(pause)
		if err != nil || every < time.Minute || every > furthestYears*365*24*time.Hour {
			return nil, problem("crontab", "@every takes a pause from 1m to %d years, such as @every 90m", furthestYears)
		}
		s.every = every.Truncate(time.Second)
		return s, nil
	}
	hour := fields(s.expression)[1]
	s.hourly = hour == "*" || hour == "?" || hour == "*/1"
	return s, nil
}

// next returns the first time after now, zero for none. due is any earlier time of the
// reminder, from which the pauses of @every count.
//
// An expression names local times. As in cron, a local time that occurs twice fires
// the first time, and one that is skipped fires at the jump.
func (s *schedule) next(due, now time.Time) time.Time {
	now = later(due, now)
	switch {
	case s.every > 0:
		return due.Add((now.Sub(due)/s.every + 1) * s.every).In(s.loc)
	case s.hourly:
		return s.cron.Next(now.In(s.loc))
	}
	const most = 2 * 24 * 60 // minutes of a long jump back
	wall := wallOf(now.In(s.loc))
	for range most {
		if wall = s.cron.Next(wall); wall.IsZero() {
			break
		}
		if t := instant(wall, s.loc); t.After(now) {
			return t
		}
	}
	return time.Time{}
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fields returns the five fields of an expression, also of a macro.
func fields(expression string) []string {
	switch expression {
	case "@hourly":
		expression = "0 * * * *"
	case "@daily", "@midnight":
		expression = "0 0 * * *"
	case "@weekly":
		expression = "0 0 * * 0"
	case "@monthly":
		expression = "0 0 1 * *"
	case "@yearly", "@annually":
		expression = "0 0 1 1 *"
	}
	return strings.Fields(expression)
}
