package sqlgate

import (
	"strconv"
	"strings"
	"time"
)

// castTypes are the types that a cast may name.
var castTypes = map[string]Type{
	"text": Text, "varchar": Text, "char": Text,
	"int": Integer, "integer": Integer, "bigint": Integer, "smallint": Integer, "int2": Integer, "int4": Integer, "int8": Integer,
	"numeric": Number, "decimal": Number, "float": Number, "real": Number, "float4": Number, "float8": Number, "double precision": Number,
	"boolean": Boolean, "bool": Boolean,
	"timestamp": Timestamp, "timestamptz": Timestamp, "timestamp with time zone": Timestamp, "timestamp without time zone": Timestamp,
	"date": Date, "interval": Interval,
	"json": JSON, "jsonb": JSON,
}

func (p *parser) castCall() (expr, *fault) {
	at := p.next().at
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	if err := p.expect("as"); err != nil {
		return nil, err
	}
	e, err := p.castTo(at, x)
	if err != nil {
		return nil, err
	}
	return e, p.expectSymbol(")")
}

func (p *parser) castTo(at int, x expr) (expr, *fault) {
	t := p.next()
	if t.kind != word {
		return nil, faultf(t.at, "write a type: text, int, numeric, boolean, timestamp, date, interval or jsonb")
	}
	to := t.text
	switch {
	case to == "double" && p.accept("precision"):
		to = "double precision"
	case to == "character" && p.accept("varying"), to == "character":
		to = "varchar"
	}
	var args []int
	if p.isSymbol("(") {
		p.next()
		for {
			n := p.next()
			v, err := strconv.Atoi(n.text)
			if n.kind != number || err != nil || v > 1000 || len(args) == 2 {
				return nil, faultf(n.at, "the length of a type is a whole number up to 1000")
			}
			args = append(args, v)
			if !p.acceptSymbol(",") {
				break
			}
		}
		if err := p.expectSymbol(")"); err != nil {
			return nil, err
		}
	}
	if to == "timestamp" && p.accept("with", "time", "zone") {
		to = "timestamptz"
	} else if to == "timestamp" {
		p.accept("without", "time", "zone")
	}
	if p.isSymbol("[") {
		return nil, faultf(t.at, "array types are not available; lists are JSON here: use jsonb_array_elements_text()")
	}
	return castOf(at, x, to, args)
}

func castOf(at int, x expr, to string, args []int) (expr, *fault) {
	typ, ok := castTypes[to]
	if !ok {
		return nil, faultf(at, "a cast to %s is not available; types are text, int, numeric, boolean, timestamp, date, interval and jsonb", to)
	}
	if len(args) > 0 && to != "varchar" && to != "char" && to != "numeric" && to != "decimal" ||
		len(args) > 1 && typ == Text {
		return nil, faultf(at, "the type %s takes no length here", to)
	}
	if typ == Text && len(args) == 1 && args[0] == 0 {
		return nil, faultf(at, "a length is 1 at least")
	}
	if l, ok := x.(*literal); ok && typ == Interval && l.kind == str {
		return intervalOf(at, l.text)
	}
	if to == "timestamp" {
		// All times are in UTC.
		to = "timestamptz"
	}
	if to == "json" {
		to = "jsonb"
	}
	return &cast{info: info{at, typ}, x: x, to: to, args: args}, nil
}

func (p *parser) interval(t token) (expr, *fault) {
	e, err := intervalOf(t.at, t.text)
	if err != nil {
		return nil, err
	}
	// INTERVAL '7' DAY
	if u := p.peek(); u.kind == word {
		if _, ok := units[strings.TrimSuffix(u.text, "s")]; ok {
			if _, number := strconv.Atoi(strings.TrimSpace(t.text)); number == nil {
				p.next()
				return intervalOf(t.at, t.text+" "+u.text)
			}
		}
	}
	if e.months == 0 && e.days == 0 && e.micros == 0 && strings.TrimSpace(t.text) == "" {
		return nil, faultf(t.at, "an interval is like INTERVAL '7 days'")
	}
	return e, nil
}

// units are the parts of an interval: months, days or microseconds.
var units = map[string][3]int64{
	"microsecond": {0, 0, 1}, "millisecond": {0, 0, 1000},
	"second": {0, 0, 1e6}, "sec": {0, 0, 1e6}, "minute": {0, 0, 60e6}, "min": {0, 0, 60e6},
	"hour": {0, 0, 3600e6}, "hr": {0, 0, 3600e6}, "h": {0, 0, 3600e6},
	"day": {0, 1, 0}, "week": {0, 7, 0},
	"month": {1, 0, 0}, "mon": {1, 0, 0}, "quarter": {3, 0, 0}, "year": {12, 0, 0}, "yr": {12, 0, 0}, "decade": {120, 0, 0},
}

// intervalOf reads "1 year 2 days", "-3 hours", "12:30:00", "90".
func intervalOf(at int, text string) (*interval, *fault) {
	i := &interval{info: info{at, Interval}, text: text}
	bad := faultf(at, "the interval %.60q is not understood; write whole numbers and units: '7 days', '1 month', '12 hours'", text)
	fields := strings.Fields(lowerASCII(text))
	for n := 0; n < len(fields); n++ {
		f := fields[n]
		if strings.Contains(f, ":") {
			t, err := time.Parse("15:04:05", f)
			if err != nil {
				if t, err = time.Parse("15:04", f); err != nil {
					return nil, bad
				}
			}
			i.micros += (int64(t.Hour())*3600 + int64(t.Minute())*60 + int64(t.Second())) * 1e6
			continue
		}
		v, err := strconv.ParseInt(f, 10, 32)
		if err != nil {
			return nil, bad
		}
		unit := "second"
		if n+1 < len(fields) {
			n++
			unit = strings.TrimSuffix(fields[n], "s")
		}
		u, ok := units[unit]
		if !ok || v > 100_000_000 || v < -100_000_000 {
			return nil, bad
		}
		i.months += v * u[0]
		i.days += v * u[1]
		i.micros += v * u[2]
	}
	if i.months > 12*10_000 || i.months < -12*10_000 || i.days > 4_000_000 || i.days < -4_000_000 {
		return nil, faultf(at, "the interval %.60q is too long", text)
	}
	return i, nil
}

// Layout and dateLayout are the formats of times and dates in the SQLite store.
const (
	Layout     = "2006-01-02 15:04:05.000000"
	dateLayout = "2006-01-02"
)

var layouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07", "2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999", "2006-01-02 15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
}

// ParseTime reads a time as people and models write it; without a zone it is
// UTC.
func ParseTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, l := range layouts {
		if t, err := time.Parse(l, s); err == nil {
			t = t.UTC().Round(time.Microsecond) // may be in another year
			return t, t.Year() > 0 && t.Year() < 10000
		}
	}
	return time.Time{}, false
}
