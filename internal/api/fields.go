package api

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/identity"
)

// The bounds of a list of topics.
const (
	maxTopics = 50
	maxTopic  = 100
)

// tags are the texts of a list without spaces around them and without empty ones.
func tags(param string, list []string) ([]string, *failure) {
	var out []string
	for _, tag := range list {
		if tag = strings.TrimSpace(tag); tag == "" {
			continue
		}
		if f := longer(param, tag, maxTopic); f != nil {
			return nil, f
		}
		out = append(out, tag)
	}
	if len(out) > maxTopics {
		return nil, invalid(param, "%s has %d entries; at most %d are allowed", param, len(out), maxTopics)
	}
	return out, nil
}

// longer is what is wrong with a text of more than that many characters.
func longer(param, value string, most int) *failure {
	if n := utf8.RuneCountInString(value); n > most {
		return invalid(param, "%s has %d characters; at most %d are allowed", param, n, most)
	}
	return nil
}

// identifier is what is wrong with an id that may be left out.
func identifier(param, value string) *failure {
	if value == "" {
		return nil
	}
	if err := identity.ValidateID(param, value); err != nil {
		return invalid(param, "%s", err)
	}
	return nil
}

// metadata is what is wrong with an object that may be left out; null is none.
func metadata(raw *json.RawMessage) *failure {
	switch {
	case string(*raw) == "null":
		*raw = nil
	case len(*raw) > 0 && !isObject(*raw):
		return invalid("metadata", "metadata must be an object")
	case len(*raw) > maxMomentMetadata:
		return tooMuchMetadata()
	}
	return nil
}

func tooMuchMetadata() *failure {
	return invalid("metadata", "metadata is larger than %d bytes", maxMomentMetadata)
}

// moment is a time, or the beginning of a day in UTC; none for "".
func moment(param, value string) (time.Time, *failure) {
	if value == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, value); err == nil {
			return t, nil
		}
	}
	return time.Time{}, invalid(param, "%s is %q; it is a day such as 2026-02-21, or a time such as 2026-02-21T09:00:00Z", param, cut(value))
}

// day is what is wrong with a day that may be left out.
func day(param, value string) *failure {
	if value == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, value); err != nil {
		return invalid(param, "%s is %q; it is a day such as 2026-02-21", param, cut(value))
	}
	return nil
}

// zone is a time zone by its IANA name, UTC for "". The server's own is no business
// of a client.
func zone(param, name string) (*time.Location, *failure) {
	if name != "Local" {
		if at, err := time.LoadLocation(name); err == nil {
			return at, nil
		}
	}
	return nil, invalid(param, "there is no time zone %q; use an IANA name such as Europe/Berlin", cut(name))
}
