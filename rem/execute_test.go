package rem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"p8/rem"
	"p8/store"
)

var _ rem.Knowledge = (*store.Store)(nil)

// knowledge is a store with one row a key and one message.
type knowledge struct {
	err   error
	fuzzy struct {
		text      string
		threshold float64
		limit     int
	}
}

func (k *knowledge) Lookup(_ context.Context, key string) ([]store.Match, error) {
	switch key {
	case "plan":
		return []store.Match{
			{Key: "plan", Type: "resource", Score: 1, Summary: "A plan.", Data: json.RawMessage(`{"content":"all"}`)},
			{Key: "plan", Type: "schema", Score: 1},
		}, nil
	case "session-odd-msg-9":
		return []store.Match{{Key: key, Type: "resource", Score: 1}}, nil
	case "gone":
		return nil, fmt.Errorf("key: %w", store.ErrNotFound)
	}
	return nil, k.err
}

func (k *knowledge) Fuzzy(_ context.Context, text string, threshold float64, limit int) ([]store.Match, error) {
	k.fuzzy.text, k.fuzzy.threshold, k.fuzzy.limit = text, threshold, limit
	return []store.Match{{Key: "plan", Type: "resource", Score: 0.6, Summary: "A plan."}}, k.err
}

func (k *knowledge) MessageBySeq(_ context.Context, sessionID string, seq int64) (store.Message, error) {
	if sessionID == "s-msg-1 x" && seq == 4 {
		return store.Message{ID: "m", SessionID: sessionID, Seq: seq, Type: store.MessageAssistant, Content: new("the whole text")}, nil
	}
	return store.Message{}, fmt.Errorf("message: %w", store.ErrNotFound)
}

func TestExecuteLookup(t *testing.T) {
	got, err := rem.Execute(t.Context(), new(knowledge), rem.Lookup{Keys: []string{"plan", "none", "session-odd-msg-9", "gone"}})
	want := rem.Result{
		QueryType: rem.LOOKUP, Keys: []string{"plan", "none", "session-odd-msg-9", "gone"}, Missing: []string{"none", "gone"}, Count: 3,
		Results: []rem.Row{
			{Key: "plan", EntityType: "resource", Score: 1, Summary: "A plan.", Data: json.RawMessage(`{"content":"all"}`)},
			{Key: "plan", EntityType: "schema", Score: 1},
			{Key: "session-odd-msg-9", EntityType: "resource", Score: 1},
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestExecuteMessage(t *testing.T) {
	q, err := rem.Parse("REM LOOKUP session-s-msg-1 x-msg-4")
	if err != nil {
		t.Fatal(err)
	}
	got, err := rem.Execute(t.Context(), new(knowledge), q)
	if err != nil || got.Count != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	var message store.Message
	if err := json.Unmarshal(got.Results[0].Data, &message); err != nil || *message.Content != "the whole text" {
		t.Errorf("%s, %v", got.Results[0].Data, err)
	}
	if got.Results[0].EntityType != rem.EntityMessage || got.Results[0].Key != "session-s-msg-1 x-msg-4" {
		t.Errorf("%+v", got.Results[0])
	}
}

func TestExecuteFuzzy(t *testing.T) {
	k := new(knowledge)
	got, err := rem.Execute(t.Context(), k, rem.Fuzzy{Text: "plann", Threshold: 0.4, Limit: 5000})
	want := rem.Result{QueryType: rem.FUZZY, Text: "plann", Count: 1,
		Results: []rem.Row{{Key: "plan", EntityType: "resource", Score: 0.6, Summary: "A plan."}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if k.fuzzy.text != "plann" || k.fuzzy.threshold != 0.4 || k.fuzzy.limit != rem.MaxLimit {
		t.Errorf("asked for %+v", k.fuzzy)
	}
}

func TestExecuteErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, q := range []rem.Query{rem.Lookup{Keys: []string{"x"}}, rem.NewFuzzy("x")} {
		if _, err := rem.Execute(t.Context(), &knowledge{err: broken}, q); !errors.Is(err, broken) {
			t.Errorf("%s: %v", q, err)
		}
	}
	if _, err := rem.Execute(t.Context(), new(knowledge), nil); err == nil {
		t.Error("a nil query was executed")
	}
	empty, err := rem.Execute(t.Context(), new(knowledge), rem.Lookup{Keys: []string{"none"}})
	if b, _ := json.Marshal(empty); err != nil || string(b) != `{"query_type":"LOOKUP","keys":["none"],"missing":["none"],"results":[],"count":0}` {
		t.Errorf("%s, %v", b, err)
	}
}
