package wiring

import (
	"log/slog"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// TestQuestionsArePaidFor: the usage of a question is stored in the caller's session, else
// in the session of questions.
func TestQuestionsArePaidFor(t *testing.T) {
	s := database.Open(t)
	keep := KeepSpent(s, slog.New(slog.DiscardHandler))
	parts := []run.Spent{{RunID: "r", Path: "rem-query-agent", Model: "m:tiny", Usage: event.UsageData{InputTokens: 3, CostUSD: 0.5}}}
	ann := identity.Identity{TenantID: "acme", UserID: "ann"}
	ctx := identity.With(t.Context(), ann)
	if err := s.PutSession(ctx, store.Session{ID: "here"}); err != nil {
		t.Fatal(err)
	}
	for session, want := range map[string]string{"here": "here", "": questionsID, "gone": questionsID} {
		who := ann
		who.SessionID = session
		keep(identity.With(t.Context(), who), parts)
		rows, err := s.Messages(ctx, want, store.MessageFilter{Shares: true, Last: 1})
		if err != nil || len(rows) != 1 || rows[0].AgentName != "rem-query-agent" || rows[0].InputTokens != 3 || rows[0].CostUSD != 0.5 {
			t.Errorf("asked in %q: %+v, %v", session, rows, err)
		}
	}
	sel, err := s.Select(ctx, `SELECT count(*) FROM messages WHERE message_type = 'assistant' AND input_tokens > 0`, store.SelectBounds{})
	if err != nil || sel.Rows[0][0] != int64(3) {
		t.Errorf("%v, %v", sel.Rows, err)
	}
	if _, err := s.Session(identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "bob"}), questionsID); err == nil {
		t.Error("another user has the session")
	}
}
