// Package sse reads streams of server-sent events as clients do: as the specification says,
// and as the decoder of OpenAI's Python SDK does, which is stricter about what it is sent.
package sse

import "strings"

// Event is a dispatched event.
type Event struct {
	// Name is "message" if the frame names none.
	Name, Data, ID string
}

// Parse returns the events that the specification dispatches (WHATWG HTML, 9.2.6), and the
// frame at the end that no empty line ends, which it discards.
func Parse(raw string) (events []Event, rest string) {
	raw = strings.TrimPrefix(raw, "\ufeff")
	var data strings.Builder
	var name, id string
	for rest = raw; raw != ""; {
		line, after, found := cut(raw)
		if !found {
			break
		}
		if raw = after; line == "" {
			if data.Len() > 0 {
				if name == "" {
					name = "message"
				}
				events = append(events, Event{name, strings.TrimSuffix(data.String(), "\n"), id})
			}
			data.Reset()
			name, rest = "", after
			continue
		}
		field, value := split(line)
		switch field {
		case "event":
			name = value
		case "data":
			data.WriteString(value + "\n")
		case "id":
			if !strings.Contains(value, "\x00") {
				id = value
			}
		}
	}
	return events, rest
}

// cut returns the first line, which ends with CR LF, LF or CR.
func cut(raw string) (line, rest string, found bool) {
	i := strings.IndexAny(raw, "\r\n")
	if i < 0 {
		return "", raw, false
	}
	if strings.HasPrefix(raw[i:], "\r\n") {
		return raw[:i], raw[i+2:], true
	}
	return raw[:i], raw[i+1:], true
}

// split returns the field and its value, without the one space before it. A comment has the
// field "".
func split(line string) (field, value string) {
	field, value, _ = strings.Cut(line, ":")
	return field, strings.TrimPrefix(value, " ")
}

// Python returns the events that OpenAI's Python SDK dispatches. Its rules: every empty line
// dispatches what was read since the last one, and an id that was read once counts as read
// for ever, so that each later empty line dispatches an event without data. Older versions,
// and clients that read lines with httpx, split lines at every character that Python calls a
// line boundary.
func Python(raw string) (events []Event) {
	var data []string
	var name, id string
	for _, line := range pythonLines(raw) {
		if line == "" {
			if name != "" || data != nil || id != "" {
				events = append(events, Event{name, strings.Join(data, "\n"), id})
			}
			name, data = "", nil
			continue
		}
		field, value := split(line)
		switch field {
		case "event":
			name = value
		case "data":
			data = append(data, value)
		case "id":
			id = value
		}
	}
	return events
}

// pythonLines splits a text as Python's str.splitlines does.
func pythonLines(raw string) (lines []string) {
	for raw != "" {
		i := strings.IndexAny(raw, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029")
		if i < 0 {
			return append(lines, raw)
		}
		lines = append(lines, raw[:i])
		size := 1
		switch {
		case strings.HasPrefix(raw[i:], "\r\n"), strings.HasPrefix(raw[i:], "\u0085"):
			size = 2
		case strings.HasPrefix(raw[i:], "\u2028"), strings.HasPrefix(raw[i:], "\u2029"):
			size = 3
		}
		raw = raw[i+size:]
	}
	return lines
}
