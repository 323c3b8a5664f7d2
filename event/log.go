package event

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendLog appends the event as a line of a log: the JSON of MarshalJSON and a
// newline. Fields that MarshalJSON leaves out are missing there too. A payload that is
// not valid JSON becomes an empty one, so that no event is missing in a log.
func AppendLog(dst []byte, e *Event) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, e.Type.String()...)
	dst = append(dst, '"')
	if e.RunID != "" {
		dst = appendString(append(dst, `,"run_id":`...), e.RunID)
	}
	if e.Seq != 0 {
		dst = strconv.AppendInt(append(dst, `,"seq":`...), e.Seq, 10)
	}
	if e.Agent != "" {
		dst = appendString(append(dst, `,"agent":`...), e.Agent)
	}
	if e.Text != "" {
		dst = appendString(append(dst, `,"text":`...), e.Text)
	}
	if d, ok := e.Data.(*ToolArgumentsData); ok {
		dst = append(appendString(append(dst, `,"data":{"tool_id":`...), d.ID), '}')
	} else if e.Data != nil {
		data, err := json.Marshal(e.Data)
		if err != nil {
			data = []byte("{}")
		}
		dst = append(append(dst, `,"data":`...), data...)
	}
	return append(dst, '}', '\n')
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		switch {
		case c >= utf8.RuneSelf:
			dst = append(dst, "\uFFFD"...)
		case c == '"', c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i += size
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// ReadLog reads lines that AppendLog wrote, without the events up to the number after.
// It stops with an error at the first line that is not an event. The texts share one
// copy of data.
func ReadLog(data []byte, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var r lineReader
		for rest := string(data); rest != ""; {
			var line string
			if line, rest, _ = strings.Cut(rest, "\n"); line == "" {
				continue
			}
			e, err := r.read(line, after)
			if err != nil {
				yield(Event{}, fmt.Errorf("event: a line of the log: %w", err))
				return
			}
			if e.Seq > after && !yield(e, nil) {
				return
			}
		}
	}
}

// lineReader reads the lines of text, reasoning and arguments, which are nearly all lines,
// without encoding/json. It leaves all other lines, and other spellings of these, to
// UnmarshalJSON.
type lineReader struct {
	// run and agent are those of the line before; most lines repeat them.
	run, agent string
	// call is the payload of the last piece of arguments.
	call *ToolArgumentsData
}

// read returns the event of a line. An event up to the number after may be incomplete.
func (r *lineReader) read(line string, after int64) (Event, error) {
	e, rest, ok := r.head(line)
	if ok && e.Seq != 0 && e.Seq <= after {
		return e, nil
	}
	if ok && (e.Type == Text || e.Type == Reasoning || e.Type == ToolArguments) {
		if text, found := strings.CutPrefix(rest, `,"text":"`); found {
			e.Text, rest, ok = cutText(text)
		}
		if ok && e.Type == ToolArguments {
			e.Data, rest, ok = r.cutCall(rest)
		}
		if ok && rest == "}" {
			return e, nil
		}
	}
	e = Event{}
	err := e.UnmarshalJSON([]byte(line))
	return e, err
}

// cutCall reads the payload of a piece of arguments.
func (r *lineReader) cutCall(s string) (d Data, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, `,"data":{"tool_id":"`)
	if !ok {
		return nil, "", false
	}
	known := ""
	if r.call != nil {
		known = r.call.ID
	}
	id, rest, ok := cutKnown(s, known)
	if !ok || !strings.HasPrefix(rest, "}") {
		return nil, "", false
	}
	if r.call == nil || id != known {
		r.call = &ToolArgumentsData{ID: id}
	}
	return r.call, rest[1:], true
}

// head reads a line up to the agent. It sets the type only for text, reasoning and
// arguments.
func (r *lineReader) head(line string) (e Event, rest string, ok bool) {
	rest, ok = strings.CutPrefix(line, `{"type":"`)
	if !ok {
		return e, "", false
	}
	name, rest, ok := cutPlain(rest)
	if !ok {
		return e, "", false
	}
	switch name {
	case "text":
		e.Type = Text
	case "reasoning":
		e.Type = Reasoning
	case "tool_arguments":
		e.Type = ToolArguments
	}
	if after, found := strings.CutPrefix(rest, `,"run_id":"`); found {
		if e.RunID, rest, ok = cutKnown(after, r.run); !ok {
			return e, "", false
		}
		r.run = e.RunID
	}
	if after, found := strings.CutPrefix(rest, `,"seq":`); found {
		if e.Seq, rest, ok = cutNumber(after); !ok {
			return e, "", false
		}
	}
	if after, found := strings.CutPrefix(rest, `,"agent":"`); found {
		if e.Agent, rest, ok = cutKnown(after, r.agent); !ok {
			return e, "", false
		}
		r.agent = e.Agent
	}
	return e, rest, true
}

// cutKnown is cutPlain for a string that probably equals known, an earlier result of
// cutPlain.
func cutKnown(s, known string) (value, rest string, ok bool) {
	if len(s) > len(known) && s[len(known)] == '"' && s[:len(known)] == known {
		return known, s[len(known)+1:], true
	}
	return cutPlain(s)
}

// cutPlain cuts s after the quote that ends a string; ok is false for a string with
// escapes or invalid characters.
func cutPlain(s string) (value, rest string, ok bool) {
	n := plain(s)
	if n == len(s) || s[n] != '"' || !utf8.ValidString(s[:n]) {
		return "", "", false
	}
	return s[:n], s[n+1:], true
}

// plain returns the length of s before a quote, an escape or a control character.
func plain(s string) int {
	for i := range len(s) {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(s)
}

// cutNumber cuts the digits off s; ok is false for an invalid JSON number, and for the
// largest ones.
func cutNumber(s string) (n int64, rest string, ok bool) {
	const most = 18 // digits that always fit
	i := 0
	for i < len(s) && i <= most && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + int64(s[i]-'0')
		i++
	}
	if i == 0 || i > most || s[0] == '0' && i > 1 {
		return 0, "", false
	}
	return n, s[i:], true
}

// cutText is cutPlain for a string that may hold escapes.
func cutText(s string) (value, rest string, ok bool) {
	n := plain(s)
	if n == len(s) || s[n] < ' ' || !utf8.ValidString(s[:n]) {
		return "", "", false
	}
	if s[n] == '"' {
		return s[:n], s[n+1:], true
	}
	var b strings.Builder
	for {
		b.WriteString(s[:n])
		if s = s[n:]; s[0] == '"' {
			return b.String(), s[1:], true
		}
		r, size := escaped(s)
		if size == 0 {
			return "", "", false
		}
		b.WriteRune(r)
		s = s[size:]
		if n = plain(s); n == len(s) || s[n] < ' ' || !utf8.ValidString(s[:n]) {
			return "", "", false
		}
	}
}

// escaped returns the character of the escape that begins s, and the length of the
// escape; 0 for half of a surrogate pair and for an invalid escape.
func escaped(s string) (r rune, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		if len(s) < 6 {
			return 0, 0
		}
		n, err := strconv.ParseUint(s[2:6], 16, 16)
		if err != nil || n >= 0xD800 && n < 0xE000 {
			return 0, 0
		}
		return rune(n), 6
	}
	return 0, 0
}
