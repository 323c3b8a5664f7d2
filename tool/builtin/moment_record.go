package builtin

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// maxName is the longest name that the store accepts, in characters.
const maxName = 255

// The fields of a record that can be its name or summary, the best first.
var (
	nameFields    = []string{"title", "id", "invoice_number", "invoice_id", "number", "key"}
	summaryFields = []string{"description"}
)

// momentReader makes moments of records and collects their problems. The same records
// make the same moments.
type momentReader struct {
	// place is the place of the record: moments[0].
	place string
	// names maps the keys of the moments so far to their places.
	names    map[string]string
	problems []string
}

func (r *momentReader) wrong(field, format string, args ...any) {
	r.problems = append(r.problems, r.place+field+": "+fmt.Sprintf(format, args...))
}

// record is an object whose known fields are removed one by one.
type record struct {
	*momentReader
	fields map[string]json.RawMessage
}

// take reads and removes a field; null counts as absent.
func (r record) take(name string, into any) {
	raw, ok := r.fields[name]
	delete(r.fields, name)
	if ok && string(raw) != "null" && json.Unmarshal(raw, into) != nil {
		r.wrong("."+name, "%s is not what this field holds", tool.Cut(string(raw), 80))
	}
}

// takeTime reads and removes a time.
func (r record) takeTime(name string) time.Time {
	var text string
	r.take(name, &text)
	t, ok := parseTime(text)
	if !ok && text != "" {
		r.wrong("."+name, "%q is no time; write %s", tool.Cut(text, 80), timeForm)
	}
	return t
}

// text returns the first of the fields that is not empty; it removes none.
func (r record) text(fields []string) string {
	for _, name := range fields {
		var text string
		var number json.Number
		switch {
		case json.Unmarshal(r.fields[name], &text) == nil:
		case json.Unmarshal(r.fields[name], &number) == nil:
			text = number.String()
		}
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// moment returns the moment of the n-th record; kind is its type unless it names one.
// names none.
func (r *momentReader) moment(raw json.RawMessage, n int, kind string) *store.Moment {
	x := record{momentReader: r}
	m := new(store.Moment)
	if json.Unmarshal(raw, &x.fields) != nil || x.fields == nil {
		r.wrong("", "%s is no object", tool.Cut(string(raw), 80))
		return m
	}
	digest := hashOf(x.fields)
	x.take("name", &m.Name)
	x.take("summary", &m.Summary)
	x.take("moment_type", &m.MomentType)
	m.MomentType = cmp.Or(m.MomentType, kind)
	if closed(m.MomentType) {
		r.wrong(".moment_type", "moments of the type %s are made by p8; use note, meeting or a word of your own", m.MomentType)
	}
	x.take("category", &m.Category)
	x.take("topic_tags", &m.TopicTags)
	x.take("emotion_tags", &m.EmotionTags)
	x.take("tags", &m.Tags)
	x.take("present_persons", &m.PresentPersons)
	m.StartsAt, m.EndsAt = x.takeTime("starts_timestamp"), x.takeTime("ends_timestamp")
	if !m.StartsAt.IsZero() && !m.EndsAt.IsZero() && m.EndsAt.Before(m.StartsAt) {
		r.wrong(".ends_timestamp", "it is before starts_timestamp")
	}
	m.GraphEdges = x.fragments(m.MomentType)
	var metadata map[string]json.RawMessage
	x.take("metadata", &metadata)

	if m.MomentType == store.MomentDream {
		m.Name = dreamName(m.Name)
		x.fields["source"] = json.RawMessage(`"dreaming"`)
	}
	x.name(m, n, digest)
	if strings.TrimSpace(m.Summary) == "" {
		if m.Summary = x.text(summaryFields); m.Summary == "" {
			m.Summary = compact(raw)
		}
	}
	// The remaining fields are the record's own.
	for key, value := range metadata {
		x.fields[key] = value
	}
	if len(x.fields) > 0 {
		m.Metadata, _ = json.Marshal(x.fields)
	}
	return m
}

// closed reports whether only p8 may make moments of a type. Agents may make dreams.
func closed(kind string) bool { return store.OwnMoment(kind) && kind != store.MomentDream }

// name checks the moment's name or makes one; names of one call are unique.
func (r record) name(m *store.Moment, n int, digest string) {
	if name := oneLine(m.Name); name != "" {
		m.Name = name
		key := store.NormalizeKey(name)
		switch first, taken := r.names[key]; {
		case key == "":
			r.wrong(".name", "%q has no letter and no digit", tool.Cut(name, 80))
		case utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
			r.wrong(".name", "a name is at most %d printable characters", maxName)
		case taken:
			r.wrong(".name", "%q is the name of %s too; give each its own", tool.Cut(name, 80), first)
		}
		r.names[key] = r.place
		return
	}
	name := strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, oneLine(r.text(nameFields)))
	if store.NormalizeKey(name) == "" {
		name = fmt.Sprintf("moment-%d-%s", n, digest)
	}
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[:maxName-len(digest)-1]) + "-" + digest
	}
	if r.names[store.NormalizeKey(name)] != "" {
		name = fmt.Sprintf("moment-%d-%s", n, digest)
	}
	m.Name = name
	r.names[store.NormalizeKey(name)] = r.place
}

// oneLine returns text with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// hashOf returns a hash of a record that ignores the order of its fields.
func hashOf(fields map[string]json.RawMessage) string {
	text, _ := json.Marshal(fields)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

// compact returns JSON without white space.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
