package evaluation

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/schema"
	"github.com/p8-org/p8/internal/tree"
)

// spec reads the keys of one check and collects the mistakes in them.
type spec struct {
	file     string
	node     *tree.Node
	pointer  string
	used     []string
	problems agent.Problems
}

// fail reports a mistake in the value of a key, or with "" in the whole check.
func (s *spec) fail(key, hint, format string, args ...any) {
	n, pointer := s.node, s.pointer
	if value := n.Get(key); value != nil {
		n, pointer = value, tree.Child(pointer, key)
	}
	s.failAt(n, pointer, hint, format, args...)
}

func (s *spec) failAt(n *tree.Node, pointer, hint, format string, args ...any) {
	s.problems = append(s.problems, problem(s.file, n.Pos, pointer, hint, fmt.Sprintf(format, args...)))
}

// get returns the value of a key, nil if it is absent or null.
func (s *spec) get(key string) *tree.Node {
	s.used = append(s.used, key)
	if n := s.node.Get(key); n != nil && n.Kind != tree.Null {
		return n
	}
	return nil
}

// unknown reports the keys that nobody asked for.
func (s *spec) unknown() {
	for _, m := range s.node.Members {
		if !slices.Contains(s.used, m.Key) {
			at := tree.Node{Pos: m.Pos}
			s.failAt(&at, tree.Child(s.pointer, m.Key), oneOf(m.Key, s.used), "unknown key %q", tree.Clip(m.Key, 60))
		}
	}
}

// text returns a text, "" if it is absent.
func (s *spec) text(key string) string {
	n := s.get(key)
	if n == nil {
		return ""
	}
	if n.Kind != tree.Text {
		s.fail(key, "write a text", "%s must be a string, not %s", key, n.Kind)
		return ""
	}
	if strings.TrimSpace(n.Text) == "" {
		s.fail(key, "write a text, or leave the key out", "%s is empty", key)
	}
	return n.Text
}

// required returns a text that must be there.
func (s *spec) required(key string) string {
	if s.get(key) == nil {
		s.fail(key, "add "+key+":", "%s is missing", key)
		return ""
	}
	return s.text(key)
}

// texts returns a list of texts; a single text is a list of one.
func (s *spec) texts(key string) []string {
	n := s.get(key)
	if n == nil {
		return nil
	}
	items := []*tree.Node{n}
	if n.Kind == tree.Array {
		items = n.Items
	}
	var out []string
	for _, item := range items {
		switch item.Kind {
		case tree.Text, tree.Number, tree.Boolean:
			if item.Text != "" {
				out = append(out, item.Text)
				continue
			}
			s.fail(key, "write a text", "%s has an empty text", key)
		default:
			s.fail(key, "write a text, or a list of texts", "%s must be texts, not %s", key, item.Kind)
		}
	}
	if len(items) == 0 {
		s.fail(key, "write a text, or leave the key out", "%s is an empty list", key)
	}
	return out
}

// number returns a number between low and high.
func (s *spec) number(key string, low, high float64) (v float64, given bool) {
	n := s.get(key)
	if n == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != tree.Number || err != nil || v < low || v > high {
		bounds := fmt.Sprintf("a number from %v to %v", low, high)
		if math.IsInf(high, 1) {
			bounds = fmt.Sprintf("a number of at least %v", low)
		}
		if math.IsInf(low, -1) {
			bounds = "a number"
		}
		s.fail(key, "write "+bounds, "%s must be %s", key, bounds)
		return 0, false
	}
	return v, true
}

// whole returns an integer of at least low.
func (s *spec) whole(key string, low int) (v int, given bool) {
	f, given := s.number(key, float64(low), math.Inf(1))
	if f != math.Trunc(f) {
		s.fail(key, "write an integer", "%s must be an integer", key)
	}
	return int(min(f, math.MaxInt32)), given
}

func (s *spec) flag(key string) bool {
	n := s.get(key)
	if n == nil {
		return false
	}
	if n.Kind != tree.Boolean {
		s.fail(key, "write true or false", "%s must be true or false", key)
	}
	return n.Text == "true"
}

// choice returns one of several words, the first if the key is absent.
func (s *spec) choice(key string, words ...string) string {
	n := s.get(key)
	switch {
	case n == nil:
		return words[0]
	case n.Kind != tree.Text || !slices.Contains(words, n.Text):
		s.fail(key, oneOf(n.Text, words), "%s must be one of %s", key, enumerate(words))
		return words[0]
	}
	return n.Text
}

// value returns any value as JSON, nil if it is absent.
func (s *spec) value(key string) json.RawMessage {
	if n := s.get(key); n != nil {
		return n.AppendJSON(nil)
	}
	return nil
}

// duration returns a time such as 1500ms or 2s; a number is in seconds.
func (s *spec) duration(key string) time.Duration {
	n := s.get(key)
	if n == nil {
		s.fail(key, "add "+key+":", "%s is missing", key)
		return 0
	}
	d, err := time.ParseDuration(n.Text)
	if f, numeric := strconv.ParseFloat(n.Text, 64); n.Kind == tree.Number && numeric == nil && f < 1e9 {
		d, err = time.Duration(f*float64(time.Second)), nil
	}
	if err != nil || d <= 0 {
		s.fail(key, "write a time such as 2s or 1500ms", "%s must be a time above 0", key)
	}
	return d
}

// pattern compiles a regular expression at a place.
func (s *spec) pattern(n *tree.Node, pointer string, ignoreCase bool) *regexp.Regexp {
	text := n.Str()
	if ignoreCase {
		text = "(?i)" + text
	}
	re, err := schema.Pattern(text)
	if err != nil {
		s.failAt(n, pointer, "use RE2 syntax: no look-around, no back-references", "the pattern is not a valid regular expression")
	}
	return re
}

func enumerate(names []string) string { return strings.Join(names, ", ") }
