package evaluation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// retrieval compares the keys that searches found with those that they should have found.
type retrieval struct {
	expected []string
	// first bounds the found keys, 0 for all.
	first int
	tools []string
}

func (s *spec) retrieval() retrieval {
	r := retrieval{expected: s.texts("expected"), tools: s.texts("tool")}
	r.first, _ = s.whole("k", 1)
	if r.tools == nil {
		r.tools = []string{"search"}
	}
	return r
}

// retrievalPrecision is the share of found keys that were expected.
func retrievalPrecision(s *spec) judge {
	r := s.retrieval()
	return func(_ context.Context, s *Sample) (float64, string, error) {
		want, got, err := r.keys(s)
		if err != nil {
			return 0, "", err
		}
		hits, others := split(got, holder(want))
		switch {
		case len(got) == 0 && len(want) == 0, len(got) > 0 && len(others) == 0:
			return 1, "", nil
		case len(got) == 0:
			return 0, fmt.Sprintf("nothing was found; %s were expected", list(want)), nil
		}
		return float64(len(hits)) / float64(len(got)),
			fmt.Sprintf("%d of the %d found keys were expected; not expected: %s", len(hits), len(got), list(others)), nil
	}
}

// retrievalRecall is the share of expected keys that were found.
func retrievalRecall(s *spec) judge {
	r := s.retrieval()
	return func(_ context.Context, s *Sample) (float64, string, error) {
		want, got, err := r.keys(s)
		if err != nil {
			return 0, "", err
		}
		hits, missed := split(want, holder(got))
		if len(missed) == 0 {
			return 1, "", nil
		}
		return float64(len(hits)) / float64(len(want)),
			fmt.Sprintf("%d of the %d expected keys were found; missed: %s", len(hits), len(want), list(missed)), nil
	}
}

// errNoKeys reports that nothing says which keys should have been found.
var errNoKeys = errors.New("no keys are expected: give expected in the check, expected_keys in the sample's metadata, or a list as the sample's expected")

// keys returns the expected and the found keys, each once.
func (r *retrieval) keys(s *Sample) (want, got []string, err error) {
	if want = r.expected; want == nil {
		switch v := s.Metadata["expected_keys"].(type) {
		case nil:
			if want, err = expectedTexts(s); err != nil {
				return nil, nil, errNoKeys
			}
		case []any:
			for _, item := range v {
				want = append(want, fmt.Sprint(item))
			}
		case []string:
			want = v
		default:
			return nil, nil, errNoKeys
		}
	}
	for i := range s.Output.Calls {
		c := &s.Output.Calls[i]
		for _, name := range r.tools {
			if c.Name == name && !c.Failed {
				found, _ := decode(c.Result)
				got = append(got, foundKeys(found)...)
			}
		}
	}
	want, got = once(want), once(got)
	if r.first > 0 {
		got = got[:min(r.first, len(got))]
	}
	return want, got, nil
}

// foundKeys returns the keys of a search's results: those of a list, or of the list in
// results.
func foundKeys(result any) []string {
	if m, ok := result.(map[string]any); ok {
		result = m["results"]
	}
	rows, _ := result.([]any)
	var keys []string
	for _, row := range rows {
		switch row := row.(type) {
		case string:
			keys = append(keys, row)
		case map[string]any:
			for _, name := range []string{"key", "entity_key", "id", "name", "uri"} {
				if key, ok := row[name].(string); ok {
					keys = append(keys, key)
					break
				}
			}
		}
	}
	return keys
}

// once drops keys that are the same as an earlier one.
func once(keys []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, key := range keys {
		if plain := plainKey(key); !seen[plain] {
			seen[plain] = true
			out = append(out, key)
		}
	}
	return out
}

// holder reports of a key whether it is among keys.
func holder(keys []string) func(string) bool {
	set := make(map[string]bool, len(keys))
	for _, key := range keys {
		set[plainKey(key)] = true
	}
	return func(key string) bool { return set[plainKey(key)] }
}

// plainKey is a key as LOOKUP compares it: without case, with one dash between words.
func plainKey(key string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(key), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
}
