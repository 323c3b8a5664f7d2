// Package rem is the REM dialect: how agents and people ask what is stored.
//
//	LOOKUP sarah-chen                    the row with this key, of whatever kind
//	LOOKUP [sarah-chen, "Smith, John"]   several keys
//	LOOKUP session-abc-msg-4             a stored message, whole
//	FUZZY sara chn THRESHOLD 0.4 LIMIT 5 rows whose keys resemble the text
//
// [Parse] makes a [Query] of a text: one Go type a verb. [Execute] answers it
// from a [Knowledge], the few methods of the store that the dialect needs; the
// store sees to it that the caller in the context gets only what is the
// caller's or shared.
//
// Queries are written by models and people, so natural words never break one:
// apostrophes need no quotes, an option counts only at the end and only with
// its number, a quoted word is never a keyword. What cannot be understood is a
// [SyntaxError], which points at the place and shows the right form.
package rem

import (
	"strconv"
	"strings"

	"p8/store"
)

// Verb is the kind of a query.
type Verb string

// The verbs of the dialect that this package answers.
const (
	LOOKUP Verb = "LOOKUP"
	FUZZY  Verb = "FUZZY"
)

// Query is one parsed query: a [Lookup] or a [Fuzzy].
type Query interface {
	Verb() Verb
	// String is the query in its plain form; Parse reads it back.
	String() string
}

// The bounds of a query.
const (
	// MaxQuery is the longest text that is parsed, in bytes.
	MaxQuery = 8192
	// MaxKeys is the most keys of one LOOKUP.
	MaxKeys = 20
	// MaxText is the longest key or search text, in characters.
	MaxText = 512
	// MaxLimit is the most rows of one answer.
	MaxLimit = 100
)

// What FUZZY takes when the query does not say (REMLight).
const (
	DefaultThreshold = store.DefaultThreshold
	DefaultLimit     = store.DefaultLimit
)

// Lookup finds rows by their keys.
type Lookup struct {
	// Keys are 1 to MaxKeys different keys, in the order of the query.
	Keys []string
}

// Verb is LOOKUP.
func (Lookup) Verb() Verb { return LOOKUP }

// String is the query in its plain form.
func (q Lookup) String() string {
	quoted := make([]string, len(q.Keys))
	for i, key := range q.Keys {
		quoted[i] = Quote(key)
	}
	return "LOOKUP " + strings.Join(quoted, ", ")
}

// Fuzzy finds rows whose keys resemble a text.
type Fuzzy struct {
	Text string
	// Threshold is the least similarity, above 0 and up to 1.
	Threshold float64
	// Limit is the most rows, 1 to MaxLimit.
	Limit int
	// LimitGiven tells a LIMIT of the query from the default one.
	LimitGiven bool
}

// NewFuzzy is a query with the default threshold and limit.
func NewFuzzy(text string) Fuzzy {
	return Fuzzy{Text: text, Threshold: DefaultThreshold, Limit: DefaultLimit}
}

// Verb is FUZZY.
func (Fuzzy) Verb() Verb { return FUZZY }

// String is the query in its plain form.
func (q Fuzzy) String() string {
	s := "FUZZY " + quote(q.Text)
	if q.Threshold != DefaultThreshold {
		s += " THRESHOLD " + strconv.FormatFloat(q.Threshold, 'g', -1, 64)
	}
	if q.LimitGiven {
		s += " LIMIT " + strconv.Itoa(q.Limit)
	}
	return s
}

// Quote is a key as LOOKUP takes it: in quotes where it needs them.
func Quote(key string) string {
	if key == "" || strings.Join(strings.Fields(key), " ") != key ||
		strings.ContainsAny(key, `,"`) || strings.ContainsAny(key[:1], `'[`) || strings.Contains(key, " '") {
		return quote(key)
	}
	return key
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// MessageKey is the key of a stored message, as the hints in a shortened
// history print it; LOOKUP gives the whole message.
func MessageKey(sessionID string, seq int64) string {
	return "session-" + sessionID + "-msg-" + strconv.FormatInt(seq, 10)
}

// parseMessageKey reads what MessageKey wrote.
func parseMessageKey(key string) (sessionID string, seq int64, ok bool) {
	rest, ok := strings.CutPrefix(key, "session-")
	if !ok {
		return "", 0, false
	}
	i := strings.LastIndex(rest, "-msg-")
	if i < 1 {
		return "", 0, false
	}
	seq, err := strconv.ParseInt(rest[i+len("-msg-"):], 10, 64)
	return rest[:i], seq, err == nil && seq > 0
}
