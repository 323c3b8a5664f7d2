package jobs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/p8-org/p8/internal/zone"
)

// ParseCron reads a cron expression as [Schedule] describes it. Sunday is 0 or 7.
func ParseCron(expression string) (interface{ Next(time.Time) time.Time }, error) {
	const fields = cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor
	if len(expression) > 128 {
		return nil, errors.New("jobs: a cron expression has at most 128 bytes")
	}
	unreadable := func(problem string) error {
		return fmt.Errorf("jobs: the cron expression %q cannot be read (%s): write minute, hour, day of month, month, day of week, as in \"0 6 * * 1-5\"", expression, clean(problem))
	}
	// The parser would know the zones of the machine only.
	text, at := expression, time.Local
	if head, rest, found := strings.Cut(expression, " "); strings.HasPrefix(head, "TZ=") || strings.HasPrefix(head, "CRON_TZ=") {
		if !found {
			return nil, unreadable("only a time zone")
		}
		named, err := zone.Load(head[strings.IndexByte(head, '=')+1:])
		if err != nil {
			return nil, unreadable("there is no such time zone")
		}
		text, at = strings.TrimSpace(rest), named
	}
	s, err := cron.NewParser(fields).Parse(sunday(text))
	if err != nil {
		return nil, unreadable(misread(text))
	}
	if s, ok := s.(*cron.SpecSchedule); ok {
		s.Location = at
	}
	if s.Next(time.Now()).IsZero() {
		return nil, fmt.Errorf("jobs: the cron expression %q never comes due", expression)
	}
	return s, nil
}

// misread returns the error of an expression that cannot be parsed.
func misread(text string) string {
	list := strings.Fields(text)
	switch {
	case strings.HasPrefix(text, "@every"):
		return "the pause after @every is not one such as 90m or 24h"
	case strings.HasPrefix(text, "@"):
		return "the macros are @hourly, @daily, @weekly, @monthly, @yearly and @every"
	}
	names := [...]struct{ field, values string }{
		{"minute", "0-59"}, {"hour", "0-23"}, {"day of month", "1-31"}, {"month", "1-12 or JAN-DEC"}, {"day of week", "0-7 or SUN-SAT"},
	}
	if len(list) != len(names) {
		return fmt.Sprintf("it has %d fields, not %d", len(list), len(names))
	}
	for i, name := range names {
		only := []string{"*", "*", "*", "*", "*"}
		only[i] = list[i]
		if _, err := cron.ParseStandard(sunday(strings.Join(only, " "))); err != nil {
			return fmt.Sprintf("the %s is %s, which is not of %s", name.field, list[i], name.values)
		}
	}
	return "its fields do not fit together"
}

// sunday replaces 7 by 0 among the days of the week: cron takes both for Sunday.
func sunday(expression string) string {
	fields := strings.Fields(expression)
	if len(fields) == 0 || !strings.Contains(fields[len(fields)-1], "7") || strings.HasPrefix(fields[0], "@") {
		return expression
	}
	days := strings.Split(fields[len(fields)-1], ",")
	for i, part := range days {
		span, step, stepped := strings.Cut(part, "/")
		from, to, _ := strings.Cut(span, "-")
		if from == "7" && (to == "" || to == "7") && !stepped {
			days[i] = "0"
		}
		first, known := weekday(from)
		if to != "7" || !known {
			continue
		}
		by, err := strconv.Atoi(step)
		if !stepped {
			by, err = 1, nil
		}
		if err != nil || by < 1 {
			continue // the parser reports it
		}
		var each []string
		for day := first; day <= 7; day += by {
			each = append(each, strconv.Itoa(day%7))
		}
		days[i] = strings.Join(each, ",")
	}
	fields[len(fields)-1] = strings.Join(days, ",")
	return strings.Join(fields, " ")
}

// weekday is the number of a day of the week, 0 for Sunday.
func weekday(text string) (int, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if text == strconv.Itoa(int(d)) || strings.EqualFold(text, d.String()[:3]) {
			return int(d), true
		}
	}
	return 0, false
}
