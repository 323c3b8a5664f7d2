package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"p8/rem"
	"p8/store"
	"p8/tool"
)

// shelf is a store with a few documents.
type shelf struct {
	docs  map[string]string
	err   error
	asked string
}

func (s *shelf) Lookup(_ context.Context, key string) ([]store.Match, error) {
	content, ok := s.docs[key]
	if !ok {
		return nil, s.err
	}
	data, err := json.Marshal(map[string]any{"name": key, "content": content, "tags": []string{"t"}})
	return []store.Match{{Key: key, Type: "resource", Score: 1, Summary: "About " + key, Data: data}}, err
}

func (s *shelf) Fuzzy(_ context.Context, text string, threshold float64, limit int) ([]store.Match, error) {
	s.asked = fmt.Sprint(text, " ", threshold, " ", limit)
	if text == "zzz" {
		return nil, s.err
	}
	return []store.Match{{Key: "plan", Type: "resource", Score: 0.5, Summary: "A <plan>"}}, s.err
}

func (s *shelf) MessageBySeq(_ context.Context, sessionID string, seq int64) (store.Message, error) {
	if seq != 4 {
		return store.Message{}, store.ErrNotFound
	}
	return store.Message{ID: "m4", SessionID: sessionID, Seq: seq, Type: "assistant", Content: new(s.docs["long"])}, nil
}

func search(t *testing.T, k rem.Knowledge, args string) (tool.Result, error) {
	t.Helper()
	s, err := tool.NewSearch(k)
	if err != nil {
		t.Fatal(err)
	}
	return s.Call(t.Context(), tool.Call{Name: "search", Arguments: json.RawMessage(args)})
}

func TestSearch(t *testing.T) {
	s := &shelf{docs: map[string]string{"plan": "Do it.", "map": "Go there."}}
	const planRow = `{"key":"plan","entity_type":"resource","similarity_score":1,"summary":"About plan","data":{"content":"Do it.","name":"plan","tags":["t"]}}`
	const mapRow = `{"key":"map","entity_type":"resource","similarity_score":1,"summary":"About map","data":{"content":"Go there.","name":"map","tags":["t"]}}`
	const near = `{"key":"plan","entity_type":"resource","similarity_score":0.5,"summary":"A <plan>"}`
	for args, want := range map[string]string{
		`{"query":"LOOKUP plan"}`:              `{"status":"success","query_type":"LOOKUP","key":"plan","found":true,"results":[` + planRow + `],"count":1}`,
		`{"query":"lookup [plan, map, plam]"}`: `{"status":"success","query_type":"LOOKUP","key":["plan","map","plam"],"found":true,"results":[` + planRow + `,` + mapRow + `],"count":2,"missing":["plam"],"suggestions":["plan"]}`,
		`{"query":"LOOKUP plam"}`:              `{"status":"success","query_type":"LOOKUP","key":"plam","found":false,"results":[],"count":0,"suggestions":["plan"]}`,
		`{"query":"LOOKUP zzz"}`:               `{"status":"success","query_type":"LOOKUP","key":"zzz","found":false,"results":[],"count":0}`,
		`{"query":"FUZZY plam"}`:               `{"status":"success","query_type":"FUZZY","text":"plam","results":[` + near + `],"count":1}`,
		`{"query":"what is the plan?"}`:        `{"status":"success","query_type":"FUZZY","text":"what is the plan?","results":[` + near + `],"count":1}`,
		`{"query":"FUZZY zzz"}`:                `{"status":"success","query_type":"FUZZY","text":"zzz","results":[],"count":0}`,
	} {
		got, err := search(t, s, args)
		if err != nil || got.Failed || got.Content != want {
			t.Errorf("%s: %+v, %v\nwant %s", args, got, err, want)
		}
	}
}

func TestSearchLimits(t *testing.T) {
	s := new(shelf)
	for args, want := range map[string]string{
		`{"query":"FUZZY a"}`:                                 "a 0.3 20",
		`{"query":"FUZZY a","limit":5}`:                       "a 0.3 5",
		`{"query":"FUZZY a THRESHOLD 0.6 LIMIT 7","limit":5}`: "a 0.6 7",
		`{"query":"plain  words","limit":5000}`:               "plain words 0.2 100",
		`{"query":"` + strings.Repeat("é", 600) + `"}`:        strings.Repeat("é", 512) + " 0.2 20",
	} {
		if _, err := search(t, s, args); err != nil || s.asked != want {
			t.Errorf("%.60s: asked %.60q, %v; want %.60q", args, s.asked, err, want)
		}
	}
	tl, err := tool.NewSearch(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`{"query":"a","limit":0}`, `{"query":"a","limit":101}`, `{}`, `{"query":"a","user_id":"u"}`} {
		if err := tool.Validate(tl, json.RawMessage(args)); err == nil {
			t.Errorf("%s is valid", args)
		}
	}
}

func TestSearchFails(t *testing.T) {
	for query, want := range map[string]string{
		"SEARCH x IN y": "column 1: this store answers LOOKUP and FUZZY; SEARCH is not one of them; write LOOKUP key",
		"LOOKUP":        "column 7: LOOKUP needs a key; write LOOKUP key",
		"":              "column 1: the query is empty",
	} {
		args, _ := json.Marshal(map[string]string{"query": query})
		got, err := search(t, new(shelf), string(args))
		var answer struct{ Status, Error, Query string }
		if e := json.Unmarshal([]byte(got.Content), &answer); e != nil || err != nil || !got.Failed ||
			answer.Status != "error" || !strings.HasPrefix(answer.Error, want) || answer.Query != query {
			t.Errorf("%q: %+v, %v, %v", query, got, err, e)
		}
	}
	got, err := search(t, nil, `{"query":"LOOKUP x"}`)
	if err != nil || !got.Failed || !strings.Contains(got.Content, "nothing is stored in this configuration") {
		t.Errorf("without a store: %+v, %v", got, err)
	}
	broken := errors.New("disk on fire")
	for _, query := range []string{"LOOKUP x", "FUZZY x"} {
		if _, err := search(t, &shelf{err: broken}, `{"query":"`+query+`"}`); !errors.Is(err, broken) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestSearchGivesWholeMessages(t *testing.T) {
	long := strings.Repeat("all of it. ", 10000)
	got, err := search(t, &shelf{docs: map[string]string{"long": long}}, `{"query":"REM LOOKUP session-s1-msg-4"}`)
	var answer struct {
		Found   bool
		Results []struct {
			EntityType string `json:"entity_type"`
			Data       store.Message
		}
	}
	if e := json.Unmarshal([]byte(got.Content), &answer); e != nil || err != nil || !answer.Found {
		t.Fatalf("%.200s, %v, %v", got.Content, err, e)
	}
	if row := answer.Results[0]; row.EntityType != "message" || *row.Data.Content != long {
		t.Errorf("got %.200s", got.Content)
	}
}

func TestSearchIsBounded(t *testing.T) {
	docs := map[string]string{"huge": strings.Repeat("é\n", 1<<20)}
	var keys []string
	for i := range 20 {
		keys = append(keys, fmt.Sprint("k", i))
		docs[keys[i]] = strings.Repeat("word ", 4000)
	}
	for query, c := range map[string]struct {
		most int
		note string
	}{
		"LOOKUP huge":                        {300 << 10, "characters\",\"the row is longer than a result can be\"]"},
		"LOOKUP " + strings.Join(keys, ", "): {32 << 10, "of 20000 characters\",\"LOOKUP k0 alone gives all of it\"]"},
	} {
		got, err := search(t, &shelf{docs: docs}, `{"query":"`+query+`"}`)
		if err != nil || len(got.Content) > c.most || !json.Valid([]byte(got.Content)) || !strings.Contains(got.Content, c.note) {
			t.Errorf("%s: %d bytes, %v, %.300s", query, len(got.Content), err, got.Content)
		}
		if len(got.Content) < c.most/2 {
			t.Errorf("%s: only %d bytes of %d", query, len(got.Content), c.most)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	s, err := tool.NewSearch(&shelf{docs: map[string]string{"plan": strings.Repeat("Do it. ", 100)}})
	if err != nil {
		b.Fatal(err)
	}
	call := tool.Call{Arguments: json.RawMessage(`{"query":"LOOKUP plan"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Call(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}
