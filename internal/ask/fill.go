package ask

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/rem"
)

// fill parses a query and fills in its references. keys returns the keys of a stage;
// nil keeps the references as they are written. empty is the first reference without a
// key; the query is nil then.
//
// The query is parsed with a placeholder word for each reference, and the keys are
// filled in afterwards: so a key is always a value, whatever its characters, and never
// part of the query's grammar.
func (a *Asker) fill(text string, keys func(Ref) []string) (query rem.Query, empty Ref, err error) {
	f := &filler{}
	if strings.Contains(text, marker) {
		return nil, "", &InputError{"query", "the query holds the word " + marker + ", which has a meaning of its own here"}
	}
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		name, what, _ := strings.Cut(strings.TrimSpace(m[1]), ".")
		v := value{written: m[0], keys: []string{m[0]}, raw: keys == nil}
		if keys != nil {
			if v.keys = keys(Ref(name)); len(v.keys) == 0 {
				return nil, Ref(name), nil
			}
		}
		if what == "key" {
			v.keys = v.keys[:1]
		}
		text = strings.Replace(text, m[0], mark(len(f.values)), 1)
		f.values = append(f.values, v)
	}
	query, err = a.o.Engine.Parse(text)
	if err != nil || len(f.values) == 0 {
		return query, "", err
	}
	query = f.query(query)
	if f.err != nil || keys == nil {
		return query, "", f.err
	}
	// The bounds of the dialect also hold for filled-in keys.
	query, err = a.o.Engine.Parse(query.String())
	return query, "", err
}

// fillText fills keys into a plain text.
func fillText(text string, keys func(Ref) []string) (filled string, empty Ref) {
	if keys == nil {
		return text, ""
	}
	filled = reference.ReplaceAllStringFunc(text, func(written string) string {
		name, what, _ := strings.Cut(strings.TrimSpace(strings.Trim(written, "${}")), ".")
		found := keys(Ref(name))
		switch {
		case len(found) == 0:
			empty = Ref(name)
			return written
		case what == "key":
			found = found[:1]
		}
		return strings.Join(found, ", ")
	})
	return filled, empty
}

// marker begins the placeholder words of references.
const marker = "p8ref"

func mark(i int) string { return marker + strconv.Itoa(i) + "x" }

// value is the value of a reference.
type value struct {
	written string
	keys    []string
	// raw keeps the reference as it is written.
	raw bool
}

// literal returns the value in SQL.
func (v value) literal() string {
	if v.raw {
		return v.written
	}
	quoted := make([]string, len(v.keys))
	for i, key := range v.keys {
		quoted[i] = "'" + strings.ReplaceAll(key, "'", "''") + "'"
	}
	return strings.Join(quoted, ", ")
}

// filler fills values into a parsed query and keeps the first error.
type filler struct {
	values []value
	err    error
}

func (f *filler) query(query rem.Query) rem.Query {
	switch q := query.(type) {
	case rem.Lookup:
		q.Keys = f.keys(q.Keys)
		return q
	case rem.Fuzzy:
		q.Text = f.text(q.Text)
		return q
	case rem.Search:
		q.Text, q.Category, q.Where = f.text(q.Text), f.text(q.Category), f.sql(q.Where)
		f.none("a table or a field", append([]string{q.Field}, q.Tables...)...)
		return q
	case rem.Traverse:
		q.Keys = f.keys(q.Keys)
		f.none("a relation", q.Types...)
		if q.With != nil {
			q.With = f.query(q.With)
		}
		return q
	case rem.Select:
		q.Text = f.sql(q.Text)
		return q
	case rem.Explain:
		q.Query = f.query(q.Query)
		return q
	}
	f.fail("references cannot stand in %s", query.Verb())
	return query
}

func (f *filler) fail(format string, args ...any) {
	if f.err == nil {
		f.err = &InputError{"query", fmt.Sprintf(format, args...)}
	}
}

// none refuses references in places that take no key.
func (f *filler) none(what string, texts ...string) {
	for i, v := range f.values {
		if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, mark(i)) }) {
			f.fail("%s stands for %s; a reference stands for keys", v.written, what)
		}
	}
}

// keys fills all keys of a reference into a list, or one into a longer key.
func (f *filler) keys(list []string) []string {
	var out []string
	for _, key := range list {
		for i, v := range f.values {
			switch {
			case key == mark(i):
				out, key = append(out, v.keys...), ""
			case strings.Contains(key, mark(i)) && len(v.keys) > 1:
				f.fail("%s is several keys; write it between commas, or .key for the first", v.written)
			}
		}
		if key != "" {
			out = append(out, f.text(key))
		}
	}
	var once []string
	for _, key := range out {
		if !slices.Contains(once, key) {
			once = append(once, key)
		}
	}
	if len(once) > rem.MaxKeys {
		once = once[:rem.MaxKeys]
	}
	return once
}

// text fills keys in between other words.
func (f *filler) text(s string) string {
	for i, v := range f.values {
		s = strings.ReplaceAll(s, mark(i), strings.Join(v.keys, " "))
	}
	return s
}

// sql fills in literals; it refuses references inside quotes and comments, where a
// literal means something else.
func (f *filler) sql(s string) string {
	for i, v := range f.values {
		for at := strings.Index(s, mark(i)); at >= 0; at = strings.Index(s, mark(i)) {
			if !plainSQL(s[:at]) {
				f.fail("%s stands inside of quotes or a comment; write it without: name IN (%s)", v.written, v.written)
				return s
			}
			s = s[:at] + v.literal() + s[at+len(mark(i)):]
		}
	}
	return s
}

// plainSQL reports whether the end of s is outside of quotes and comments.
func plainSQL(s string) bool {
	for i := 0; i < len(s); i++ {
		end := ""
		switch {
		case s[i] == '\'' || s[i] == '"':
			end = s[i : i+1]
		case strings.HasPrefix(s[i:], "--"):
			end = "\n"
		case strings.HasPrefix(s[i:], "/*"):
			end = "*/"
			i++
		default:
			continue
		}
		n := strings.Index(s[i+1:], end)
		if n < 0 {
			return false
		}
		i += n + len(end)
	}
	return true
}
