package testcase_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/testcase"
)

const whole = `
agent: weather
documents: ../agents
model: openai:gpt-4.1
load: data
headers: {X-User-Email: ada@example.com, X-Tenant-Id: acme}
instructions: Speak English.
limits: {total_tokens: 100, cost_usd: 0.5}
cases:
  - name: Says whether it rains
    input: Will it rain?
    load: [more]
    headers: {X-Tenant-Id: other}
    limits: {cost_usd: 0.1, seconds: 1.5}
    now: 2026-03-01T09:00:00+01:00
    expected: {rain: true}
    metadata: {category: rain}
    expect: {type: contains, value: rain}
    events: [tool_call, {type: done, reason: stop}]
    golden: true
  - name: asks first
    turns:
      - Mail Ada.
      - {approve: false, comment: not now}
      - {answer: {when: later}, instructions: Be kind.}
      - say: Well?
        expect: [{type: contains, value: a}, {type: contains, value: b}]
`

func TestParse(t *testing.T) {
	f, err := testcase.Parse("cases/weather.test.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	first, second := f.Cases[0], f.Cases[1]
	if got := []any{
		first.Agent, first.Model, first.Documents, first.Slug, first.Load, first.Headers.Get("X-User-Email"), first.Headers.Get("X-Tenant-Id"),
		first.Limits.TotalTokens, first.Limits.CostUSD, first.Limits.Time.Seconds(), first.Now.Hour(), first.Golden, string(first.Expected), len(first.Expect), len(first.Events), first.Line, first.Column,
		first.Cassette(), second.Headers.Get("X-Tenant-Id"), second.Limits.CostUSD, second.Golden, len(second.Turns), second.Instructions,
	}; !cmp.Equal(got, []any{
		"weather", "openai:gpt-4.1", "../agents", "says-whether-it-rains", []string{"data", "more"}, "ada@example.com", "other",
		100, 0.1, 1.5, 8, true, `{"rain":true}`, 1, 2, 10, 5,
		"cases/recordings/weather/says-whether-it-rains.cassette.yaml", "acme", 0.5, false, 4, "Speak English.",
	}) {
		t.Errorf("read as %+v", got)
	}
	want := []testcase.Turn{
		{Line: 23, Say: "Mail Ada."},
		{Line: 24, Decision: &testcase.Decision{Comment: "not now"}},
		{Line: 25, Decision: &testcase.Decision{Accept: true, Content: []byte(`{"when":"later"}`)}, Instructions: "Be kind."},
	}
	if diff := cmp.Diff(want, second.Turns[:3]); diff != "" {
		t.Error(diff)
	}
	if n := len(second.Turns[3].Expect); n != 2 {
		t.Errorf("the last turn has %d checks, want 2", n)
	}
}

// TestSamples: evaluations read the same file.
func TestSamples(t *testing.T) {
	list, err := testcase.Samples("x.test.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Input != "Will it rain?" || string(list[0].Expected) != `{"rain":true}` || list[1].Input != "Well?" {
		t.Errorf("%+v", list)
	}
	if diff := cmp.Diff(map[string]any{"case": "Says whether it rains", "agent": "weather", "category": "rain"}, list[0].Metadata); diff != "" {
		t.Error(diff)
	}
}

// TestMistakes: the transcript test.txtar has most; these are the others.
func TestMistakes(t *testing.T) {
	for src, want := range map[string]string{
		"":                                  "x.yaml:1:1: the document is empty",
		"- a\n":                             "x.yaml:1:1: a file of cases is a mapping, not a list",
		"agent: a\n":                        "there are no cases",
		"cases: 3\n":                        "x.yaml:1:8: cases must be a list, not a number",
		"cases: [hi]\n":                     "x.yaml:1:9: a case is a mapping, not a string",
		"cases: [{name: a}]\n":              "the case says nothing to the agent",
		"cases: [{name: '!', input: a}]\n":  `the name "!" is none for a file`,
		"cases: [{name: a, turns: [[]]}]\n": "a turn is a mapping, not a list",
		"cases: [{name: a, turns: [{}]}]\n": "a turn has one of say, approve and answer",
		"cases: [{name: a, input: ''}]\n":   "input is empty",
		"cases: [{name: a, input: x, load: {}}]\n":                        "load must be a text, not a mapping",
		"cases: [{name: a, input: x, headers: 3}]\n":                      "headers is a mapping, not a number",
		"cases: [{name: a, input: x, limits: {requests: -1}}]\n":          "requests must be a number above 0",
		"cases: [{name: a, input: x, headers: {X-User-Id: \"a\\tb\"}}]\n": "X-User-Id",
		"cases: [{name: a, turns: [{approve: true}]}]\n":                  "the first turn answers a question that nobody has asked",
		"cases: [{name: a, turns: [x, {approve: perhaps}]}]\n":            "approve must be true or false",
		"cases: [{name: a, turns: [x, {answer: 3}]}]\n":                   "answer is a mapping, not a number",
		"cases: [{name: a, input: x, metadata: 3}]\n":                     "metadata is a mapping, not a number",
		"cases: [{name: a, input: x, events: done}]\n":                    "events must be a list, not a string",
		"cases: [{name: a, input: x, events: [{reason: stop}]}]\n":        "the event has no type",
	} {
		_, err := testcase.Parse("x.yaml", []byte(src))
		var problems agent.Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", src, err, want)
			continue
		}
		for _, p := range problems {
			if p.Hint == "" {
				t.Errorf("%q: %v says not what to do", src, p)
			}
		}
	}
}

// FuzzParse: no text makes the parser panic, and each mistake has a hint.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("cases: [{name: a, turns: [x, {approve: true}], events: [{type: action, payload: {a: 1}}]}]"))
	if script, err := os.ReadFile("../../cmd/p8/testdata/script/test.txtar"); err == nil {
		_, mistakes, _ := strings.Cut(string(script), "-- mistakes/weather.test.yaml --\n")
		f.Add([]byte(mistakes))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		list, err := testcase.Parse("x.test.yaml", src)
		var problems agent.Problems
		if err != nil && !errors.As(err, &problems) {
			t.Fatalf("%T: %v", err, err)
		}
		for _, p := range problems {
			if p.Message == "" || p.Hint == "" {
				t.Errorf("%+v", p)
			}
		}
		if err == nil && len(list.Cases) == 0 {
			t.Error("no cases and no problem")
		}
	})
}
