package chat_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/tool/builtin"
)

const booker = `
name: booker
description: You book tables.
tools: [action]
`

// dialogue is a service whose model asks for a day and a number of people, over a protocol
// without a pause; say sends a message and returns what the user reads.
func dialogue(t *testing.T, o chat.Options, more ...scripted.Turn) (model *scripted.Model, say func(ctx context.Context, r chat.Request) string) {
	t.Helper()
	action, err := builtin.NewAction()
	if err != nil {
		t.Fatal(err)
	}
	model = scripted.New(append([]scripted.Turn{scripted.Call("action", `{"type":"elicit","payload":{"question":"When, and how many?","schema":
		{"type":"object","properties":{"day":{"type":"string"},"people":{"type":"integer"}},"required":["day","people"]}}}`)}, more...)...)
	o.Tools = registry(t, action)
	s := newService(t, model, o, booker)
	return model, func(ctx context.Context, r chat.Request) (text string) {
		r.Protocol = "openai"
		started, err := s.Start(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range drain(t, started) {
			if e.Type == event.Text {
				text += e.Text
			}
			if d, ok := e.Data.(*event.DoneData); ok && d.Reason != event.ReasonStop {
				t.Errorf("the turn ends with %s", d.Reason)
			}
		}
		return text
	}
}

const whenAndHowMany = "When, and how many?\n\n- day (text)\n- people (whole number)\n\nAnswer in your own words, or with a JSON object of these fields."

// TestAFormInADialogue: the answer's text is the question and its fields, and the next
// message answers it. For the first wrong one, p8 says what is missing without asking the
// model.
func TestAFormInADialogue(t *testing.T) {
	db := newStore(t)
	model, say := dialogue(t, chat.Options{Store: db}, scripted.Text("Booked."))
	ctx := as(t.Context(), "alice", "s1")
	for _, turn := range [][2]string{
		{"A table", whenAndHowMany},
		{`{"day":"friday"}`, "This does not answer the question: missing property 'people'."},
		{`{"day":"friday","people":"two"}`, "Booked."},
	} {
		if got := say(ctx, chat.Request{Input: turn[0]}); got != turn[1] {
			t.Errorf("%s: the user reads %q, want %q", turn[0], got, turn[1])
		}
	}
	model.AssertDone(t)
	want := []string{"1 user A table", "5 user {\"day\":\"friday\"}", "6 assistant This does not answer the question: missing property 'people'.",
		"7 user {\"day\":\"friday\",\"people\":\"two\"}", "8 assistant Booked."}
	rows := transcript(t, db, ctx, "s1")
	if diff := cmp.Diff(want, append(rows[:1:1], rows[len(rows)-4:]...)); diff != "" {
		t.Error(diff)
	}
}

// TestWhatAnswersAForm: a right answer, words, and a message without a session or of
// another protocol reach the model at once.
func TestWhatAnswersAForm(t *testing.T) {
	for name, second := range map[string]chat.Request{
		"JSON":           {Input: `{"day":"friday","people":2}`},
		"words":          {Input: "friday, the two of us"},
		"something else": {Input: "Never mind."},
	} {
		t.Run(name, func(t *testing.T) {
			model, say := dialogue(t, chat.Options{Store: newStore(t)}, scripted.Text("Booked."))
			ctx := as(t.Context(), "alice", "s1")
			say(ctx, chat.Request{Input: "A table"})
			if got := say(ctx, second); got != "Booked." {
				t.Errorf("the user reads %q", got)
			}
			model.AssertDone(t)
		})
	}
	t.Run("nothing is stored", func(t *testing.T) {
		_, say := dialogue(t, chat.Options{}, scripted.Text("Booked."))
		if got := say(as(t.Context(), "", ""), chat.Request{Input: "A table"}); got != whenAndHowMany {
			t.Errorf("the user reads %q", got)
		}
		if got := say(as(t.Context(), "", ""), chat.Request{Input: `{"day":"friday"}`}); got != "Booked." {
			t.Errorf("the user reads %q", got)
		}
	})
}
