// Package field checks single fields of bodies and parameters of queries. Each check
// returns nil, or the problem that names the field.
package field

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/zone"
	"github.com/p8-org/p8/store"
)

const (
	// maxTags bounds the entries of a list of tags, maxTag the characters of each.
	maxTags = 50
	maxTag  = 100
	// maxMetadata bounds an object of metadata, in bytes.
	maxMetadata = 64 << 10
)

// Tags returns the entries of a list, trimmed and without empty ones.
func Tags(param string, list []string) ([]string, *problem.Problem) {
	var out []string
	for _, tag := range list {
		if tag = strings.TrimSpace(tag); tag == "" {
			continue
		}
		if p := Longer(param, tag, maxTag); p != nil {
			return nil, p
		}
		out = append(out, tag)
	}
	if len(out) > maxTags {
		return nil, problem.Invalid(param, "%s has %d entries; at most %d are allowed", param, len(out), maxTags)
	}
	return out, nil
}

// Longer refuses a text of more than most characters.
func Longer(param, value string, most int) *problem.Problem {
	if n := utf8.RuneCountInString(value); n > most {
		return problem.Invalid(param, "%s has %d characters; at most %d are allowed", param, n, most)
	}
	return nil
}

// Identifier refuses an id that no row can have; "" is allowed.
func Identifier(param, value string) *problem.Problem {
	if value == "" {
		return nil
	}
	if err := identity.ValidateID(param, value); err != nil {
		return problem.Invalid(param, "%s", err)
	}
	return nil
}

// Mode refuses a session's mode that a client cannot choose; "" is allowed.
func Mode(param, value string) *problem.Problem {
	if store.IsBackground(value) {
		return problem.Invalid(param, "%s is %s, the mode of p8's own background work; choose a word of your own, such as support", param, value)
	}
	return Identifier(param, value)
}

// Metadata refuses metadata that are no object or too large, and makes null empty.
func Metadata(raw *json.RawMessage) *problem.Problem {
	if string(*raw) == "null" {
		*raw = nil
	}
	if len(*raw) > 0 && !web.IsObject(*raw) {
		return problem.Invalid("metadata", "metadata must be an object")
	}
	return MetadataSize(*raw)
}

// MetadataSize refuses metadata that are too large.
func MetadataSize(raw json.RawMessage) *problem.Problem {
	if len(raw) > maxMetadata {
		return problem.Invalid("metadata", "metadata is larger than %d bytes", maxMetadata)
	}
	return nil
}

// Time reads a time, or a day, which begins in UTC; "" is the zero time.
func Time(param, value string) (time.Time, *problem.Problem) {
	if value == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, value); err == nil {
			return t, nil
		}
	}
	return time.Time{}, problem.Invalid(param, "%s is %q; it is a day such as 2026-02-21, or a time such as 2026-02-21T09:00:00Z", param, web.Cut(value))
}

// End reads the time at which something ends, nil for never. An empty text is a mistake: taken
// for never, it would make a key or a share that does not end.
func End(param string, value *string) (time.Time, *problem.Problem) {
	if value == nil {
		return time.Time{}, nil
	}
	at, p := Time(param, *value)
	if p == nil && at.IsZero() {
		p = problem.Invalid(param, "%s is %q; it is a time such as 2026-02-21T09:00:00Z, or leave it out for no end", param, web.Cut(*value))
	}
	return at, p
}

// Day refuses a text that is no day; "" is allowed.
func Day(param, value string) *problem.Problem {
	if value == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, value); err != nil {
		return problem.Invalid(param, "%s is %q; it is a day such as 2026-02-21", param, web.Cut(value))
	}
	return nil
}

// Zone returns the time zone of an IANA name, nil for "". It refuses "Local", which
// would show the server's own zone.
func Zone(param, name string) (*time.Location, *problem.Problem) {
	if name == "" {
		return nil, nil
	}
	if at, err := zone.Named(name); err == nil {
		return at, nil
	}
	return nil, problem.Invalid(param, "there is no time zone %q; use an IANA name such as Europe/Berlin", web.Cut(name))
}
