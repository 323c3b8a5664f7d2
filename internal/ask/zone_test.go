package ask

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/llm/scripted"
)

// in makes the days of all callers those of a zone.
func in(t *testing.T, a *Asker, name string) {
	t.Helper()
	at, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	a.o.Zone = func(context.Context) (*time.Location, error) { return at, nil }
}

// TestZone: the rules and the prompt use the caller's days. The clock shows Friday,
// 2026-11-20, 15:30 UTC.
func TestZone(t *testing.T) {
	for _, c := range []struct{ zone, question, where, prompt string }{
		{"UTC", "what happened today", "starts_timestamp >= '2026-11-20' AND starts_timestamp < '2026-11-21'", "Today is Friday, 2026-11-20, 15:30 UTC.\n"},
		{"Europe/Berlin", "what happened today", "starts_timestamp >= '2026-11-19T23:00:00Z' AND starts_timestamp < '2026-11-20T23:00:00Z'",
			"Today is Friday, 2026-11-20, 16:30 Europe/Berlin. Stored times are in UTC: today began at 2026-11-19T23:00:00Z.\n"},
		{"Pacific/Kiritimati", "what happened yesterday", "starts_timestamp >= '2026-11-19T10:00:00Z' AND starts_timestamp < '2026-11-20T10:00:00Z'",
			"Today is Saturday, 2026-11-21, 05:30 Pacific/Kiritimati. "},
		{"Asia/Kolkata", "what happened since monday", "starts_timestamp >= '2026-11-15T18:30:00Z'", ""},
		// Clocks change in the month, and skip midnight in Santiago.
		{"Europe/Berlin", "what happened in october", "starts_timestamp >= '2026-09-30T22:00:00Z' AND starts_timestamp < '2026-10-31T23:00:00Z'", ""},
		{"America/Santiago", "what happened on 2026-09-06", "starts_timestamp >= '2026-09-06T04:00:00Z' AND starts_timestamp < '2026-09-07T03:00:00Z'", ""},
	} {
		a, m := setup(t, &engine{}, scripted.Text(`{"query_type":"LOOKUP","query":"LOOKUP a","confidence":1}`))
		in(t, a, c.zone)
		answer, err := a.Ask(caller(t), c.question, Request{Model: rulesName, PlanOnly: true})
		if err != nil || !strings.Contains(answer.Query, "WHERE "+c.where+" ORDER") {
			t.Errorf("%s in %s: %v\n%s\nwant %s", c.question, c.zone, err, answer.Query, c.where)
		}
		if _, err := a.Ask(caller(t), c.question, Request{}); err != nil {
			t.Fatal(err)
		}
		if got := m.Requests()[0].Messages[1].Content; !strings.HasPrefix(got, c.prompt) {
			t.Errorf("the prompt in %s: %.150s", c.zone, got)
		}
	}
	a, _ := setup(t, &engine{})
	a.o.Zone = func(context.Context) (*time.Location, error) { return nil, nil }
	if answer, err := a.Ask(caller(t), "what happened today", Request{Model: rulesName, PlanOnly: true}); err != nil || !strings.Contains(answer.Query, ">= '2026-11-20'") {
		t.Errorf("without a zone: %v %s", err, answer.Query)
	}
	broken := errors.New("broken")
	a.o.Zone = func(context.Context) (*time.Location, error) { return nil, broken }
	if _, err := a.Ask(caller(t), "today", Request{}); !errors.Is(err, broken) {
		t.Errorf("a broken database: %v", err)
	}
}
