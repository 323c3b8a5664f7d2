package evaluation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	gopath "path"
	"regexp"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// wanted describes calls of a tool.
type wanted struct {
	tool, agent string
	// arguments must be in the call's, patterns match those of their name.
	arguments any
	patterns  map[string]*regexp.Regexp
}

// wanted reads the keys tool, agent, arguments and matching.
func (s *spec) wanted() wanted {
	w := wanted{tool: s.required("tool"), agent: s.text("agent"), patterns: map[string]*regexp.Regexp{}}
	if n := s.get("arguments"); n != nil {
		if n.Kind != tree.Object {
			s.fail("arguments", "write argument: value below it", "arguments must be a mapping, not %s", n.Kind)
		}
		w.arguments = n.Any()
	}
	if n := s.get("matching"); n != nil {
		if n.Kind != tree.Object {
			s.fail("matching", "write argument: pattern below it", "matching must be a mapping, not %s", n.Kind)
		}
		for _, m := range n.Members {
			at := tree.Child(tree.Child(s.pointer, "matching"), m.Key)
			if m.Value.Kind != tree.Text {
				s.failAt(m.Value, at, "write a regular expression", "the pattern of %s must be a string, not %s", tree.Clip(m.Key, 60), m.Value.Kind)
				continue
			}
			w.patterns[m.Key] = s.pattern(m.Value, at, false)
		}
	}
	return w
}

// concerns reports whether a call is one of this tool, whatever its arguments are.
func (w *wanted) concerns(c *Call) bool {
	return c.Name == w.tool && (w.agent == "" || c.Agent == w.agent || strings.HasSuffix(c.Agent, "/"+w.agent))
}

// mismatch returns how the arguments differ from the wanted ones; none if they match.
func (w *wanted) mismatch(c *Call) []string {
	if w.arguments == nil && len(w.patterns) == 0 {
		return nil
	}
	got, err := decode(c.Arguments)
	if err != nil {
		return []string{"the arguments are not JSON: " + brief(string(c.Arguments))}
	}
	var out []string
	if w.arguments != nil {
		subset(w.arguments, got, "", &out)
	}
	fields, _ := got.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(w.patterns)) {
		text, isText := fields[name].(string)
		if !isText {
			text = write(fields[name])
		}
		if _, there := fields[name]; !there {
			out = append(out, tree.Child("", name)+": got nothing")
		} else if re := w.patterns[name]; !re.MatchString(text) {
			out = append(out, fmt.Sprintf("%s: %s does not match %s", tree.Child("", name), quote(text), brief(re.String())))
		}
	}
	return out
}

// subset compares like compare, but got may have more fields. A list must be the same.
func subset(want, got any, pointer string, out *[]string) {
	w, isMap := want.(map[string]any)
	g, ok := got.(map[string]any)
	if !isMap || !ok {
		compare(want, got, pointer, out)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(w)) {
		at := tree.Child(pointer, key)
		if value, there := g[key]; there {
			subset(w[key], value, at, out)
		} else {
			*out = append(*out, at+": want "+write(w[key])+", got nothing")
		}
	}
}

// toolCalled counts the calls of a tool with certain arguments. Without times, one call is
// enough.
func toolCalled(s *spec) judge {
	w := s.wanted()
	least, most := s.times()
	return func(_ context.Context, s *Sample) (float64, string, error) {
		count, others := 0, []string(nil)
		for i := range s.Output.Calls {
			c := &s.Output.Calls[i]
			if !w.concerns(c) {
				continue
			}
			why := w.mismatch(c)
			if len(why) == 0 {
				count++
			} else if others == nil || len(why) < len(others) {
				others = why
			}
		}
		if count >= least && (most < 0 || count <= most) {
			return 1, "", nil
		}
		text := fmt.Sprintf("%s was called %s; want %s", w.tool, times(count), span(least, most))
		if count < least && others != nil {
			text = fmt.Sprintf("%s with these arguments was called %s; want %s; the nearest call differs at %s",
				w.tool, times(count), span(least, most), strings.Join(others[:min(len(others), maxDifferences)], "; "))
		} else if count < least {
			text += "; the calls were: " + called(s.Output.Calls)
		}
		return 0, text, nil
	}
}

// times reads the key times: a number, or {min, max}. most is -1 for no bound.
func (s *spec) times() (least, most int) {
	n := s.get("times")
	switch {
	case n == nil:
		return 1, -1
	case n.Kind != tree.Object:
		v, _ := s.whole("times", 0)
		return v, v
	}
	inner := &spec{file: s.file, node: n, pointer: tree.Child(s.pointer, "times")}
	least, _ = inner.whole("min", 0)
	most, bounded := inner.whole("max", 0)
	inner.unknown()
	switch s.problems = append(s.problems, inner.problems...); {
	case !bounded:
		most = -1
	case most < least:
		s.fail("times", "swap them", "min %d is above max %d", least, most)
	}
	return least, most
}

func span(least, most int) string {
	switch {
	case most < 0:
		return fmt.Sprintf("at least %s", times(least))
	case least == most:
		return times(least)
	}
	return fmt.Sprintf("%d to %s", least, times(most))
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// toolOrder requires calls of tools in an order; other calls may be between them unless
// the check is strict.
func toolOrder(s *spec) judge {
	order, strict := s.texts("tools"), s.flag("strict")
	if s.node.Get("tools") == nil {
		s.fail("tools", "add tools: [first, second]", "tools is missing")
	}
	return func(_ context.Context, s *Sample) (float64, string, error) {
		names := make([]string, len(s.Output.Calls))
		for i, c := range s.Output.Calls {
			names[i] = c.Name
		}
		if strict {
			return yes(slices.Equal(names, order), "want the calls %s and no others, got %s", strings.Join(order, ", "), called(s.Output.Calls))
		}
		next := 0
		for _, name := range names {
			if next < len(order) && name == order[next] {
				next++
			}
		}
		if next == len(order) {
			return 1, "", nil
		}
		after := ""
		if next > 0 {
			after = " after " + order[next-1]
		}
		return yes(false, "%s was not called%s; the calls were: %s", order[next], after, called(s.Output.Calls))
	}
}

// noForbiddenTool requires that no call has one of the names, in which * stands for any text.
func noForbiddenTool(s *spec) judge {
	names := s.texts("tools")
	if s.node.Get("tools") == nil {
		s.fail("tools", "add tools: [delete_*]", "tools is missing")
	}
	for _, name := range names {
		if _, err := gopath.Match(name, ""); err != nil {
			s.fail("tools", "close the [", "the name %q is no pattern", tree.Clip(name, 60))
		}
	}
	return func(_ context.Context, s *Sample) (float64, string, error) {
		for i := range s.Output.Calls {
			c := &s.Output.Calls[i]
			for _, name := range names {
				if match, _ := gopath.Match(name, c.Name); match {
					return yes(false, "%s was called with %s", c.Name, arguments(c.Arguments))
				}
			}
		}
		return 1, "", nil
	}
}

func arguments(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "no arguments"
	}
	return brief(string(raw))
}

// called lists the names of calls.
func called(calls []Call) string {
	if len(calls) == 0 {
		return "none"
	}
	const most = 20
	var out []string
	for _, c := range calls[:min(most, len(calls))] {
		out = append(out, c.Name)
	}
	if len(calls) > most {
		out = append(out, fmt.Sprintf("and %d more", len(calls)-most))
	}
	return strings.Join(out, ", ")
}
