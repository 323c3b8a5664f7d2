package evaluation_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/evaluation"
)

func TestSpecMistakes(t *testing.T) {
	for src, want := range map[string]string{
		``:                                       `checks.yaml:1:1: the document is empty (begin with type: and the name of a check)`,
		`hello`:                                  `checks.yaml:1:1: a check is a mapping, not a string (write type: and the name of a check, such as {type: contains, value: Oslo})`,
		`[{type: exact}, 3]`:                     `checks.yaml:1:17: a check is a mapping, not a number (write type: and the name of a check, such as {type: contains, value: Oslo})`,
		`value: x`:                               `checks.yaml:1:1: type is missing (add type:)`,
		`type: contain`:                          `checks.yaml:1:7: there is no check of type "contain" (did you mean contains?)`,
		`type: 3`:                                `checks.yaml:1:7: type must be a string, not a number (write a text)`,
		"type: contains\nvalu: x":                `checks.yaml:2:1: unknown key "valu" (did you mean value?)`,
		"- type: contains\n  value: []":          `checks.yaml:2:10: value is an empty list (write a text, or leave the key out)`,
		`{type: contains, value: {a: 1}}`:        `checks.yaml:1:25: value must be texts, not a mapping (write a text, or a list of texts)`,
		`{type: contains, mode: som}`:            `checks.yaml:1:24: mode must be one of all, any, none (there are all, any, none)`,
		`{type: exact, ignore_case: yes please}`: `checks.yaml:1:28: ignore_case must be true or false (write true or false)`,
		`{type: exact, pass_mark: 2}`:            `checks.yaml:1:26: pass_mark must be a number from 0 to 1 (write a number from 0 to 1)`,
		`{type: regex}`:                          `checks.yaml:1:1: pattern is missing (add pattern:)`,
		`{type: regex, pattern: "("}`:            `checks.yaml:1:24: the pattern is not a valid regular expression (use RE2 syntax: no look-around, no back-references)`,
		`{type: json_schema}`:                    `checks.yaml:1:1: schema is missing, or is no mapping (write a JSON Schema below schema:)`,
		`{type: json_schema, schema: {properties: {a: {type: 3}}}}`: `checks.yaml:1:53: this is not valid JSON Schema: value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string' (see JSON Schema 2020-12)`,
		`{type: json_path, path: a.b}`:                              `checks.yaml:1:25: the path "a.b" is wrong at character 1: a path begins with $ (write $.name, $['a name'], $.list[0] or $.list[*])`,
		`{type: json_path, path: "$.é[x]"}`:                         `checks.yaml:1:25: the path "$.é[x]" is wrong at character 4: expected .name, ['name'], [0] or [*] (write $.name, $['a name'], $.list[0] or $.list[*])`,
		`{type: json_path, path: $..b}`:                             `checks.yaml:1:25: the path "$..b" is wrong at character 2: descendants (..) are not supported (write $.name, $['a name'], $.list[0] or $.list[*])`,
		`{type: json_path, path: $.a, equals: 1, exists: true}`:     `checks.yaml:1:49: exists and equals cannot be given together (take one of them away)`,
		`{type: numeric, tolerance: -1}`:                            `checks.yaml:1:28: tolerance must be a number of at least 0 (write a number of at least 0)`,
		`{type: numeric, tolerance: 1, relative: 1}`:                `checks.yaml:1:41: tolerance and relative cannot be given together (take one of them away)`,
		`{type: tool_called, name: search}`:                         `checks.yaml:1:1: tool is missing (add tool:)`,
		`{type: tool_called, tool: a, arguments: x}`:                `checks.yaml:1:41: arguments must be a mapping, not a string (write argument: value below it)`,
		`{type: tool_called, tool: a, matching: {q: "["}}`:          `checks.yaml:1:44: the pattern is not a valid regular expression (use RE2 syntax: no look-around, no back-references)`,
		`{type: tool_called, tool: a, times: {min: 3, max: 2}}`:     `checks.yaml:1:37: min 3 is above max 2 (swap them)`,
		`{type: tool_called, tool: a, times: 1.5}`:                  `checks.yaml:1:37: times must be an integer (write an integer)`,
		`{type: tool_called, tool: a, times: {least: 3}}`:           `checks.yaml:1:38: unknown key "least" (there are min, max)`,
		`{type: tool_order}`:                                        `checks.yaml:1:1: tools is missing (add tools: [first, second])`,
		`{type: no_forbidden_tool, tools: "[a"}`:                    `checks.yaml:1:34: the name "[a" is no pattern (close the [)`,
		`{type: latency, max: soon}`:                                `checks.yaml:1:22: max must be a time above 0 (write a time such as 2s or 1500ms)`,
		`{type: latency}`:                                           `checks.yaml:1:1: max is missing (add max:)`,
		`{type: cost}`:                                              `checks.yaml:1:1: max is missing (add max: 0.01)`,
		`{type: tokens, max: 1, of: all}`:                           `checks.yaml:1:28: of must be one of total, input, output (there are total, input, output)`,
		`{type: retrieval_recall, k: 0}`:                            `checks.yaml:1:29: k must be a number of at least 1 (write a number of at least 1)`,
		`{"type": "exact", "type": "exact"}`:                        `checks.yaml:1:19: the key "type" is already given in line 1 (remove one of them)`,
		"type: [":                                                   `checks.yaml:1:7: this is not valid YAML: sequence end token ']' not found (look at the indentation and the quotes of this line and the one before)`,
	} {
		_, err := evaluation.Parse("checks.yaml", []byte(src))
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", src, err, want)
		}
	}
}

func TestParseAll(t *testing.T) {
	var all []string
	for _, name := range evaluation.Types() {
		all = append(all, "- type: "+name)
	}
	_, err := evaluation.Parse("", []byte(strings.Join(all, "\n")))
	if err == nil || strings.Contains(err.Error(), "there is no check") {
		t.Errorf("got %v", err)
	}
	list, err := evaluation.Parse("", []byte("- type: exact\n- type: exact\n- {type: exact, name: first}"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "exact exact-2 first" {
		t.Errorf("the names are %s", got)
	}
	if _, err := evaluation.Parse("", []byte("["+strings.Repeat("{type: exact},", 1001)+"]")); err == nil || !strings.Contains(err.Error(), "at most 1000") {
		t.Errorf("a list of 1001 checks: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range []string{
		"type: exact\nvalue: {a: [1, x]}", `{"type":"json_path","path":"$.a['b'][-1][*]","equals":1}`,
		"- {type: tool_called, tool: a, times: {min: 1}, matching: {q: .*}}\n- {type: regex, pattern: a+}",
		"type: json_schema\nschema: {type: object, properties: {a: {$ref: '#'}}}", "{type: latency, max: 2s}", "{type: numeric, value: 1e3}",
	} {
		f.Add(src)
	}
	sample := expecting(`"a"`, `{"a":{"b":[[1]]}}`)
	sample.Output.Calls = calling(`a {"q":"x"}`).Output.Calls
	f.Fuzz(func(t *testing.T, src string) {
		list, err := evaluation.Parse("f.yaml", []byte(src))
		if (err == nil) == (list == nil) && src != "[]" && err == nil {
			return // an empty list
		}
		for _, e := range list {
			v, err := e.Evaluate(t.Context(), sample)
			if err == nil && !(v.Overall.Value >= 0 && v.Overall.Value <= 1) {
				t.Errorf("%s scores %v", src, v.Overall.Value)
			}
		}
	})
}
