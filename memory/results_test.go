package memory_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// Of a long result a later turn shows what the run showed, to the byte: providers keep
// what they have read.
func TestALongResultIsShownAsItWasAtFirst(t *testing.T) {
	const id = "0198c0de-0000-7000-8000-000000000003"
	list := rows("user q", "call a t {}", "result a "+strings.Repeat("r", 30_000), "assistant done")
	list[2].ID = id
	got := memory.History(list, memory.Policy{ReplayTools: true, ResultChars: 20_000})
	want := strings.Repeat("r", rem.PartChars) + "\n\n... [Result truncated after 6000 of 30000 characters - REM LOOKUP message-" + id + "-part-2 for the next part]"
	if got[2].Content != want {
		t.Errorf("got %q", got[2].Content[rem.PartChars:])
	}
}

// Results that are larger than all that a history may have do not end it, for only their
// beginning is shown.
func TestALongResultDoesNotEndTheHistory(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	for _, text := range []string{"first", "second"} {
		list := rows("user "+text, "call a t {}", "result a "+strings.Repeat("r", 400_000), "assistant done with "+text)
		ms := make([]*store.Message, len(list))
		for i := range list {
			m := &list[i]
			m.SessionID, m.Seq, m.TokenCount = "talk", 0, 10
			if m.Type == store.MessageToolResponse {
				m.TokenCount = llm.EstimateTokens(*m.Content)
			}
			ms[i] = m
		}
		must(t, s.PutSession(ctx, store.Session{ID: "talk"}))
		must(t, s.Append(ctx, ms...))
	}
	p := memory.Policy{ReplayTools: true, Breadcrumbs: true, ResultChars: 20_000, Budget: 8000, KeepLast: 5}
	rec, err := s.Recall(ctx, p.Query("talk"))
	must(t, err)
	got := memory.Compose(&rec, p)
	if len(got.Messages) != 8 || got.More || got.Tokens > p.Budget {
		t.Errorf("%d messages, %d tokens, more %v", len(got.Messages), got.Tokens, got.More)
	}
}
