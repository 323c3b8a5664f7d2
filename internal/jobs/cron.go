package jobs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
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
	if zone, _, found := strings.Cut(expression, " "); !found && strings.Contains(zone, "TZ=") {
		return nil, unreadable("only a time zone") // on which the parser panics
	}
	s, err := cron.NewParser(fields).Parse(sunday(expression))
	if err != nil {
		return nil, unreadable(err.Error())
	}
	if s.Next(time.Now()).IsZero() {
		return nil, fmt.Errorf("jobs: the cron expression %q never comes due", expression)
	}
	return s, nil
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
			continue // which the parser says
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
