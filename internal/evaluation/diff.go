package evaluation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/schema"
	"github.com/p8-org/p8/internal/tree"
)

// decode reads one JSON value, numbers as json.Number; nothing is nil.
func decode(raw []byte) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the JSON value")
	}
	return v, nil
}

// json returns the structured answer, or the text read as JSON, also from a fenced block.
func (o *Output) json() (v any, ok bool) {
	raw := []byte(o.Value)
	if len(raw) == 0 {
		raw = []byte(unfence(o.Text))
	}
	v, err := decode(raw)
	return v, err == nil && len(bytes.TrimSpace(raw)) > 0
}

// text returns the answer as text, a structured one as JSON.
func (o *Output) text() string {
	if o.Text == "" && len(o.Value) > 0 {
		return string(o.Value)
	}
	return o.Text
}

// unfence returns what is between ```json and ``` if the text is nothing else.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	inner, found := strings.CutPrefix(text, "```")
	if !found {
		return text
	}
	inner, ended := strings.CutSuffix(inner, "```")
	_, body, _ := strings.Cut(inner, "\n")
	if !ended {
		return text
	}
	return body
}

// write returns a value as JSON in one line, shortened.
func write(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return brief(string(b))
}

// maxDifferences bounds the places that an explanation names.
const maxDifferences = 5

// differences compares two JSON values and returns the places where they differ; none if
// they are equal.
func differences(want, got any) []string {
	var out []string
	compare(want, got, "", &out)
	if len(out) > maxDifferences {
		out = append(out[:maxDifferences], fmt.Sprintf("and %d more", len(out)-maxDifferences))
	}
	return out
}

func compare(want, got any, pointer string, out *[]string) {
	differ := func(format string, args ...any) {
		at := pointer
		if at == "" {
			at = "/"
		}
		*out = append(*out, at+": "+fmt.Sprintf(format, args...))
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			at := tree.Child(pointer, key)
			if value, there := g[key]; there {
				compare(w[key], value, at, out)
			} else {
				*out = append(*out, at+": want "+write(w[key])+", got nothing")
			}
		}
		for _, key := range slices.Sorted(maps.Keys(g)) {
			if _, there := w[key]; !there {
				*out = append(*out, tree.Child(pointer, key)+": got "+write(g[key])+", want nothing")
			}
		}
		return
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		if len(w) != len(g) {
			differ("want %d items, got %d", len(w), len(g))
		}
		for i := range min(len(w), len(g)) {
			compare(w[i], g[i], tree.Element(pointer, i), out)
		}
		return
	}
	if !same(want, got) {
		differ("want %s, got %s", write(want), write(got))
	}
}

// same reports whether two values that are no lists or mappings are equal.
func same(a, b any) bool {
	x, xNumber := a.(json.Number)
	y, yNumber := b.(json.Number)
	if xNumber && yNumber {
		if x == y || schema.Outlandish(x.String()) || schema.Outlandish(y.String()) {
			return x == y
		}
		p, okP := new(big.Rat).SetString(x.String())
		q, okQ := new(big.Rat).SetString(y.String())
		return okP && okQ && p.Cmp(q) == 0
	}
	switch a.(type) {
	case nil, bool, string:
		switch b.(type) {
		case nil, bool, string:
			return a == b
		}
	}
	return false
}

// textDifference shows the first place where two texts differ.
func textDifference(want, got string) string {
	a, b := []rune(want), []rune(got)
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	const before, after = 20, 60
	around := func(r []rune) string {
		from, to := max(0, at-before), min(len(r), at+after)
		text := strings.Join(strings.Fields(string(r[from:to])), " ")
		if from > 0 {
			text = "…" + text
		}
		if to < len(r) {
			text += "…"
		}
		return `"` + text + `"`
	}
	return fmt.Sprintf("differs at character %d: want %s, got %s", at+1, around(a), around(b))
}
