package sqlite

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/store/internal/sqlgate"
)

// Times are texts in timeFormat, UTC; dates are their first ten characters.

var errNoTime = errors.New("a time is out of range")

func instant(v sqlite3.Value) (time.Time, error) {
	s := v.Text()
	if t, err := time.Parse(timeFormat, s); err == nil {
		return t, nil
	}
	if t, ok := sqlgate.ParseTime(s); ok {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("invalid input syntax for type timestamp: %.60q", s)
}

func putTime(c sqlite3.Context, t time.Time) error {
	if t.Year() < 1 || t.Year() > 9999 {
		return errNoTime
	}
	return c1(c, t.UTC().Format(timeFormat))
}

// timed returns a function that passes the argument at index at to fn as a time.
func timed(at int, fn func(c sqlite3.Context, t time.Time, a args) error) scalar {
	return func(c sqlite3.Context, a args) error {
		t, err := instant(a[at])
		if err != nil {
			return err
		}
		return fn(c, t, a)
	}
}

var timeFunctions = map[string]scalar{
	"p8_time": timed(0, func(c sqlite3.Context, t time.Time, _ args) error { return putTime(c, t) }),
	"p8_time_string": timed(0, func(c sqlite3.Context, t time.Time, _ args) error {
		return c1(c, t.Format("2006-01-02 15:04:05.999999-07"))
	}),
	"p8_time_json": timed(0, func(c sqlite3.Context, t time.Time, _ args) error {
		return c1(c, t.Format("2006-01-02T15:04:05.999999-07:00"))
	}),
	"p8_add": timed(0, func(c sqlite3.Context, t time.Time, a args) error {
		return putTime(c, add(t, a[1].Int64(), a[2].Int64(), a[3].Int64()))
	}),
	"p8_seconds": timed(0, func(c sqlite3.Context, t time.Time, a args) error {
		other, err := instant(a[1])
		if err != nil {
			return err
		}
		c.ResultFloat(float64(t.UnixMicro()-other.UnixMicro()) / 1e6)
		return nil
	}),
	"p8_date_trunc": timed(1, func(c sqlite3.Context, t time.Time, a args) error {
		t, err := truncate(a[0].Text(), t)
		if err != nil {
			return err
		}
		return putTime(c, t)
	}),
	"p8_extract": timed(1, func(c sqlite3.Context, t time.Time, a args) error {
		f, err := extract(a[0].Text(), t)
		if err != nil {
			return err
		}
		c.ResultFloat(f)
		return nil
	}),
	"p8_to_char": timed(0, func(c sqlite3.Context, t time.Time, a args) error {
		parts, _ := sqlgate.CharParts(a[1].Text())
		return c1(c, toChar(t, parts))
	}),
	"p8_from_epoch": func(c sqlite3.Context, a args) error {
		f := a[0].Float()
		if math.IsNaN(f) || math.Abs(f) > 3e11 {
			return errNoTime
		}
		return putTime(c, time.UnixMicro(int64(math.Round(f*1e6))).UTC())
	},
}

// add adds months, then days, then the rest; a day that the month does not have
// becomes its last one, as in PostgreSQL.
func add(t time.Time, months, days, micros int64) time.Time {
	if months != 0 {
		first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		t = first.AddDate(0, 0, min(t.Day(), last)-1)
	}
	return t.AddDate(0, 0, int(days)).Add(time.Duration(micros) * time.Microsecond)
}

func truncate(field string, t time.Time) (time.Time, error) {
	y, m, d := t.Date()
	date := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	switch field {
	case "year":
		return date(y, 1, 1), nil
	case "quarter":
		return date(y, (m-1)/3*3+1, 1), nil
	case "month":
		return date(y, m, 1), nil
	case "week":
		return date(y, m, d-(int(t.Weekday())+6)%7), nil
	case "day":
		return date(y, m, d), nil
	case "hour":
		return t.Truncate(time.Hour), nil
	case "minute":
		return t.Truncate(time.Minute), nil
	case "second":
		return t.Truncate(time.Second), nil
	}
	return t, fmt.Errorf("date_trunc() has no field %.30q", field)
}

func extract(field string, t time.Time) (float64, error) {
	isoYear, isoWeek := t.ISOWeek()
	switch field {
	case "year":
		return float64(t.Year()), nil
	case "isoyear":
		return float64(isoYear), nil
	case "quarter":
		return float64((t.Month()-1)/3 + 1), nil
	case "month":
		return float64(t.Month()), nil
	case "week":
		return float64(isoWeek), nil
	case "day":
		return float64(t.Day()), nil
	case "doy":
		return float64(t.YearDay()), nil
	case "dow":
		return float64(t.Weekday()), nil
	case "isodow":
		return float64((t.Weekday()+6)%7 + 1), nil
	case "hour":
		return float64(t.Hour()), nil
	case "minute":
		return float64(t.Minute()), nil
	case "second":
		return float64(t.Second()) + float64(t.Nanosecond()/1000)/1e6, nil
	case "epoch":
		return float64(t.UnixMicro()) / 1e6, nil
	}
	return 0, fmt.Errorf("extract() has no field %.30q", field)
}

// toChar fills in the parts of a pattern of to_char().
func toChar(t time.Time, parts []string) string {
	var b strings.Builder
	short := false
	for _, p := range parts {
		if p == "FM" {
			short = true
			continue
		}
		b.WriteString(charPart(t, p, short))
		short = false
	}
	return b.String()
}

func charPart(t time.Time, p string, short bool) string {
	number := func(width, n int) string {
		if short {
			width = 0
		}
		return fmt.Sprintf("%0*d", width, n)
	}
	word := func(width int, s string) string {
		if short {
			width = 0
		}
		switch {
		case p == strings.ToUpper(p):
			s = strings.ToUpper(s)
		case p == strings.ToLower(p):
			s = strings.ToLower(s)
		}
		return fmt.Sprintf("%-*s", width, s)
	}
	_, week := t.ISOWeek()
	switch {
	case p[0] == '"':
		return p[1:]
	case p == "YYYY":
		return number(4, t.Year())
	case p == "YY":
		return number(2, t.Year()%100)
	case p == "MM":
		return number(2, int(t.Month()))
	case p == "MI":
		return number(2, t.Minute())
	case p == "DDD":
		return number(3, t.YearDay())
	case p == "DD":
		return number(2, t.Day())
	case p == "D":
		return number(1, int(t.Weekday())+1)
	case p == "ID":
		return number(1, int(t.Weekday()+6)%7+1)
	case p == "IW":
		return number(2, week)
	case p == "Q":
		return number(1, int(t.Month()-1)/3+1)
	case p == "HH24":
		return number(2, t.Hour())
	case p == "HH12", p == "HH":
		return number(2, (t.Hour()+11)%12+1)
	case p == "SS":
		return number(2, t.Second())
	case p == "MS":
		return fmt.Sprintf("%03d", t.Nanosecond()/1e6)
	case p == "US":
		return fmt.Sprintf("%06d", t.Nanosecond()/1e3)
	case strings.EqualFold(p, "am"), strings.EqualFold(p, "pm"):
		if t.Hour() < 12 {
			return word(2, "AM")
		}
		return word(2, "PM")
	case strings.EqualFold(p, "month"):
		return word(9, t.Month().String())
	case strings.EqualFold(p, "mon"):
		return word(3, t.Format("Jan"))
	case strings.EqualFold(p, "day"):
		return word(9, t.Weekday().String())
	}
	return word(3, t.Format("Mon"))
}
