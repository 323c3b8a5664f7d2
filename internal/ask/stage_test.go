package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func numbers(stages []Stage) []int {
	var out []int
	for _, s := range stages {
		out = append(out, s.Stage)
	}
	return out
}

func TestOrder(t *testing.T) {
	for name, c := range map[string]struct {
		plan string
		done string
		want []int
	}{
		"one, without a number":     {plan: `[{"query":"LOOKUP a"}]`, want: []int{1}},
		"by number":                 {plan: `[{"stage":3,"query":"a"},{"stage":1,"query":"b"},{"stage":2,"query":"c"}]`, want: []int{1, 2, 3}},
		"by number of a dependency": {plan: `[{"stage":1,"query":"a","depends_on":[2]},{"stage":2,"query":"b"}]`, want: []int{2, 1}},
		"by name":                   {plan: `[{"stage":1,"query":"a","depends_on":["late"]},{"stage":2,"query":"b","name":"late"}]`, want: []int{2, 1}},
		"by stageN":                 {plan: `[{"stage":1,"query":"a","depends_on":["stage2"]},{"stage":2,"intent":"b"}]`, want: []int{2, 1}},
		"by reference":              {plan: `[{"stage":1,"query":"LOOKUP ${x.keys}"},{"stage":2,"query":"b","name":"x"},{"stage":3,"query":"c"}]`, want: []int{2, 1, 3}},
		"on what was run before":    {plan: `[{"stage":2,"query":"LOOKUP ${stage1.key}"}]`, done: `[{"stage":1}]`, want: []int{2}},
		"on its name":               {plan: `[{"stage":2,"query":"LOOKUP ${people.key}"}]`, done: `[{"stage":1,"name":"people"}]`, want: []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			var plan []Stage
			var done []StageResult
			if err := json.Unmarshal([]byte(c.plan), &plan); err != nil {
				t.Fatal(err)
			}
			if c.done != "" {
				if err := json.Unmarshal([]byte(c.done), &done); err != nil {
					t.Fatal(err)
				}
			}
			got, err := order(plan, done)
			if err != nil || !slices.Equal(numbers(got), c.want) {
				t.Errorf("got %v, %v; want %v", numbers(got), err, c.want)
			}
		})
	}
}

func TestBadPlans(t *testing.T) {
	long := make([]Stage, MaxStages+1)
	for i := range long {
		long[i] = Stage{Stage: i + 1, Query: "LOOKUP a"}
	}
	text, _ := json.Marshal(long)
	for plan, want := range map[string]string{
		`[]`:                                     "the plan is empty: give at least one stage",
		string(text):                             "the plan has 11 stages; at most 10 are allowed",
		`[{"stage":1},{"stage":2,"query":"a"}]`:  "stage 1 needs either a query or an intent",
		`[{"stage":1,"query":"a","intent":"b"}]`: "stage 1 needs either a query or an intent",
		`[{"query":"a"},{"query":"b"}]`:          "every stage has a number from 1",
		`[{"stage":1,"query":"a"},{"stage":1,"query":"b"}]`:                                                                     "stage 1 is there twice",
		`[{"stage":1,"query":"a","name":"x"},{"stage":2,"query":"b","name":"x"}]`:                                               "stage 2 has the name x of stage 1",
		`[{"stage":1,"query":"a","name":"x y"}]`:                                                                                `stage 1 is named "x y"`,
		`[{"stage":1,"query":"a","name":"stage2"}]`:                                                                             "stage 1 is named stage2, which means another stage",
		`[{"stage":1,"query":"a","depends_on":[7]}]`:                                                                            `stage 1 depends on "7", which is no stage`,
		`[{"stage":1,"query":"LOOKUP ${nobody.keys}"}]`:                                                                         `stage 1 depends on "nobody", which is no stage`,
		`[{"stage":1,"query":"LOOKUP ${nobody}"}]`:                                                                              "stage 1: ${nobody} is no reference",
		`[{"stage":1,"query":"LOOKUP ${stage1.keys"}]`:                                                                          "stage 1: a reference is not closed",
		`[{"stage":1,"query":"LOOKUP ${stage1.key}"}]`:                                                                          "in a circle: the stages 1 wait",
		`[{"stage":1,"query":"a","depends_on":[2]},{"stage":2,"query":"b","depends_on":["stage1"]}]`:                            "in a circle: the stages 1, 2 wait",
		`[{"stage":1,"query":"a"},{"stage":2,"query":"LOOKUP ${c.key}"},{"stage":3,"name":"c","query":"LOOKUP ${stage2.key}"}]`: "in a circle: the stages 2, 3 wait",
	} {
		var stages []Stage
		if err := json.Unmarshal([]byte(plan), &stages); err != nil {
			t.Fatal(plan, err)
		}
		_, err := order(stages, nil)
		if input := new(InputError); !errors.As(err, &input) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", plan, err, want)
		}
	}
	var stages []Stage
	if err := json.Unmarshal([]byte(`[{"stage":1,"query":"a","depends_on":[true]}]`), &stages); err == nil {
		t.Error("true was taken for a stage")
	}
}

func TestKeys(t *testing.T) {
	var many []json.RawMessage
	for i := range 50 {
		many = append(many, json.RawMessage(fmt.Sprintf(`{"key":"k%d"}`, i)))
	}
	if n := len((StageResult{Results: many}).keys()); n != 20 {
		t.Errorf("%d keys, want 20", n)
	}
	rows := []json.RawMessage{
		json.RawMessage(`{"key":"a","entity_type":"resource"}`), json.RawMessage(`{"entity_key":"b"}`), json.RawMessage(`{"name":"C d"}`),
		json.RawMessage(`{"entity_type":"user","data":{"name":"e"}}`), json.RawMessage(`{"key":"a"}`), json.RawMessage(`{"count":3}`),
		json.RawMessage(`[1]`), json.RawMessage(`{"key":5}`), json.RawMessage(`{"key":"` + strings.Repeat("x", 600) + `"}`),
	}
	if got := (StageResult{Results: rows}).keys(); !slices.Equal(got, []string{"a", "b", "C d", "e"}) {
		t.Errorf("got %q", got)
	}
}
