package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a schema's text. The library's work grows with the square of the number
// of schemas; these bounds limit a compilation to a tenth of a second.
const (
	// MaxSchemas bounds the objects and booleans, each of which may be a schema.
	MaxSchemas = 3000
	// MaxValues bounds all values, those of enums included.
	MaxValues = 50_000
	// maxIDs bounds the $ids, maxOdd the references to places where no keyword holds
	// schemas: the library reads the whole schema again for each.
	maxIDs, maxOdd = 100, 100
	// MaxDepth bounds the levels of nesting.
	MaxDepth = 128
)

// Excess reports that a schema is too expensive, and the place of the reason.
type Excess struct {
	// Path is the place, from the schema's root.
	Path []string
	// Message is the exceeded bound, Hint what to do.
	Message, Hint string
}

// Error returns place and message in one line.
func (e *Excess) Error() string { return fmt.Sprintf("%s: %s; %s", Pointer(e.Path), e.Message, e.Hint) }

// Pointer returns the JSON pointer of a path, "/" for the root.
func Pointer(path []string) string {
	if len(path) == 0 {
		return "/"
	}
	var b strings.Builder
	for _, token := range path {
		b.WriteByte('/')
		if strings.ContainsAny(token, "~/") {
			token = strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
		}
		b.WriteString(token)
	}
	return b.String()
}

// Outlandish reports whether a number is too large to compute with, by the length of its
// literal or by its exponent.
func Outlandish(literal string) bool {
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		if e, err := strconv.Atoi(literal[i+1:]); err != nil || e < -400 || e > 400 {
			return true
		}
	}
	return len(literal) > 400
}

// weighing counts the parts of a schema before it is compiled.
type weighing struct {
	schemas, values, patterns, ids int

	odd    map[string]bool
	draft4 bool
}

// weigh measures the text of a schema.
func weigh(doc any) error {
	w := weighing{odd: map[string]bool{}}
	if root, ok := doc.(map[string]any); ok {
		draft, _ := root["$schema"].(string)
		w.draft4 = strings.Contains(draft, "draft-04")
	}
	return w.value(doc, nil)
}

func excess(path []string, hint, format string, args ...any) error {
	return &Excess{Path: slices.Clone(path), Message: fmt.Sprintf(format, args...), Hint: hint}
}

func (w *weighing) value(v any, path []string) error {
	if w.values++; w.values > MaxValues {
		return excess(path, "shorten its lists", "the schema has more than %d values", MaxValues)
	}
	if len(path) > MaxDepth {
		return excess(path, "make it flatter", "the schema is nested more than %d levels deep", MaxDepth)
	}
	switch v := v.(type) {
	case json.Number:
		if Outlandish(v.String()) {
			return excess(path, "write a smaller one", "the number is too large or too small")
		}
	case bool:
		w.schemas++
	case []any:
		for i, item := range v {
			if err := w.value(item, append(path, strconv.Itoa(i))); err != nil {
				return err
			}
		}
	case map[string]any:
		w.schemas++
		if err := w.object(v, path); err != nil {
			return err
		}
	}
	if w.schemas > MaxSchemas {
		return excess(path, "split it, or describe less of it", "the schema is made of more than %d schemas", MaxSchemas)
	}
	return nil
}

func (w *weighing) object(v map[string]any, path []string) error {
	if err := w.keywords(v, path); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if err := w.value(v[key], append(path, key)); err != nil {
			return err
		}
	}
	return nil
}

// keywords weighs the keywords that cost more than their length.
func (w *weighing) keywords(v map[string]any, path []string) error {
	text := func(keyword string) string {
		s, _ := v[keyword].(string)
		return s
	}
	for _, keyword := range [...]string{"$dynamicRef", "$recursiveRef"} {
		if text(keyword) != "" {
			return excess(append(path, keyword), "write $ref", "%s is not followed", keyword)
		}
	}
	if text("$id") != "" || w.draft4 && text("id") != "" {
		if w.ids++; w.ids > maxIDs {
			return excess(path, "use $anchor, or refer by place", "the schema has more than %d ids", maxIDs)
		}
	}
	if ref := text("$ref"); isOdd(ref) {
		if w.odd[ref] = true; len(w.odd) > maxOdd {
			return excess(append(path, "$ref"), "put the definitions below $defs", "more than %d places outside of $defs are referred to", maxOdd)
		}
	}
	if err := w.pattern(text("pattern"), append(path, "pattern")); err != nil {
		return err
	}
	table, _ := v["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(table)) {
		if err := w.pattern(pattern, append(path, "patternProperties", pattern)); err != nil {
			return err
		}
	}
	return nil
}

// pattern adds the program size of a regular expression. The library refuses invalid
// ones.
func (w *weighing) pattern(pattern string, path []string) error {
	size, err := patternSize(pattern)
	if err != nil && !errors.Is(err, ErrPattern) {
		return nil
	}
	if w.patterns += size; err != nil || size > maxPattern || w.patterns > maxPatterns {
		return excess(path, "write smaller counts, or use maxLength", "the pattern repeats too much")
	}
	return nil
}

// isOdd reports whether a reference points to a place where no keyword holds schemas, such
// as #/components/schemas/Name.
func isOdd(ref string) bool {
	_, fragment, _ := strings.Cut(ref, "#")
	tokens := strings.Split(fragment, "/")[1:] // none of an anchor
	for i := 0; i < len(tokens); i++ {
		switch tokens[i] {
		case "$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies",
			"allOf", "anyOf", "oneOf", "prefixItems":
			i++
		case "items":
			if i+1 < len(tokens) && strings.Trim(tokens[i+1], "0123456789") == "" {
				i++
			}
		case "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contains", "propertyNames",
			"not", "if", "then", "else":
		default:
			return true
		}
	}
	return false
}
