// Package version compares two versions of an agent document and says how far the change
// reaches, by REM's rules: MAJOR if required fields or tools go or types change, MINOR if
// something optional comes or more is allowed, PATCH if texts are mended. Check tells whether
// the version numbers of the two say the same.
package version

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/agent"
)

// Level is how far a change of a document reaches, as REM's rules for versions say.
type Level uint8

const (
	// Patch: texts are mended; what the agent takes and gives has the same form.
	Patch Level = iota + 1
	// Minor: something optional is added, or more is allowed than before.
	Minor
	// Major: what somebody may rely on is gone or of another type.
	Major
)

// String is "none", "PATCH", "MINOR" or "MAJOR".
func (l Level) String() string { return [...]string{"none", "PATCH", "MINOR", "MAJOR"}[min(l, Major)] }

// MarshalText is String.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Change is one difference between two versions of a document.
type Change struct {
	Level Level `json:"level"`
	// Path is where it is, such as properties.answer.type or tools.search.
	Path string `json:"path"`
	// What says it in a few words.
	What string `json:"what"`
}

// Changes are the differences between two versions, the farthest-reaching first.
type Changes []Change

// Level is that of the farthest-reaching change; 0 without any.
func (list Changes) Level() (l Level) {
	for _, c := range list {
		l = max(l, c.Level)
	}
	return l
}

// Compare returns what changed between two versions of a document: the fields of its answer,
// its tools, resources and agents by their names, every other key by its value.
func Compare(before, after *agent.Document) Changes {
	d := &differ{}
	d.schema("properties", fieldsOf(before.Schema), fieldsOf(after.Schema))
	d.schema("state", fieldsOf(before.State), fieldsOf(after.State))
	d.named("tools", names(before.Tools, toolKey), names(after.Tools, toolKey))
	d.named("resources", names(before.Resources, resourceKey), names(after.Resources, resourceKey))
	d.named("agents", names(before.Agents, agentKey), names(after.Agents, agentKey))
	d.keys(before.Fields, after.Fields)
	slices.SortStableFunc(d.list, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(a.Path, b.Path))
	})
	return d.list
}

func toolKey(t agent.ToolRef) string      { return strings.TrimPrefix(t.Server+"/"+t.Name, "/") }
func resourceKey(r agent.Resource) string { return cmp.Or(r.Name, r.URI, r.URIPattern) }
func agentKey(a agent.AgentRef) string    { return a.Name }

// levelOf returns the level of a changed key of a document; 0 for one whose parts are compared.
func levelOf(key string) Level {
	switch key {
	case "tools", "resources", "agents", "state":
		return 0
	case "title", "version", "short_description", "description", "extension", "system_prompt", "tags", "labels", "category", "author":
		return Patch
	case "name", "short_name", "fully_qualified_name", "kind", "structured_output", "chained_tool":
		return Major
	}
	return Minor
}

type differ struct{ list Changes }

func (d *differ) add(l Level, path, format string, a ...any) {
	d.list = append(d.list, Change{Level: l, Path: path, What: fmt.Sprintf(format, a...)})
}

// keys compares the keys beside the schema.
func (d *differ) keys(before, after agent.Fields) {
	was, is := asMap(before), asMap(after)
	for _, key := range allKeys(was, is) {
		if level := levelOf(key); level > 0 {
			d.value(level, key, was[key], is[key])
		}
	}
}

// value compares two values as a whole; nil is none.
func (d *differ) value(l Level, path string, was, is any) {
	switch before, after := shortJSON(was), shortJSON(is); {
	case same(was, is):
	case was == nil:
		d.add(l, path, "added: %s", after)
	case is == nil:
		d.add(l, path, "removed; it was %s", before)
	case before == after || strings.Contains(before+after, "…"):
		d.add(l, path, "changed")
	default:
		d.add(l, path, "%s is now %s", before, after)
	}
}

// named compares lists of tools, resources or agents.
func (d *differ) named(path string, was, is map[string]any) {
	for _, name := range allKeys(was, is) {
		at := path + "." + name
		switch before, after := was[name], is[name]; {
		case after == nil:
			d.add(Major, at, "removed")
		case before == nil:
			d.add(Minor, at, "added")
		case same(before, after):
		case same(without(before, "description"), without(after, "description")):
			d.add(Patch, at+".description", "changed")
		default:
			d.add(Minor, at, "changed")
		}
	}
}

// names is a list as JSON values by key.
func names[T any](list []T, key func(T) string) map[string]any {
	byName := make(map[string]any, len(list))
	for _, x := range list {
		byName[key(x)] = asMap(x)
	}
	return byName
}

func without(v any, key string) map[string]any {
	m, _ := v.(map[string]any)
	m = maps.Clone(m)
	delete(m, key)
	return m
}

func allKeys[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

func asMap(v any) map[string]any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return fieldsOf(raw)
}

// fieldsOf reads a JSON object with its numbers as they are written.
func fieldsOf(raw json.RawMessage) (m map[string]any) {
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&m) != nil {
		return nil
	}
	return m
}

func same(a, b any) bool { return fullJSON(a) == fullJSON(b) }

func fullJSON(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// shortJSON is a value to be shown in a line.
func shortJSON(v any) string {
	s := []rune(fullJSON(v))
	if len(s) > 60 {
		return string(s[:60]) + "…"
	}
	return string(s)
}

// Check returns an error if the version number of a changed document contradicts what
// has changed: it is lower than before, or too small a step. A document without a number, or
// with one that is no MAJOR.MINOR.PATCH, is not checked; texts may be mended without a step.
func Check(before, after string, changes Changes) error {
	level := changes.Level()
	was, ok1 := parse(before)
	is, ok2 := parse(after)
	if level == 0 || !ok1 || !ok2 {
		return nil
	}
	need := was.next(level)
	switch step := slices.Compare(is[:], was[:]); {
	case step < 0:
		return fmt.Errorf("version %s is lower than the stored %s: write %s", after, before, need)
	case step == 0 && level == Patch, slices.Compare(is[:], need[:]) >= 0:
		return nil
	}
	first := changes[0]
	return fmt.Errorf("version %s after %s says less than what changed: %s: %s (%s): write %s", after, before, first.Path, first.What, level, need)
}

type number [3]int

func parse(s string) (v number, ok bool) {
	s, _, _ = strings.Cut(s, "+")
	s, _, _ = strings.Cut(s, "-")
	parts := strings.Split(strings.TrimPrefix(s, "v"), ".")
	if len(parts) != len(v) {
		return v, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

// next is the lowest version that may follow after a change.
func (v number) next(l Level) number {
	switch l {
	case Major:
		return number{v[0] + 1}
	case Minor:
		return number{v[0], v[1] + 1}
	}
	return number{v[0], v[1], v[2] + 1}
}

func (v number) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }
