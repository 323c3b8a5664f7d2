package knowledge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// desk is a server on a place. Its model obeys the user: each line "call NAME {…}" makes
// it call a tool.
type desk struct {
	*harness.Server
	*place
	model *harness.Fake
}

func newDesk(t *testing.T, p *place) *desk {
	t.Helper()
	model := harness.NewFake(t, func(x harness.Exchange) harness.Reply {
		text, answered := x.Question()
		var calls []harness.Call
		for line := range strings.Lines(text) {
			if call, ok := strings.CutPrefix(strings.TrimSpace(line), "call "); ok && !answered {
				name, arguments, _ := strings.Cut(call, " ")
				calls = append(calls, harness.Call{ID: fmt.Sprintf("call_%d", len(calls)+1), Name: name, Arguments: arguments})
			}
		}
		if len(calls) > 0 {
			return harness.Reply{Calls: calls}
		}
		return harness.Reply{Text: []string{"Done."}}
	})
	return &desk{p.serve(t, model.Env()...), p, model}
}

// commandLine queries with `p8 query`, one query in each line, beside the server. A query
// without an answer precedes each one, so that answers can be told apart.
func (d *desk) commandLine(t *testing.T, queries []string) []answer {
	t.Helper()
	var in strings.Builder
	for i, q := range queries {
		fmt.Fprintf(&in, "LOOKUP before-query-%d\n%s\n", i, q)
	}
	_, stdout, stderr := harness.Start(t, d.env(), in.String(), "query", "--format", "json").Wait()
	list := make([]answer, len(queries))
	at := -1
	for dec := json.NewDecoder(strings.NewReader(stdout)); dec.More(); {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			t.Fatal(err)
		}
		a := answerOf(t, raw)
		if keys, _ := a.whole["keys"].([]any); len(keys) == 1 && keys[0] == fmt.Sprintf("before-query-%d", at+1) {
			at++
			list[at].problem = "no answer"
			continue
		}
		if at < 0 {
			t.Fatalf("the first answer is %s", raw)
		}
		list[at] = a
	}
	if at != len(queries)-1 {
		t.Fatalf("p8 query answered %d of %d queries:\n%s", at+1, len(queries), stderr)
	}
	return list
}

// raw asks by POST /query/raw, dialect by POST /query/.
func (d *desk) raw(t *testing.T, queries []string) []answer { return d.post(t, "/query/raw", queries) }

func (d *desk) dialect(t *testing.T, queries []string) []answer { return d.post(t, "/query/", queries) }

func (d *desk) post(t *testing.T, path string, queries []string) []answer {
	t.Helper()
	list := make([]answer, len(queries))
	for i, q := range queries {
		status, body := send(t, http.MethodPost, d.URL+path, object(t, "query", q))
		switch status {
		case http.StatusOK:
			list[i] = answerOf(t, body)
		case http.StatusBadRequest:
			list[i].problem = detail(t, body)
		default:
			t.Errorf("%s: %s: status %d: %s", d.name, q, status, body)
		}
	}
	return list
}

// detail is the text of a problem document.
func detail(t *testing.T, body []byte) string {
	t.Helper()
	var problem struct{ Code, Detail string }
	if err := json.Unmarshal(body, &problem); err != nil || problem.Detail == "" {
		t.Errorf("no problem document: %s", body)
	}
	return problem.Code + ": " + problem.Detail
}

// tool has a model ask by the tool search, some queries a turn.
func (d *desk) tool(t *testing.T, queries []string) []answer {
	t.Helper()
	const turn = 8
	var list []answer
	for len(list) < len(queries) {
		some := queries[len(list):min(len(list)+turn, len(queries))]
		for _, content := range d.search(t, some) {
			a := answerOf(t, content)
			if status := a.whole["status"]; status == "error" {
				a.problem, _ = a.whole["error"].(string)
			}
			if readsLog.MatchString(some[len(list)%turn]) {
				// Every turn writes rows with random ids.
				a = answer{results: a.results, problem: fmt.Sprintf("%s with %d results", a.whole["status"], len(a.results))}
			}
			list = append(list, a)
		}
	}
	return list
}

// search has one turn in which the model searches, and returns what each call
// answered.
func (d *desk) search(t *testing.T, queries []string, headers ...string) []json.RawMessage {
	t.Helper()
	var text strings.Builder
	for _, q := range queries {
		fmt.Fprintf(&text, "call search %s\n", object(t, "query", q))
	}
	ask := harness.Ask{Agent: "general", Session: fmt.Sprintf("%s %.40q", headers, queries[0]), Text: text.String(), Headers: map[string]string{}}
	for i := 0; i+1 < len(headers); i += 2 {
		ask.Headers[headers[i]] = headers[i+1]
	}
	done := d.Chat(t, ask)
	list := make([]json.RawMessage, len(queries))
	for _, f := range done.Frames {
		if f.Type != "tool_call" || f.Status != "completed" && f.Status != "failed" {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(f.ToolCallID, "call_%d", &n); err != nil || n < 1 || n > len(list) {
			t.Fatalf("a call with the id %q", f.ToolCallID)
		}
		list[n-1] = f.Result
	}
	for i, result := range list {
		if result == nil {
			t.Fatalf("%s: the call of %q has no result; frames %v", d.name, queries[i], done.Kinds())
		}
	}
	return list
}

// sameFields asks by the modes of POST /query/.
func sameFields(t *testing.T, asked [2]*desk) {
	for _, tc := range []struct{ body, query string }{
		{`{"mode":"LOOKUP","key":"sarah-chen"}`, "LOOKUP sarah-chen"},
		{`{"mode":"LOOKUP","key":"sarah-chen, project-alpha"}`, "LOOKUP sarah-chen, project-alpha"},
		{`{"mode":"FUZZY","query":"sara chn","threshold":0.2,"limit":5}`, "FUZZY sara chn THRESHOLD 0.2 LIMIT 5"},
		{`{"mode":"SEARCH","query":"database migration","table":"ontologies","limit":10}`, "SEARCH database migration FROM ontologies"},
		{`{"mode":"SEARCH","query":"billing","table":"ontologies","category":"plan"}`, "SEARCH billing FROM ontologies CATEGORY plan"},
		{`{"mode":"TRAVERSE","key":"sarah-chen","rel_type":"manages","max_depth":2}`, "TRAVERSE sarah-chen TYPE manages DEPTH 2"},
		{`{"mode":"TRAVERSE","key":"sarah-chen","max_depth":0}`, "TRAVERSE sarah-chen DEPTH 0"},
		{`{"mode":"SQL","query":"SELECT name, moment_type FROM moments ORDER BY name"}`, "SELECT name, moment_type FROM moments ORDER BY name"},
		{`{"mode":"SQL","query":"FUZZY sara chn"}`, "FUZZY sara chn"},
	} {
		var list [2]answer
		for i, d := range asked {
			status, body := send(t, http.MethodPost, d.URL+"/query/", tc.body)
			if status != http.StatusOK {
				t.Errorf("%s: %s: status %d: %s", d.name, tc.body, status, body)
				continue
			}
			if err := json.Unmarshal(body, &list[i].results); err != nil || len(list[i].results) == 0 {
				t.Errorf("%s: %s: %v: %s", d.name, tc.body, err, body)
			}
			list[i].whole = map[string]any{"results": list[i].results}
		}
		compare(t, tc.query, list[0], list[1])
	}
}
