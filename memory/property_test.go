package memory_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// session draws any history that could be in a table, broken ones included.
func session(t *rapid.T) []store.Message {
	kinds := []string{
		store.MessageUser, store.MessageAssistant, store.MessageSystem, store.MessageToolCall, store.MessageToolCall,
		store.MessageToolResponse, store.MessageToolResponse, store.MessageObservation, store.MessageMemory, store.MessageThink,
	}
	n := rapid.IntRange(0, 60).Draw(t, "rows")
	out := make([]store.Message, n)
	for i := range out {
		row := store.Message{SessionID: "s", Seq: int64(i + 1), Type: rapid.SampledFrom(kinds).Draw(t, "type")}
		text := strings.Repeat(rapid.SampledFrom([]string{"", "a", "é", "日本"}).Draw(t, "letter"), rapid.IntRange(0, 900).Draw(t, "length"))
		if row.Type != store.MessageToolCall {
			row.Content = &text
		}
		if row.Type == store.MessageToolCall || row.Type == store.MessageToolResponse {
			row.ToolCalls = rapid.SampledFrom([][]byte{
				nil, []byte(`nonsense`), []byte(`{"name":"t","id":"a","arguments":{"x":1}}`), []byte(`{"name":"t","id":"b"}`),
				[]byte(`{"name":"u v","id":"c","arguments":"{}"}`), []byte(`{"id":"a"}`), []byte(`{"name":"t"}`), []byte(`[]`),
			}).Draw(t, "call")
		}
		if row.Type == store.MessageUser && rapid.Bool().Draw(t, "attached") {
			if err := memory.Attach(&row, []llm.Part{{Kind: llm.Image, URL: "https://example.com"}}); err != nil {
				t.Fatal(err)
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "child") == 0 {
			row.AgentPath = "a/b"
		}
		out[i] = row
	}
	return out
}

func policy(t *rapid.T) memory.Policy {
	return memory.Policy{
		ReplayTools: rapid.Bool().Draw(t, "replay"), Hints: rapid.Bool().Draw(t, "hints"),
		KeepLast: rapid.IntRange(0, 8).Draw(t, "keep"), Budget: rapid.IntRange(0, 2000).Draw(t, "budget"),
	}
}

// TestNoModelRefusesAHistory: every call has its result right after it, every
// result its call, no message is empty, and every result is whole.
func TestNoModelRefusesAHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := session(t)
		results := map[string]bool{lost: true}
		for _, r := range all {
			if r.Type == store.MessageToolResponse {
				results[*r.Content] = true
			}
		}
		var open []llm.ToolCall
		for i, m := range memory.History(all, policy(t)) {
			if m.Role == llm.ToolRole {
				if len(open) == 0 || open[0].ID != m.ToolCallID || open[0].Name != m.Name {
					t.Fatalf("message %d answers %q, waiting are %v", i, m.ToolCallID, open)
				}
				if !results[m.Content] {
					t.Fatalf("message %d: the result was changed", i)
				}
				open = open[1:]
				continue
			}
			if len(open) > 0 {
				t.Fatalf("message %d comes before the results of %v", i, open)
			}
			open = m.ToolCalls
			if m.Content == "" && len(m.ToolCalls) == 0 && len(m.Parts) == 0 {
				t.Fatalf("message %d is empty", i)
			}
			ids := map[string]bool{}
			for _, c := range m.ToolCalls {
				if c.ID == "" || ids[c.ID] || c.Name == "" || !strings.HasPrefix(c.Arguments, "{") {
					t.Fatalf("message %d has the call %+v", i, c)
				}
				ids[c.ID] = true
			}
		}
		if len(open) > 0 {
			t.Fatalf("the last calls have no results: %v", open)
		}
	})
}

// TestHistoryIsTheNewestPart: a budget only ever takes away from the beginning.
func TestHistoryIsTheNewestPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, p := session(t), policy(t)
		all = slices.DeleteFunc(all, func(r store.Message) bool { return r.Type == store.MessageMemory })
		part := show(memory.History(all, p))
		p.Budget = 0
		whole := show(memory.History(all, p))
		if len(part) > len(whole) || !slices.Equal(part, whole[len(whole)-len(part):]) {
			t.Fatalf("with the budget %d:\n%q\nwithout:\n%q", p.Budget, part, whole)
		}
		if len(whole) > 0 && len(part) == 0 {
			t.Fatal("the newest message is always loaded")
		}
	})
}

// pages is a session in a store that knows which rows were read with their parts.
type pages struct {
	rows  []store.Message
	whole []int64
}

func (p *pages) Messages(_ context.Context, _ string, f store.MessageFilter) ([]store.Message, error) {
	rows := slices.DeleteFunc(slices.Clone(p.rows), func(r store.Message) bool {
		return r.Seq <= f.AfterSeq || f.BeforeSeq > 0 && r.Seq >= f.BeforeSeq || len(f.Types) > 0 && !slices.Contains(f.Types, r.Type)
	})
	for i := range rows {
		if !f.Parts {
			rows[i].Parts = nil
		} else {
			p.whole = append(p.whole, rows[i].Seq)
		}
	}
	if f.Last > 0 {
		rows = rows[max(0, len(rows)-f.Last):]
	}
	return rows, nil
}
