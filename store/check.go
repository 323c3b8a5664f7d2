package store

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Bounds of a row's values.
const (
	maxSessionID = 128
	maxName      = 255
	// maxText bounds a content or JSON column, in bytes.
	maxText = 32 << 20
	// maxParts bounds the images and documents of a message, in bytes of JSON.
	maxParts = 24 << 20
	// maxList bounds the edges, tags and other lists of a row.
	maxList = 10_000
)

// CheckSessionID returns an error, which wraps [ErrInvalid], unless the id is 1-128
// printable characters.
func CheckSessionID(id string) error {
	if !printable(id, maxSessionID) {
		return invalidf("a session id must be 1-%d printable characters", maxSessionID)
	}
	return nil
}

// printable reports whether s is 1-limit characters that can be seen (spaces
// included, control characters and invalid UTF-8 not).
func printable(s string, limit int) bool {
	if s == "" || len(s) > 4*limit || !utf8.ValidString(s) {
		return false
	}
	n := 0
	for _, r := range s {
		if n++; !unicode.IsPrint(r) {
			return false
		}
	}
	return n <= limit
}

// checkID accepts a UUID in lower case.
func checkID(id string) error {
	if u, err := uuid.Parse(id); err != nil || u.String() != id {
		return invalidf("the id %.64q is not a UUID in lower case", id)
	}
	return nil
}

// checkJSON accepts JSON, and makes it storable in every engine: PostgreSQL's
// JSONB has neither NUL nor half of a surrogate pair, so both become U+FFFD
// everywhere; so does what would make a text look like a sealed value.
func checkJSON(field string, raw *json.RawMessage) error {
	if len(*raw) > maxText {
		return invalidf("%s is larger than %d MiB", field, maxText>>20)
	}
	if len(*raw) > 0 && (!json.Valid(*raw) || !utf8.Valid(*raw)) {
		return invalidf("%s is not JSON", field)
	}
	if bytes.Contains(*raw, []byte(sealMark)) {
		*raw = bytes.ReplaceAll(*raw, []byte(sealMark), []byte("\uFFFD"))
	}
	*raw = cleanEscapes(*raw)
	return nil
}

// cleanEscapes replaces the escapes of characters that no text may hold, in a
// copy.
func cleanEscapes(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	escape := func(i int) rune {
		if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	copied := false
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		r := escape(i)
		switch {
		case r < 0:
			i++ // the escaped character
			continue
		case utf16.DecodeRune(r, escape(i+6)) != unicode.ReplacementChar:
			i += 11
			continue
		case r == 0, r == sealRune, utf16.IsSurrogate(r):
			if !copied {
				raw, copied = bytes.Clone(raw), true
			}
			copy(raw[i:], `\ufffd`)
		}
		i += 5
	}
	return raw
}

func checkObject(field string, raw *json.RawMessage) error { return checkStart(field, raw, '{') }

// checkParts accepts a list that is not too long.
func checkParts(raw *json.RawMessage) error {
	if len(*raw) > maxParts {
		return invalidf("the images and documents of a message are larger than %d MiB", maxParts>>20)
	}
	return checkStart("parts", raw, '[')
}

// checkStart accepts an object ('{') or a list ('[').
func checkStart(field string, raw *json.RawMessage, start byte) error {
	if err := checkJSON(field, raw); err != nil || len(*raw) == 0 {
		return err
	}
	if bytes.TrimLeft(*raw, " \t\r\n")[0] != start {
		return invalidf("%s is not a JSON %s", field, map[byte]string{'{': "object", '[': "list"}[start])
	}
	return nil
}

// checkRating accepts 0, which is no rating, and least to 5.
func checkRating(rating, least int) error {
	if rating != 0 && (rating < least || rating > 5) {
		return invalidf("rating must be %d to 5, or 0 for none", least)
	}
	return nil
}

// cleanList cleans each text of a list, in place.
func cleanList(field string, list []string) error {
	if len(list) > maxList {
		return invalidf("%s has %d entries, more than %d", field, len(list), maxList)
	}
	for i := range list {
		if err := cleanText(field, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// firstError returns the first error that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// cleanText makes a text storable in every engine: PostgreSQL takes neither
// NUL nor invalid UTF-8, so both become U+FFFD everywhere. It removes what would make it look
// like a sealed value.
func cleanText(field string, s *string) error {
	if len(*s) > maxText {
		return invalidf("%s is larger than %d MiB", field, maxText>>20)
	}
	if !utf8.ValidString(*s) {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	*s = strings.TrimLeft(*s, sealMark)
	if strings.IndexByte(*s, 0) >= 0 {
		*s = strings.ReplaceAll(*s, "\x00", "\uFFFD")
	}
	return nil
}

func cleanTexts(fields ...any) error {
	for i := 0; i < len(fields); i += 2 {
		if err := cleanText(fields[i].(string), fields[i+1].(*string)); err != nil {
			return err
		}
	}
	return nil
}

// A cursor is the sort key of the last row, opaque to clients.
func newCursor(parts ...string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, "\n")))
}

func openCursor(cursor string, n int) ([]string, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	parts := strings.Split(string(b), "\n")
	if err != nil || len(parts) != n || !utf8.Valid(b) {
		return nil, invalidf("the cursor is not one that this list returned")
	}
	return parts, nil
}

// page returns a limit in 1…most, def when none is given.
func page(limit, def, most int) int {
	if limit <= 0 {
		return def
	}
	return min(limit, most)
}
