package inbound

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// ResponseID is the id of a response: a part of a run. Everything that p8 needs to know of
// a response is in it, so that no table of responses is needed.
type ResponseID struct {
	RunID string
	// Past is the number of the last event before the part; 0 for the first part.
	Past int64
	// Background: the client reads only stored events.
	Background bool
	// Unstored: the client asked that the response is not kept.
	Unstored bool
}

const (
	responsePrefix   = "resp_"
	markBackground   = "_bg"
	markUnstored     = "_tmp"
	uuidHex          = 32
	maxResponseID    = 80
	partMark         = "_p"
	firstDash        = 8
	dashes           = 4
	betweenTwoDashes = 4
)

// String returns the id: resp_, the run's id without dashes, and what differs from an
// ordinary response.
func (id ResponseID) String() string {
	s := responsePrefix + strings.ReplaceAll(id.RunID, "-", "")
	if id.Past > 0 {
		s += partMark + strconv.FormatInt(id.Past, 10)
	}
	if id.Background {
		s += markBackground
	}
	if id.Unstored {
		s += markUnstored
	}
	return s
}

// ParseResponseID reads an id; ok is false for an id that p8 did not make.
func ParseResponseID(s string) (id ResponseID, ok bool) {
	if len(s) > maxResponseID {
		return id, false
	}
	rest, ok := strings.CutPrefix(s, responsePrefix)
	if !ok || len(rest) < uuidHex {
		return id, false
	}
	digits := rest[:uuidHex]
	if _, err := hex.DecodeString(digits); err != nil || digits != strings.ToLower(digits) {
		return id, false
	}
	var run strings.Builder
	run.WriteString(digits[:firstDash])
	for i := range dashes - 1 {
		at := firstDash + i*betweenTwoDashes
		run.WriteString("-" + digits[at:at+betweenTwoDashes])
	}
	run.WriteString("-" + digits[firstDash+(dashes-1)*betweenTwoDashes:])
	id.RunID = run.String()
	rest = rest[uuidHex:]
	rest, id.Unstored = strings.CutSuffix(rest, markUnstored)
	rest, id.Background = strings.CutSuffix(rest, markBackground)
	if rest == "" {
		return id, true
	}
	number, ok := strings.CutPrefix(rest, partMark)
	n, err := strconv.ParseInt(number, 10, 64)
	id.Past = n
	return id, ok && err == nil && n > 0 && number == strconv.FormatInt(n, 10)
}

// itemResponse returns the id of the response that an item belongs to: an item's id is its
// kind, the response's id without its beginning, and its place.
func itemResponse(item string) (response string, ok bool) {
	kind, rest, _ := strings.Cut(item, "_")
	end := strings.LastIndexByte(rest, '_')
	if end < 0 || kind == "" {
		return "", false
	}
	if _, err := strconv.Atoi(rest[end+1:]); err != nil {
		return "", false
	}
	response = responsePrefix + rest[:end]
	_, ok = ParseResponseID(response)
	return response, ok
}
