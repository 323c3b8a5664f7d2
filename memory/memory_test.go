package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// rows builds a session: each element is "type text", or "call id name args",
// or "result id text".
func rows(lines ...string) []store.Message {
	var out []store.Message
	for i, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		row := store.Message{SessionID: "s1", Seq: int64(i + 1), Type: kind}
		switch kind {
		case "call":
			parts := strings.SplitN(rest, " ", 3)
			row.Type = store.MessageToolCall
			row.ToolCalls = fmt.Appendf(nil, `{"name":%q,"id":%q,"arguments":%s}`, parts[1], parts[0], parts[2])
		case "result":
			id, text, _ := strings.Cut(rest, " ")
			row.Type = store.MessageToolResponse
			row.ToolCalls = fmt.Appendf(nil, `{"name":"t","id":%q}`, id)
			row.Content = &text
		default:
			row.Content = &rest
		}
		out = append(out, row)
	}
	return out
}

// The rows of agents that were asked are nobody's to read but an auditor's.
func TestDelegatedRowsAreNotShown(t *testing.T) {
	list := rows("user q", "assistant asked", "call a t {}", "result a r", "observation seen", "assistant done")
	for i := 1; i < 5; i++ {
		list[i].AgentPath = "helper/other"
	}
	got := show(memory.History(list, memory.Policy{ReplayTools: true}))
	if diff := cmp.Diff([]string{"user q", "assistant done"}, got); diff != "" {
		t.Error(diff)
	}
}

// show is a conversation, a line for each message.
func show(messages []llm.Message) []string {
	var out []string
	for _, m := range messages {
		line := string(m.Role) + " " + m.Content
		for _, c := range m.ToolCalls {
			line += fmt.Sprintf("[%s %s %s]", c.ID, c.Name, c.Arguments)
		}
		if m.ToolCallID != "" {
			line = "tool " + m.ToolCallID + " " + m.Content
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

const lost = `{"status":"error","error":"the result of this call was not recorded"}`

func TestHistory(t *testing.T) {
	replay := memory.Policy{ReplayTools: true}
	for _, tc := range []struct {
		name   string
		rows   []store.Message
		policy memory.Policy
		want   []string
	}{
		{"an observation whose call is shown", rows("user q", `call a action {"type":"observation","payload":{"flags":["calm"]}}`, "result a r", "observation calm", "assistant done"), replay,
			[]string{"user q", `assistant [a action {"type":"observation","payload":{"flags":["calm"]}}]`, "tool a r", "assistant done"}},
		{"an observation of another turn", rows("user q", `call a action {"type":"observation"}`, "result a r", "assistant done", "user r", "observation calm", "assistant yes"), replay,
			[]string{"user q", `assistant [a action {"type":"observation"}]`, "tool a r", "assistant done", "user r", "user [Observation] calm", "assistant yes"}},
		{"roles", rows("user hi", "system facts", "memory old", "observation calm", "think hm", "assistant hello"),
			memory.Policy{}, []string{"system " + llm.Material("memory", "old"), "user hi", "system facts", "user [Observation] calm", "assistant hello"}},
		{"the newest memory row, first", rows("memory a", "user hi", "memory b", "assistant hello"),
			memory.Policy{}, []string{"system " + llm.Material("memory", "b"), "user hi", "assistant hello"}},
		{"steps of one turn need not fit all", rows("user q", "call a t {}", "result a "+strings.Repeat("r", 400), "call b t {}", "result b rb", "assistant done"),
			memory.Policy{Budget: 60, ReplayTools: true}, []string{"assistant [b t {}]", "tool b rb", "assistant done"}},
		{"empty rows are not messages", rows("user hi", "assistant ", "user again"), memory.Policy{},
			[]string{"user hi", "user again"}},
		{"skipped tools", rows("user q", "call a t {}", "result a r", "assistant done"), memory.Policy{},
			[]string{"user q", "assistant done"}},
		{"replayed tools", rows("user q", `call a t {"x":1}`, "result a r", "assistant done"), replay,
			[]string{"user q", `assistant [a t {"x":1}]`, "tool a r", "assistant done"}},
		{"parallel calls are answered in their order",
			rows("user q", "call a t {}", "call b t {}", "result b rb", "result a ra", "assistant done"), replay,
			[]string{"user q", "assistant [a t {}][b t {}]", "tool a ra", "tool b rb", "assistant done"}},
		{"a call after a result is the next step",
			rows("user q", "call a t {}", "result a ra", "call b t {}", "result b rb", "assistant done"), replay,
			[]string{"user q", "assistant [a t {}]", "tool a ra", "assistant [b t {}]", "tool b rb", "assistant done"}},
		{"a result that comes late finds its call",
			rows("call a t {}", "call b t {}", "result a ra", "call c t {}", "result c rc", "result b rb"), replay,
			[]string{"assistant [a t {}][b t {}]", "tool a ra", "tool b rb", "assistant [c t {}]", "tool c rc"}},
		{"a lost result", rows("user q", "call a t {}", "user still there?"), replay,
			[]string{"user q", "assistant [a t {}]", "tool a " + lost, "user still there?"}},
		{"a lost call", rows("user q", "result a r", "assistant done"), replay,
			[]string{"user q", "assistant [a t {}]", "tool a r", "assistant done"}},
		{"ids of a provider that counts anew each turn",
			rows("user q", "call call_0 t {}", "result call_0 r1", "assistant one", "user q", "call call_0 t {}", "result call_0 r2"), replay,
			[]string{"user q", "assistant [call_0 t {}]", "tool call_0 r1", "assistant one", "user q", "assistant [call_0 t {}]", "tool call_0 r2"}},
		{"names and arguments that no provider takes", rows(`call a my.tool "x"`, "result a r"), replay,
			[]string{"assistant [a my_tool {}]", "tool a r"}},
		{"a name that is too long", rows("call a "+strings.Repeat("x", 65)+" {}", "result a r"), replay,
			[]string{"assistant [a " + strings.Repeat("x", 64) + " {}]", "tool a r"}},
		{"the budget has no gaps", rows("user aaaaaaaa", "assistant "+strings.Repeat("b", 400), "user c", "assistant d"),
			memory.Policy{Budget: 20}, []string{"user c", "assistant d"}},
		{"the newest row whatever it costs", rows("user a", "assistant "+strings.Repeat("b", 400)),
			memory.Policy{Budget: 1}, []string{"assistant " + strings.Repeat("b", 400)}},
		{"skipped tools cost nothing", rows("user a", "call a t {}", "result a "+strings.Repeat("r", 4000), "assistant d"),
			memory.Policy{Budget: 20}, []string{"user a", "assistant d"}},
		{"tools are loaded whole or not", rows("user a", "call a t {}", "result a "+strings.Repeat("r", 400), "assistant d"),
			memory.Policy{Budget: 60, ReplayTools: true}, []string{"assistant d"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, show(memory.History(tc.rows, tc.policy))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHistoryLeavesDelegatedRowsOut(t *testing.T) {
	all := rows("user q", "call a ask_agent {}", "call x search {}", "result x found", "result a child says", "assistant done")
	all[2].AgentPath, all[3].AgentPath = "general/child", "general/child"
	want := []string{"user q", "assistant [a ask_agent {}]", "tool a child says", "assistant done"}
	if diff := cmp.Diff(want, show(memory.History(all, memory.Policy{ReplayTools: true}))); diff != "" {
		t.Error(diff)
	}
}

func TestLongAnswers(t *testing.T) {
	long := strings.Repeat("é", 200) + strings.Repeat("x", 100) + strings.Repeat("ü", 200)
	all := rows("user "+long, "assistant "+long, "system "+long, "assistant "+long[:400], "user b", "assistant "+long)
	p := memory.Policy{Hints: true, KeepLast: 2}
	got := memory.History(all, p)
	short := strings.Repeat("é", 200) +
		"\n\n... [Message truncated - REM LOOKUP session-s1-msg-2 to recover full content] ...\n\n" +
		strings.Repeat("ü", 200)
	for i, want := range []string{long, short, long, long[:400], "b", long} {
		if got[i].Content != want {
			t.Errorf("row %d is %q", i+1, got[i].Content)
		}
	}
	p.KeepLast = 5
	if got := memory.History(all, p); got[1].Content != long {
		t.Errorf("the newest five rows must stay whole, got %q", got[1].Content)
	}
	if got := memory.History(all, memory.Policy{}); got[1].Content != long {
		t.Error("without hints nothing is shortened")
	}
}

// A session id may be any printable text, and LOOKUP splits at commas.
func TestHintsAreQueries(t *testing.T) {
	for _, session := range []string{"s1", "a, b", `say "hi"`, "two  blanks", "[x]", "日本"} {
		short := memory.Shorten(strings.Repeat("x", 401), session, 7)
		_, hint, _ := strings.Cut(short, "[Message truncated - ")
		hint, _, _ = strings.Cut(hint, " to recover full content]")
		query, err := rem.Parse(hint)
		if diff := cmp.Diff(rem.Query(rem.Lookup{Keys: []string{rem.MessageKey(session, 7)}}), query); err != nil || diff != "" {
			t.Errorf("%s: %v %s", hint, err, diff)
		}
	}
}

func TestShortenNeeds401Characters(t *testing.T) {
	if s := strings.Repeat("é", 400); memory.Shorten(s, "s", 1) != s {
		t.Error("400 characters are not long")
	}
	if s := strings.Repeat("é", 401); memory.Shorten(s, "s", 1) == s {
		t.Error("401 characters are long")
	}
	if s := strings.Repeat("é", 401); memory.Shorten(s, "s", 0) != s {
		t.Error("a text without a row cannot be brought back")
	}
}
