package evaluation_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/evaluation"
)

// say is a sample whose answer is a text.
func say(text string) evaluation.Sample {
	return evaluation.Sample{Output: evaluation.Output{Text: text}}
}

// expecting is a sample with a reference.
func expecting(expected, text string) evaluation.Sample {
	return evaluation.Sample{Expected: json.RawMessage(expected), Output: evaluation.Output{Text: text}}
}

// calling is a sample whose run called tools: "name arguments" each.
func calling(calls ...string) evaluation.Sample {
	var s evaluation.Sample
	for _, c := range calls {
		name, arguments, _ := strings.Cut(c, " ")
		s.Output.Calls = append(s.Output.Calls, evaluation.Call{Name: name, Arguments: json.RawMessage(arguments)})
	}
	return s
}

func TestChecks(t *testing.T) {
	structured := evaluation.Sample{Output: evaluation.Output{Value: json.RawMessage(
		`{"total":12.50,"lines":[{"sku":"a","price":5},{"sku":"b","price":7.5}],"unit price":null,"ok":true}`)}}
	failed := evaluation.Sample{Output: evaluation.Output{Error: "the model is overloaded"}}
	found := func(keys ...string) evaluation.Sample {
		s := evaluation.Sample{Metadata: map[string]any{"expected_keys": []any{"sarah-chen", "project-alpha"}}}
		rows := []map[string]string{}
		for _, k := range keys {
			rows = append(rows, map[string]string{"key": k})
		}
		result, _ := json.Marshal(map[string]any{"status": "success", "results": rows})
		s.Output.Calls = []evaluation.Call{{Name: "search", Result: result}, {Name: "other", Result: json.RawMessage(`["x"]`)}}
		return s
	}
	for name, tc := range map[string]struct {
		spec   string
		sample evaluation.Sample
		score  float64
		// why is the explanation, or with a "!" in front the error.
		why string
	}{
		"exact":                    {`type: exact`, expecting(`"Oslo"`, " Oslo\n"), 1, ""},
		"exact, own value":         {`{type: exact, value: OSLO, ignore_case: true}`, expecting(`"Rome"`, "oslo"), 1, ""},
		"exact, differs":           {`{type: exact, value: "The capital is Oslo"}`, say("The capital is Rome"), 0, `differs at character 16: want "The capital is Oslo", got "The capital is Rome"`},
		"exact, long":              {`{type: exact, value: "` + strings.Repeat("a", 200) + `b"}`, say(strings.Repeat("a", 200)), 0, `differs at character 201: want "…aaaaaaaaaaaaaaaaaaaab", got "…aaaaaaaaaaaaaaaaaaaa"`},
		"exact, JSON":              {`{type: exact, value: {ok: true, total: 1.250e1, "unit price": null, lines: [{price: 5, sku: a}, {sku: b, price: 7.5}]}}`, structured, 1, ""},
		"exact, JSON differs":      {`{type: exact, value: {a: 1, b: [1, 2], c: x}}`, say(`{"a":"1","b":[1],"d":2}`), 0, `/a: want 1, got "1"; /b: want 2 items, got 1; /c: want "x", got nothing; /d: got 2, want nothing`},
		"exact, JSON in a fence":   {`{type: exact, value: [1]}`, say("```json\n[1.0]\n```"), 1, ""},
		"exact, text for JSON":     {`{type: exact, value: {a: 1}}`, say("a is one"), 0, `want {"a":1}, got the text "a is one"`},
		"exact, true is not 1":     {`{type: exact, value: true}`, say("1"), 0, `/: want true, got 1`},
		"exact, no reference":      {`type: exact`, say("x"), 0, "!exact: nothing is expected: give value in the check, or expected in the sample"},
		"contains":                 {`{type: contains, value: Oslo}`, say("It is Oslo."), 1, ""},
		"contains, expected":       {`type: contains`, expecting(`["a", 3]`, "a and 3"), 1, ""},
		"contains, share":          {`{type: contains, value: [Oslo, Rome]}`, say("It is Oslo."), 0.5, `the answer lacks "Rome": "It is Oslo."`},
		"contains, case":           {`{type: contains, value: oslo}`, say("Oslo"), 0, `the answer lacks "oslo": "Oslo"`},
		"contains, ignoring case":  {`{type: contains, value: oslo, ignore_case: true}`, say("OSLO"), 1, ""},
		"contains, any":            {`{type: contains, value: [a, b], mode: any}`, say("b"), 1, ""},
		"contains, not any":        {`{type: contains, value: [a, b], mode: any}`, say("c"), 0, `the answer has none of "a", "b": "c"`},
		"contains, none":           {`{type: contains, value: [a, b], mode: none}`, say("c"), 1, ""},
		"contains, not none":       {`{type: contains, value: [a, b], mode: none}`, say("b"), 0, `the answer has "b": "b"`},
		"contains, failed run":     {`{type: contains, value: [a], mode: none}`, failed, 0, "the run failed: the model is overloaded"},
		"contains, in JSON":        {`{type: contains, value: '"sku":"b"'}`, structured, 1, ""},
		"regex":                    {`{type: regex, pattern: '^\d{4}-\d\d$'}`, say("2026-11"), 1, ""},
		"regex, no match":          {`{type: regex, pattern: '^\d+$'}`, say("x"), 0, `the answer does not match ^\d+$: "x"`},
		"regex, case":              {`{type: regex, pattern: oslo, ignore_case: true}`, say("OSLO"), 1, ""},
		"regex, none":              {`{type: regex, pattern: '\S+@\S+', mode: none}`, say("write to a@b.example now"), 0, `"a@b.example" in the answer matches \S+@\S+`},
		"json_schema":              {`{type: json_schema, schema: {type: object, required: [total]}}`, structured, 1, ""},
		"json_schema, invalid":     {`{type: json_schema, schema: {properties: {total: {type: string}}, required: [x]}}`, structured, 0, `/: missing property 'x'; /total: got number, want string`},
		"json_schema, text":        {`{type: json_schema, schema: true}`, say("hello"), 0, `the answer is not JSON: "hello"`},
		"json_path":                {`{type: json_path, path: "$.lines[1].price", equals: 7.50}`, structured, 1, ""},
		"json_path, last":          {`{type: json_path, path: "$.lines[-1]['sku']", equals: b}`, structured, 1, ""},
		"json_path, wildcard":      {`{type: json_path, path: "$.lines[*].sku", equals: b}`, structured, 1, ""},
		"json_path, no wildcard":   {`{type: json_path, path: "$.lines[*].sku", equals: c}`, structured, 0, `none of the 2 values at $.lines[*].sku is "c"`},
		"json_path, differs":       {`{type: json_path, path: $.total, equals: 13}`, structured, 0, `$.total: /: want 13, got 12.50`},
		"json_path, null":          {`{type: json_path, path: "$['unit price']"}`, structured, 1, ""},
		"json_path, absent":        {`{type: json_path, path: $.vat}`, structured, 0, `$.vat is not there`},
		"json_path, must not be":   {`{type: json_path, path: $.ok, exists: false}`, structured, 0, `$.ok is there: true`},
		"numeric":                  {`{type: numeric, value: 1234.5, tolerance: 0.5}`, say("It costs 1,235 in all, 3 % off."), 1, ""},
		"numeric, float":           {`{type: numeric, value: 0.3}`, say("0.30000000000000004"), 1, ""},
		"numeric, relative":        {`{type: numeric, relative: 0.1}`, expecting(`100`, "111"), 0, "want 100 ± 10 %, got 111"},
		"numeric, path":            {`{type: numeric, path: $.total, value: 12.5}`, structured, 1, ""},
		"numeric, no number there": {`{type: numeric, path: $.ok, value: 1}`, structured, 0, "there is no number at $.ok; want 1"},
		"numeric, no number":       {`{type: numeric, value: 1}`, say("one"), 0, `the answer has no number; want 1: "one"`},
		"numeric, no expectation":  {`{type: numeric}`, expecting(`"x"`, "1"), 0, `!numeric: expected is no number: "x"`},
		"tool_called":              {`{type: tool_called, tool: search}`, calling(`search {"query":"a"}`), 1, ""},
		"tool_called, subset":      {`{type: tool_called, tool: pay, arguments: {to: {name: Ann}}}`, calling(`pay {"to":{"name":"Ann","id":1},"sum":2}`), 1, ""},
		"tool_called, differs":     {`{type: tool_called, tool: pay, arguments: {sum: 3}}`, calling(`pay {"sum":2}`, `pay {}`), 0, `pay with these arguments was called never; want at least once; the nearest call differs at /sum: want 3, got 2`},
		"tool_called, pattern":     {`{type: tool_called, tool: search, matching: {query: "(?i)oslo"}}`, calling(`search {"query":"LOOKUP OSLO"}`), 1, ""},
		"tool_called, no pattern":  {`{type: tool_called, tool: search, matching: {query: "^FUZZY", limit: "."}}`, calling(`search {"query":"LOOKUP a"}`), 0, `search with these arguments was called never; want at least once; the nearest call differs at /limit: got nothing; /query: "LOOKUP a" does not match ^FUZZY`},
		"tool_called, never":       {`{type: tool_called, tool: search}`, calling(`pay {}`), 0, `search was called never; want at least once; the calls were: pay`},
		"tool_called, too often":   {`{type: tool_called, tool: a, times: 1}`, calling("a {}", "a {}"), 0, `a was called 2 times; want once`},
		"tool_called, span":        {`{type: tool_called, tool: a, times: {min: 1, max: 2}}`, calling("a {}", "a {}"), 1, ""},
		"tool_called, at most":     {`{type: tool_called, tool: a, times: {max: 0}}`, calling("a {}"), 0, "a was called once; want never"},
		"tool_order":               {`{type: tool_order, tools: [a, c]}`, calling("a", "b", "c"), 1, ""},
		"tool_order, wrong":        {`{type: tool_order, tools: [c, a]}`, calling("a", "b", "c"), 0, "a was not called after c; the calls were: a, b, c"},
		"tool_order, strict":       {`{type: tool_order, tools: [a, c], strict: true}`, calling("a", "b", "c"), 0, "want the calls a, c and no others, got a, b, c"},
		"no_forbidden_tool":        {`{type: no_forbidden_tool, tools: ["delete_*", send]}`, calling("search {}"), 1, ""},
		"no_forbidden_tool, one":   {`{type: no_forbidden_tool, tools: "delete_*"}`, calling(`delete_all {"really":true}`), 0, `delete_all was called with {"really":true}`},
		"latency":                  {`{type: latency, max: 2s}`, evaluation.Sample{Output: evaluation.Output{Latency: 3 * time.Second}}, 0, "the run took 3s; at most 2s is allowed"},
		"latency, seconds":         {`{type: latency, max: 0.5}`, evaluation.Sample{Output: evaluation.Output{Latency: time.Second / 2}}, 1, ""},
		"cost":                     {`{type: cost, max: 0.01}`, evaluation.Sample{Output: evaluation.Output{CostUSD: 0.02}}, 0, "the run cost $0.02; at most $0.01 is allowed"},
		"tokens":                   {`{type: tokens, max: 100, of: output}`, evaluation.Sample{Output: evaluation.Output{InputTokens: 900, OutputTokens: 101}}, 0, "the run used 101 tokens (output); at most 100 are allowed"},
		"error":                    {`{type: error, contains: overloaded}`, failed, 1, ""},
		"error, another":           {`{type: error, contains: refused}`, failed, 0, `the error lacks "refused": the model is overloaded`},
		"error, none":              {`type: error`, say("fine"), 0, `the run did not fail; it answered "fine"`},
		"retrieval_precision":      {`type: retrieval_precision`, found("Sarah Chen", "x", "x", "y", "project_alpha"), 0.5, `2 of the 4 found keys were expected; not expected: "x", "y"`},
		"retrieval_precision at 1": {`{type: retrieval_precision, k: 1}`, found("sarah-chen", "x"), 1, ""},
		"retrieval_precision, 0":   {`type: retrieval_precision`, found(), 0, `nothing was found; "sarah-chen", "project-alpha" were expected`},
		"retrieval_recall":         {`type: retrieval_recall`, found("x", "sarah-chen"), 0.5, `1 of the 2 expected keys were found; missed: "project-alpha"`},
		"retrieval_recall at 1":    {`{type: retrieval_recall, k: 1, expected: [a, x]}`, found("x", "a"), 0.5, `1 of the 2 expected keys were found; missed: "a"`},
		"retrieval_recall, tool":   {`{type: retrieval_recall, tool: other, expected: [x]}`, found("y"), 1, ""},
		"retrieval_recall, nobody": {`{type: retrieval_recall}`, calling("search {}"), 0, "!retrieval_recall: no keys are expected: give expected in the check, expected_keys in the sample's metadata, or a list as the sample's expected"},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := evaluation.Parse("", []byte(tc.spec))
			if err != nil {
				t.Fatal(err)
			}
			v, err := list[0].Evaluate(context.Background(), tc.sample)
			if want, fails := strings.CutPrefix(tc.why, "!"); fails {
				if err == nil || err.Error() != want {
					t.Errorf("error %v, want %s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if v.Overall.Value != tc.score || v.Overall.Explanation != tc.why || *v.Overall.Pass != (tc.score == 1) {
				t.Errorf("got %v %q, want %v %q", v.Overall.Value, v.Overall.Explanation, tc.score, tc.why)
			}
			if diff := cmp.Diff([]evaluation.Score{v.Overall}, v.Scores); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPassMark(t *testing.T) {
	list, err := evaluation.Parse("", []byte("{type: contains, name: towns, value: [Oslo, Rome], pass_mark: 0.5}"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := list[0].Evaluate(t.Context(), say("Oslo"))
	if err != nil || !*v.Overall.Pass || v.Overall.Label != "pass" || v.Overall.Name != "towns" || v.Evaluator != "towns" {
		t.Errorf("%+v, %v", v, err)
	}
}
