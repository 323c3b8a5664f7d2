package ask

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/rem"
)

func plan(t *testing.T, text string) []Stage {
	t.Helper()
	var stages []Stage
	if err := json.Unmarshal([]byte(text), &stages); err != nil {
		t.Fatal(err)
	}
	return stages
}

// TestFill: the keys contain characters that could end any quotation.
func TestFill(t *testing.T) {
	a, _ := setup(t, &engine{})
	keys := func(ref Ref) []string {
		switch ref {
		case "1", "stage1", "people":
			return []string{"sarah-chen", `O'Brien", mike`, "a'; DROP TABLE users --"}
		case "one":
			return []string{"it's"}
		}
		return nil
	}
	for text, want := range map[string]string{
		`LOOKUP ${stage1.key}`:                                   `LOOKUP sarah-chen`,
		`LOOKUP ${people.keys}`:                                  `LOOKUP sarah-chen, "O'Brien\", mike", a'; DROP TABLE users --`,
		`LOOKUP first, ${ people.keys }, last, ${people.key}`:    `LOOKUP first, sarah-chen, "O'Brien\", mike", a'; DROP TABLE users --, last`,
		`LOOKUP team-${stage1.key}`:                              `LOOKUP team-sarah-chen`,
		`FUZZY ${people.keys} LIMIT 3`:                           `FUZZY "sarah-chen O'Brien\", mike a'; DROP TABLE users --" LIMIT 3`,
		`SEARCH "what ${one.key} about" FROM moments`:            `SEARCH "what it's about" FROM moments`,
		`SEARCH x FROM moments WHERE "name IN (${people.keys})"`: `SEARCH "x" FROM moments WHERE "name IN ('sarah-chen', 'O''Brien\", mike', 'a''; DROP TABLE users --')"`,
		`TRAVERSE ${stage1.key} TYPE manages`:                    `TRAVERSE sarah-chen TYPE manages`,
		`TRAVERSE TYPE manages WITH LOOKUP ${one.key}`:           `TRAVERSE TYPE manages WITH LOOKUP it's`,
		`SQL SELECT 1 FROM users WHERE name = ${one.key}`:        `SQL SELECT 1 FROM users WHERE name = 'it''s'`,
		`SELECT 'a''b', "c" FROM users -- x
			WHERE name IN (${one.keys}) /* y */ OR name = ${one.key}`: `SQL SELECT 'a''b', "c" FROM users -- x
			WHERE name IN ('it''s') /* y */ OR name = 'it''s'`,
		`EXPLAIN LOOKUP ${one.key}`: `EXPLAIN LOOKUP it's`,
	} {
		q, empty, err := a.fill(text, keys)
		if err != nil || empty != "" || q.String() != want {
			t.Errorf("%s:\n got %v (%q, %v)\nwant %s", text, q, empty, err, want)
			continue
		}
		if back, err := rem.Parse(q.String()); err != nil || back.String() != want {
			t.Errorf("%s reads back as %v, %v", want, back, err)
		}
	}
	for text, want := range map[string]string{
		`SQL SELECT 1 FROM users WHERE name = '${one.key}'`: "inside of quotes or a comment",
		`SQL SELECT 1 FROM users WHERE name = "${one.key}"`: "inside of quotes or a comment",
		`SQL SELECT 1 FROM users -- ${one.key}`:             "inside of quotes or a comment",
		`SQL SELECT 1 FROM users /* ${one.key} */`:          "inside of quotes or a comment",
		`TRAVERSE sarah TYPE ${one.key}`:                    "stands for a relation",
		`LOOKUP team-${people.keys}`:                        "several keys",
		`LOOKUP p8ref0x, ${one.key}`:                        "holds the word p8ref",
	} {
		if _, _, err := a.fill(text, keys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, empty, err := a.fill(`LOOKUP ${one.key}, ${none.keys}`, keys); err != nil || empty != "none" {
		t.Errorf("got %q, %v", empty, err)
	}
}

// FuzzFill: a key never changes the structure of the query.
func FuzzFill(f *testing.F) {
	for _, key := range []string{"a", `"`, `'`, `\`, `a", b`, "', '", "--", "/*", "$1", "${x.key}", "p8ref0x", "TYPE x", "\x00", " "} {
		f.Add(key)
	}
	a := &Asker{o: Options{Engine: &engine{}}}
	f.Fuzz(func(t *testing.T, key string) {
		keys := func(Ref) []string { return []string{key} }
		q, _, err := a.fill("LOOKUP ${x.keys}, z", keys)
		if lookup, ok := q.(rem.Lookup); err == nil && (!ok || len(lookup.Keys) > 2 || lookup.Keys[len(lookup.Keys)-1] != "z") {
			t.Errorf("%q: %v", key, q)
		}
		q, _, err = a.fill("SQL SELECT 1 FROM users WHERE name = ${x.key} AND 1 = 2", keys)
		if err != nil {
			return
		}
		before, after, _ := strings.Cut(q.(rem.Select).Text, "name = ")
		literal, ok := strings.CutSuffix(after, " AND 1 = 2")
		inner := strings.TrimSuffix(strings.TrimPrefix(literal, "'"), "'")
		if !ok || before != "SELECT 1 FROM users WHERE " || strings.ReplaceAll(inner, "''", "") != strings.ReplaceAll(key, "'", "") {
			t.Errorf("%q: %v", key, q)
		}
	})
}

func TestRun(t *testing.T) {
	e := &engine{finds: map[string][]string{
		`FUZZY "sara"`:                     {"sarah-chen", "sara-lee"},
		`TRAVERSE sarah-chen TYPE manages`: {"project-alpha"},
		`LOOKUP sarah-chen, sara-lee`:      {"sarah-chen", "sara-lee"},
		`LOOKUP sarah-chen`:                {"sarah-chen"},
		`LOOKUP old-key`:                   {"old-key"},
	}}
	a, _ := setup(t, e)
	for name, c := range map[string]struct {
		plan Plan
		ran  []string
		want string
	}{
		"with what was found": {
			plan: Plan{Stages: plan(t, `[{"stage":2,"query":"LOOKUP ${people.keys}"},{"stage":1,"name":"people","query":"FUZZY sara"},{"stage":3,"query":"TRAVERSE ${people.key} TYPE manages"}]`)},
			ran:  []string{`FUZZY "sara"`, `LOOKUP sarah-chen, sara-lee`, `TRAVERSE sarah-chen TYPE manages`},
			want: "1:2 2:2 3:1",
		},
		"with what was found before": {
			plan: Plan{Stages: plan(t, `[{"stage":1,"query":"FUZZY sara"},{"stage":2,"query":"LOOKUP ${stage1.key}"}]`), ResumeFrom: 2,
				Previous: []StageResult{{Stage: 1, Results: []json.RawMessage{json.RawMessage(`{"key":"old-key"}`)}}}},
			ran:  []string{"LOOKUP old-key"},
			want: "2:1",
		},
		"nothing to go on with": {
			plan: Plan{Stages: plan(t, `[{"stage":1,"query":"FUZZY nobody"},{"stage":2,"query":"LOOKUP ${stage1.keys}"},{"stage":3,"query":"LOOKUP old-key"}]`)},
			ran:  []string{`FUZZY "nobody"`, `LOOKUP old-key`},
			want: "1:0 2:not run: stage1 found nothing to go on with 3:1",
		},
		"only the plan": {
			plan: Plan{Stages: plan(t, `[{"stage":1,"query":"FUZZY sara"},{"stage":2,"query":"LOOKUP ${stage1.keys}"}]`), PlanOnly: true},
			want: "1:0 2:0",
		},
		"an intent": {
			plan: Plan{Stages: plan(t, `[{"stage":1,"query":"FUZZY sara"},{"stage":2,"intent":"What does ${stage1.key} manage?"}]`), Model: "rules"},
			// The rules look the name up, and whether it has such edges.
			ran:  []string{`FUZZY "sara"`, `LOOKUP sarah-chen`, `TRAVERSE sarah-chen TYPE manages DEPTH 0`, `TRAVERSE sarah-chen TYPE manages`},
			want: "1:2 2:1",
		},
		"an intent that says nothing": {
			plan: Plan{Stages: plan(t, `[{"stage":1,"intent":"hello"}]`), Model: "rules"},
			ran:  []string{"LOOKUP hello"},
			want: "1:not run: the intent was not understood as one query.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e.ran = nil
			got, err := a.Run(caller(t), c.plan)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, r := range got {
				what := string('0' + rune(r.Count))
				if r.Warning != "" {
					what = r.Warning
				}
				said = append(said, string('0'+rune(r.Stage))+":"+what)
			}
			if s := strings.Join(said, " "); !strings.HasPrefix(s, c.want) || !slices.Equal(e.ran, c.ran) {
				t.Errorf("got %s after %q\nwant %s after %q", s, e.ran, c.want, c.ran)
			}
		})
	}
}

func TestRunFails(t *testing.T) {
	broken := errors.New("broken")
	e := &engine{fails: map[string]error{"LOOKUP b": broken}}
	a, _ := setup(t, e)
	for text, want := range map[string]string{
		`[{"stage":1,"query":"LOOKUP a"},{"stage":2,"query":"FUZZY x LIMIT 0"}]`: "stage 2: column 15: LIMIT is 0",
		`[{"stage":1,"query":"hello"}]`:                                          `stage 1: column 1: "hello" is no verb`,
		`[{"stage":1,"query":"LOOKUP a"},{"stage":2,"query":"LOOKUP b"}]`:        "stage 2: broken",
	} {
		ran, err := a.Run(caller(t), Plan{Stages: plan(t, text)})
		if staged := new(StageError); !errors.As(err, &staged) || !strings.HasPrefix(err.Error(), want) || len(ran) != staged.Stage-1 {
			t.Errorf("%s: %v after %d stages", text, err, len(ran))
		}
	}
	for _, p := range []Plan{
		{}, {Previous: make([]StageResult, MaxStages+1), Stages: plan(t, `[{"query":"LOOKUP a"}]`)},
		{ResumeFrom: 5, Stages: plan(t, `[{"stage":1,"query":"LOOKUP a"}]`)},
	} {
		if _, err := a.Run(caller(t), p); !errors.As(err, new(*InputError)) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestPlannedAnswer: a question that needs two steps.
func TestPlannedAnswer(t *testing.T) {
	const says = `{"query_type":"LOOKUP","query":"x","confidence":0.8,"reasoning":"First who, then what.","plan":[
		{"stage":1,"name":"people","query":"FUZZY sara"},{"stage":2,"query":"TRAVERSE ${people.key}","depends_on":[1]}]}`
	finds := map[string][]string{`FUZZY "sara"`: {"sarah-chen"}, "TRAVERSE sarah-chen": {"sarah-chen", "project-alpha"}}
	e := &engine{finds: finds}
	a, _ := setup(t, e, scripted.Text(says))
	got, err := a.Ask(caller(t), "What hangs together with Sara?", Request{})
	if err != nil || !got.Executed || got.Count != 2 || got.QueryType != rem.TRAVERSE || got.Query != "TRAVERSE ${people.key}" || got.Reasoning == "" ||
		len(got.Stages) != 2 || got.Stages[1].Query != "TRAVERSE sarah-chen" || got.Stages[0].Count != 1 || len(got.Parameters.EntityKey) != 1 || got.Parameters.EntityKey[0] != "${people.key}" {
		t.Errorf("%+v, %v", got, err)
	}

	e = &engine{finds: finds}
	a, _ = setup(t, e, scripted.Text(says))
	got, err = a.Ask(caller(t), "What?", Request{PlanOnly: true})
	if err != nil || got.Executed || len(got.Stages) != 2 || got.Stages[1].Query != "TRAVERSE ${people.key}" || len(e.ran) != 0 || got.Reasoning == "" {
		t.Errorf("%+v, %v", got, err)
	}

	e = &engine{}
	a, _ = setup(t, e, scripted.Text(says))
	got, err = a.Ask(caller(t), "What?", Request{})
	if err != nil || !got.Executed || got.Count != 0 || got.Warning != "not run: people found nothing to go on with" {
		t.Errorf("%+v, %v", got, err)
	}

	// So is one with a stage that cannot be read.
	unreadable := strings.Replace(says, `"FUZZY sara"`, `"FUZZY sara LIMIT 0"`, 1)
	e = &engine{finds: finds}
	a, m := setup(t, e, scripted.Text(unreadable), scripted.Text(unreadable))
	if got, err = a.Ask(caller(t), "What?", Request{}); err != nil || got.Executed || !strings.Contains(got.Reasoning, "stage 1: column 18: LIMIT is 0") || len(e.ran) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(m.Requests()); n != 2 {
		t.Errorf("asked %d times", n)
	}

	// A plan that goes in a circle is sent back.
	circle := strings.Replace(says, `"FUZZY sara"`, `"FUZZY ${stage2.key}"`, 1)
	e = &engine{finds: finds}
	a, m = setup(t, e, scripted.Text(circle), scripted.Text(says))
	if got, err = a.Ask(caller(t), "What?", Request{}); err != nil || got.Count != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if sent := m.Requests()[1].Messages; !strings.Contains(sent[len(sent)-1].Content, "in a circle") {
		t.Errorf("%+v", sent)
	}
}
