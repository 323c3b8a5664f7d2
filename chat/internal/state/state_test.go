package state

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// TestToldInOrder: of two calls that change the state, the second may be recorded first. The
// last event still has the newest state.
func TestToldInOrder(t *testing.T) {
	doc, err := agent.Parse("cook.yaml", []byte("name: cook\ndescription: You cook.\nstate: {properties: {title: {type: string}, page: {type: string}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Compile(doc)
	if err != nil {
		t.Fatal(err)
	}
	s := New(t.Context(), a.State, nil)
	update, err := s.Tool()
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	record := func(event.Event) bool {
		if d := s.Told(); d != nil {
			told = append(told, string(d.State)+string(d.Delta))
		}
		return true
	}
	change := func(arguments string, emit func(event.Event) bool) {
		t.Helper()
		c := tool.Call{Arguments: json.RawMessage(arguments)}
		if _, err := update.(tool.Streamer).Stream(t.Context(), c, emit); err != nil {
			t.Fatal(err)
		}
	}
	change(`{"title":"<Tea>"}`, func(first event.Event) bool {
		change(`{"title":"Coffee","page":"1"}`, record)
		return record(first)
	})
	change(`{"page":"2"}`, record)
	want := []string{
		`{"page":"1","title":"Coffee"}[{"op":"add","path":"/page","value":"1"},{"op":"add","path":"/title","value":"Coffee"}]`,
		`{"page":"2","title":"Coffee"}[{"op":"replace","path":"/page","value":"2"}]`,
	}
	if !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}
