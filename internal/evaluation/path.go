package evaluation

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/tree"
)

// path is a JSON path of names, indexes and wildcards: $.lines[0]['unit price'], $.tags[*].
// It has no filters and no descendants, so that finding costs at most the value's size.
type path struct {
	text  string
	steps []step
}

// step is a name, an index (negative from the end), or a wildcard.
type step struct {
	name     string
	index    int
	isIndex  bool
	wildcard bool
}

func (p *path) String() string { return p.text }

// maxPath bounds a path, in bytes.
const maxPath = 1000

// path reads a path, nil if it is absent or wrong.
func (s *spec) path(key string, required bool) *path {
	n := s.get(key)
	if n == nil {
		if required {
			s.fail(key, "add "+key+": $.name", "%s is missing", key)
		}
		return nil
	}
	text := s.text(key)
	p, at, problem := parsePath(text)
	if problem == "" {
		return p
	}
	shown := tree.Clip(text, 60)
	s.fail(key, "write $.name, $['a name'], $.list[0] or $.list[*]", "the path %q is wrong at character %d: %s", shown, utf8.RuneCountInString(text[:at])+1, problem)
	return nil
}

// parsePath returns the offset of a mistake and what it is.
func parsePath(text string) (p *path, at int, problem string) {
	if len(text) > maxPath {
		return nil, 0, "it is too long"
	}
	if !strings.HasPrefix(text, "$") {
		return nil, 0, "a path begins with $"
	}
	p = &path{text: text}
	for i := 1; i < len(text); {
		rest := text[i:]
		var s step
		var n int
		switch {
		case strings.HasPrefix(rest, ".."):
			return nil, i, "descendants (..) are not supported"
		case rest[0] == '.':
			s, n = dotStep(rest)
		case rest[0] == '[':
			s, n = bracketStep(rest)
		}
		if n == 0 {
			return nil, i, "expected .name, ['name'], [0] or [*]"
		}
		p.steps, i = append(p.steps, s), i+n
	}
	return p, 0, ""
}

// dotStep reads .name or .*; n is the length, 0 for a mistake.
func dotStep(rest string) (s step, n int) {
	end := strings.IndexAny(rest[1:], ".[ ]'\"") + 1
	if end == 0 {
		end = len(rest)
	}
	s.name = rest[1:end]
	if s.name == "" {
		return s, 0
	}
	s.wildcard = s.name == "*"
	return s, end
}

// bracketStep reads ['name'], ["name"], [0], [-1] or [*].
func bracketStep(rest string) (s step, n int) {
	if len(rest) > 2 && (rest[1] == '\'' || rest[1] == '"') {
		end := strings.Index(rest[2:], rest[1:2]+"]")
		if end < 0 {
			return s, 0
		}
		s.name = rest[2 : 2+end]
		return s, end + 4
	}
	end := strings.IndexByte(rest, ']')
	if end < 0 {
		return s, 0
	}
	inner := rest[1:end]
	if s.wildcard = inner == "*"; s.wildcard {
		return s, end + 1
	}
	index, err := strconv.Atoi(inner)
	if err != nil || inner[0] == '+' {
		return s, 0
	}
	s.index, s.isIndex = index, true
	return s, end + 1
}

// find returns the values at the path, in the order of the value; fields in that of their
// names.
func (p *path) find(v any) []any {
	found := []any{v}
	for _, s := range p.steps {
		var next []any
		for _, v := range found {
			next = s.take(v, next)
		}
		found = next
	}
	return found
}

func (s step) take(v any, out []any) []any {
	switch v := v.(type) {
	case map[string]any:
		if s.wildcard {
			for _, key := range slices.Sorted(maps.Keys(v)) {
				out = append(out, v[key])
			}
		} else if child, there := v[s.name]; there && !s.isIndex {
			out = append(out, child)
		}
	case []any:
		i := s.index
		if i < 0 {
			i += len(v)
		}
		switch {
		case s.wildcard:
			out = append(out, v...)
		case s.isIndex && i >= 0 && i < len(v):
			out = append(out, v[i])
		}
	}
	return out
}
