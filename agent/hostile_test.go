package agent_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
)

// lines writes one line for each number.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.NewReplacer("%d", fmt.Sprint(i), "%e", fmt.Sprint(i+1)).Replace(format) + "\n")
	}
	return b.String()
}

// TestHostileDocuments are documents of a few kilobytes that stand for gigabytes. Each
// is refused with its place, for what a few megabytes cost.
func TestHostileDocuments(t *testing.T) {
	const head = "name: x\ndescription: d\n"
	const refs = "properties:\n  x: {$ref: '#/$defs/d0'}\n$defs:\n"
	long := strings.Repeat("x", 100_000)
	for name, c := range map[string]struct{ src, at, says string }{
		"alternatives forty deep": {head + "structured_output: true\n" + refs + lines(40, "  d%d: {anyOf: [{$ref: '#/$defs/d%e'}, {$ref: '#/$defs/d%e'}]}") + "  d40: {type: string}\n",
			"x.yaml:35:8", "stands for more than 10000 schemas"},
		"a circle of references": {head + refs + "  d0: {anyOf: [{type: string}, {$ref: '#/$defs/d1'}]}\n  d1: {$ref: '#/$defs/d0'}\n",
			"x.yaml:6:7", "refers to itself"},
		"a description for every field": {head + "properties:\n" + lines(1400, "  p%d: {$ref: '#/$defs/d'}") + "$defs:\n  d: {type: string, description: " + long + "}\n",
			"x.yaml:10:3", "bytes of the prompt"},
		"an enum for every field": {head + "properties:\n" + lines(1400, "  p%d: {$ref: '#/$defs/d'}") + "$defs:\n  d: {enum: [" + strings.Repeat("aaaaaaaaa, ", 9000) + "b]}\n",
			"x.yaml:10:3", "bytes of the prompt"},
		"aliases thirty deep": {head + "a0: &a0 {type: string}\n" + lines(30, "a%e: &a%e {anyOf: [*a%d, *a%d]}") + "properties: {x: *a30}\n",
			"x.yaml:", "once its aliases are written out"},
		"a pattern of ten thousand steps": {head + "properties:\n  x: {type: string, pattern: '(abcdefghij){1000}'}\n",
			"x.yaml:4:30", "the pattern repeats too much"},
		"a bound of a million digits": {head + "properties:\n  x: {type: number, minimum: 1e1000000}\n",
			"x.yaml:4:30", "too large"},
		"a reference that is looked up later": {head + "properties:\n  x: {$dynamicRef: '#a'}\n",
			"x.yaml:4:20", "$dynamicRef is not followed"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := agent.Parse("x.yaml", []byte(c.src))
		runtime.ReadMemStats(&after)
		var problems agent.Problems
		if !errors.As(err, &problems) || !strings.Contains(problems.Error(), c.says) || !strings.Contains(problems.Error(), c.at) {
			t.Errorf("%s: %.300v, want %q at %s", name, err, c.says, c.at)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 96 {
			t.Errorf("%s: reading %d bytes took %d MB", name, len(c.src), took)
		}
	}
}

// TestRecursiveDocuments are legal: a tree, and a union of many kinds of a tree.
func TestRecursiveDocuments(t *testing.T) {
	var kinds []string
	for i := range 20 {
		kinds = append(kinds, fmt.Sprintf("{type: object, properties: {op: {const: k%d}, l: {$ref: '#/$defs/t'}, r: {$ref: '#/$defs/t'}}, required: [op]}", i))
	}
	d, err := agent.Parse("x.yaml", []byte("name: x\ndescription: d\nstructured_output: true\nproperties: {t: {$ref: '#/$defs/t'}}\n$defs:\n  t: {anyOf: ["+strings.Join(kinds, ", ")+"]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	a := compile(t, d, agent.CompileOptions{})
	value, wrong := `{"op":"k19"}`, `{"op":"none"}`
	for range 30 { // 20^30 steps where every path is walked
		value, wrong = `{"op":"k19","l":`+value+`}`, `{"op":"k19","l":`+wrong+`}`
	}
	if failures := failuresOf(t, a, []byte(`{"t":`+value+`}`)); failures != nil {
		t.Errorf("a valid answer: %v", failures)
	}
	if failures := failuresOf(t, a, []byte(`{"t":`+wrong+`}`)); failures == nil {
		t.Error("a wrong answer passes")
	}
}
