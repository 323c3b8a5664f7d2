package rem

import (
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// PartChars is how many characters a part of a message has; all but the last have
// as many.
const PartChars = 6000

// MessageKey returns the key of a stored message, as the hints in a shortened history print it.
// LOOKUP finds the whole message by it.
func MessageKey(sessionID string, seq int64) string {
	return "session-" + sessionID + "-msg-" + strconv.FormatInt(seq, 10)
}

// MessageIDKey returns the key of a message whose number is not known yet.
func MessageIDKey(id string) string { return "message-" + id }

// PartKey returns the key of a part of a message, from 1, given the message's.
func PartKey(message string, part int) string {
	return message + "-part-" + strconv.Itoa(part)
}

// messageRef is the message that a key names, and the part of it.
type messageRef struct {
	sessionID string
	seq       int64
	id        string // instead of sessionID and seq
	part      int    // 0 for the whole message
}

// parseMessageRef reads the keys of MessageKey, MessageIDKey and PartKey. The key of a
// message ends in its number or its id, so no key is both a message's and a part's,
// whatever the session's id is.
func parseMessageRef(key string) (messageRef, bool) {
	if ref, ok := parseMessage(key); ok {
		return ref, true
	}
	message, number, ok := cutLast(key, "-part-")
	if !ok {
		return messageRef{}, false
	}
	part, ok := parseNumber(number)
	if !ok || part > 1<<30 {
		return messageRef{}, false
	}
	ref, ok := parseMessage(message)
	ref.part = int(part)
	return ref, ok
}

func parseMessage(key string) (messageRef, bool) {
	if id, ok := strings.CutPrefix(key, "message-"); ok {
		// Only the form in which ids are stored.
		u, err := uuid.Parse(id)
		return messageRef{id: id}, err == nil && u.String() == id
	}
	rest, ok := strings.CutPrefix(key, "session-")
	if !ok {
		return messageRef{}, false
	}
	sessionID, number, ok := cutLast(rest, "-msg-")
	if !ok || sessionID == "" {
		return messageRef{}, false
	}
	seq, ok := parseNumber(number)
	return messageRef{sessionID: sessionID, seq: seq}, ok
}

// parseNumber reads a number above 0 in the form that strconv prints.
func parseNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n > 0 && s[0] != '+' && s[0] != '0'
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
