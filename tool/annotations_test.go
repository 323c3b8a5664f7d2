package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/tooltest"
	"github.com/p8-org/p8/tool"
)

func TestAnnotate(t *testing.T) {
	type answer struct {
		UserID string   `json:"user_id"`
		Tags   []string `json:"tags"`
		Note   string   `json:"note,omitempty"`
	}
	output, err := tool.OutputOf[answer]()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{"user_id":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"note":{"type":"string"}},` +
		`"required":["user_id","tags"],"additionalProperties":false}`
	if string(output) != want {
		t.Errorf("got %s", output)
	}
	plain := newWeather(t, echo)
	if a := tool.AnnotationsOf(plain); a.Title != "" || a.Output != nil {
		t.Errorf("got %+v", a)
	}
	w, err := tool.Annotate(plain, tool.Annotations{Title: "Weather", ReadOnly: true, Output: output})
	if err != nil {
		t.Fatal(err)
	}
	// A document's note keeps the annotations.
	a := tool.AnnotationsOf(tool.WithNote(w, "Ask about rain."))
	if a.Title != "Weather" || !a.ReadOnly || string(a.Output) != want {
		t.Errorf("got %+v", a)
	}
	if err := tool.Validate(t.Context(), w, []byte(`{"unit":"kelvin"}`)); err == nil {
		t.Error("the arguments are not checked")
	}
	if _, ok := w.(tool.Streamer); ok {
		t.Error("a plain tool became a streamer")
	}
	if _, err := tool.Annotate(plain, tool.Annotations{Output: []byte(`{"type":"array"}`)}); err == nil || !strings.Contains(err.Error(), "weather: output: the schema must") {
		t.Errorf("got %v", err)
	}
}

func TestAnnotateKeepsTheEvents(t *testing.T) {
	child, err := tool.Annotate(&tooltest.Child{Name: "helper", Events: []event.Event{event.NewText("a")}}, tool.Annotations{Title: "Helper"})
	if err != nil {
		t.Fatal(err)
	}
	var heard string
	_, err = child.(tool.Streamer).Stream(context.Background(), tool.Call{}, func(e event.Event) bool { heard += e.Text; return true })
	if err != nil || heard != "a" || tool.AnnotationsOf(child).Title != "Helper" {
		t.Errorf("%q, %v", heard, err)
	}
}
