package checklist

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// asks is a message that makes the model ask an agent.
func asks(agent, text string) string {
	arguments, _ := json.Marshal(map[string]string{"agent_name": agent, "input_text": text})
	return "call ask_agent " + string(arguments)
}

// childSeesHistory: an asked agent gets the earlier messages of the session.
func childSeesHistory(t *testing.T, d *desk) {
	d.ask(t, harness.Ask{Agent: "host", Text: "My name is Ada"})
	_, asked := d.ask(t, harness.Ask{Agent: "host", Text: asks("nested", "Who am I?")})
	for _, x := range asked {
		if !strings.Contains(x.Body.Messages[0].Text(), "Name the shelf.") {
			continue
		}
		var seen []string
		for _, m := range x.Body.Messages[1:] {
			seen = append(seen, m.Role+": "+m.Text())
		}
		contains(t, strings.Join(seen, "\n"), "user: My name is Ada", "assistant: You said: My name is Ada")
		if last := seen[len(seen)-1]; last != "user: Who am I?" {
			t.Errorf("the child is asked %q", last)
		}
		return
	}
	t.Error("the model was not asked for the child")
}

// childIsSaidOnce: what the child says is shown and stored once; what the asking agent
// adds follows, as a paragraph of its own.
func childIsSaidOnce(t *testing.T, d *desk) {
	turn, _ := d.ask(t, harness.Ask{Agent: "host", Text: asks("nested", "hello")})
	if turn.Text != "You said: hello\n\nThe tools have answered." {
		t.Errorf("the user reads %q", turn.Text)
	}
	rows := d.Messages(t, t.Name())
	if last := rows[len(rows)-1]; last.Type != "assistant" || last.Content == nil || *last.Content != turn.Text {
		t.Errorf("the answer's row is %+v", last)
	}
}

// childrenDoNotBlock: children of one step speak at once, and each piece reaches the
// client while they go on. A client of one text reads the child that spoke first; the
// other's text is held back until the first has ended.
func childrenDoNotBlock(t *testing.T) {
	var begun atomic.Int32
	allBegun, bothHeard := make(chan struct{}), make(chan struct{})
	d := deskWith(t, func(x harness.Exchange) harness.Reply {
		reply := obey(x)
		switch text, _ := x.Question(); text {
		case "one", "two":
			if reply.Hold = allBegun; begun.Add(1) == 2 {
				close(allBegun)
			}
		case "three", "four":
			reply.Hold = bothHeard
		}
		return reply
	})
	t.Run("one text", func(t *testing.T) {
		turn, _ := d.ask(t, harness.Ask{Agent: "boss", Session: "text", Text: asks("plain", "one") + "\n" + asks("nested", "two")})
		begun, spoke := 0, false
		for _, f := range turn.Frames {
			if f.Type == "child_run" && f.Status == "completed" {
				break
			}
			if f.Type == "child_run" {
				begun++
			}
			spoke = spoke || strings.Contains(f.Text(), "one") || strings.Contains(f.Text(), "two")
		}
		if begun != 2 || !spoke {
			t.Errorf("before the first child ended, %d had begun; one had spoken: %t", begun, spoke)
		}
		if n := strings.Count(turn.Text, "one") + strings.Count(turn.Text, "two"); n != 2 {
			t.Errorf("%d children are shown: %q", n, turn.Text)
		}
	})
	t.Run("events", func(t *testing.T) {
		spoke := map[string]bool{} // while neither child could end
		for e := range d.Events(t, harness.Ask{Agent: "boss", Session: "events", Text: asks("plain", "three") + "\n" + asks("nested", "four")}) {
			if c, ok := e.Data.(*event.ChildRunData); ok && c.Status != event.ChildStarted {
				break
			}
			if e.Type != event.Text {
				continue
			}
			if spoke[e.Agent] = true; spoke["boss/plain"] && spoke["boss/nested"] {
				close(bothHeard)
				return
			}
		}
		t.Errorf("before the first child ended, those had spoken: %v", spoke)
	})
}

// delegation is a turn whose agent asks one that answers with text and calls a
// tool, and one that answers with an object.
func delegation(t *testing.T, d *desk, session string) harness.Turn {
	turn, _ := d.ask(t, harness.Ask{Agent: "boss", Session: session, Text: asks("plain", `call search {"query":"LOOKUP tools"}`) + "\n" + asks("archive", "A title")})
	return turn
}

// calls are the frames of tool calls in that state, by their tools.
func calls(turn harness.Turn, status string) map[string][]harness.Typed {
	all := map[string][]harness.Typed{}
	for _, f := range turn.Frames {
		if f.Type == "tool_call" && f.Status == status {
			all[f.ToolName] = append(all[f.ToolName], f)
		}
	}
	return all
}

func childOutput(t *testing.T, turn harness.Turn) {
	type answer struct {
		Status     string `json:"status"`
		Output     any    `json:"output"`
		Agent      string `json:"agent_schema"`
		Structured bool   `json:"is_structured_output"`
	}
	got := map[string]answer{}
	for _, f := range calls(turn, "completed")["ask_agent"] {
		var a answer
		if err := json.Unmarshal(f.Result, &a); err != nil {
			t.Fatal(err)
		}
		got[a.Agent] = a
	}
	want := map[string]answer{
		"plain":   {"success", "The tools have answered.", "plain", false},
		"archive": {"success", map[string]any{"title": "A title"}, "archive", true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the asking agent gets (-want +got):\n%s", diff)
	}
}

// childEvents: text is content, the child's tools are calls in its name, a
// structured answer is one call that is the agent's.
func childEvents(t *testing.T, turn harness.Turn) {
	contains(t, turn.Text, "The tools have answered.")
	if n := strings.Count(turn.Text, "A title"); n != 0 {
		t.Errorf("the object is shown as text %d times: %q", n, turn.Text)
	}
	for _, status := range []string{"started", "executing", "completed"} {
		if n := len(calls(turn, status)["plain:search"]); n != 1 {
			t.Errorf("the child's search is %s %d times", status, n)
		}
	}
	filed := calls(turn, "completed")["archive"]
	if len(filed) != 1 || !strings.HasPrefix(filed[0].ToolCallID, "archive_structured_output") || string(filed[0].Result) != `{"title":"A title"}` {
		t.Errorf("the structured child's call is %+v", filed)
	}
}

// childRows: what a child says is part of the answer, a structured answer is a call and
// its result, whose row has the id that its event names.
func childRows(t *testing.T, d *desk, turn harness.Turn, session string) {
	rows := d.Messages(t, session)
	if last := rows[len(rows)-1]; last.Type != "assistant" || last.Content == nil || *last.Content != turn.Text {
		t.Errorf("the answer's row is %+v, the user read %q", last, turn.Text)
	}
	filed := calls(turn, "completed")["archive"]
	if len(filed) != 1 {
		t.Fatalf("%d calls of the structured child", len(filed))
	}
	i := slices.IndexFunc(rows, func(r harness.Row) bool { return r.ToolCallID == filed[0].ToolCallID }) + 1
	if i == 0 || rows[i-1].Type != "tool_call" || string(rows[i-1].Arguments) != `{"input_text":"A title"}` || rows[i].Type != "tool_response" || rows[i].ToolName != "archive" || rows[i].Content == nil || *rows[i].Content != `{"title":"A title"}` {
		t.Fatalf("the structured child has the row %d of %+v", i, rows)
	}
	if rows[i].ID != filed[0].MessageID {
		t.Errorf("the event names the row %s, it is %s", filed[0].MessageID, rows[i].ID)
	}
}

// childInTheFrontEnd: AG-UI clients see the child's text as text of the child,
// and the object as a call with a result, which they draw as a card. Older ones
// read the same in custom events.
func childInTheFrontEnd(t *testing.T, d *desk) {
	body, _ := json.Marshal(map[string]any{"model": "boss", "messages": []any{map[string]string{
		"role": "user", "content": asks("plain", "hello") + "\n" + asks("archive", "A title"),
	}}})
	res, err := http.Post(d.URL+"/chat/front-end", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	type frame struct {
		Type       string `json:"type"`
		Name       string `json:"name"`
		Delta      string `json:"delta"`
		ToolCallID string `json:"toolCallId"`
		Content    string `json:"content"`
		Child      string `json:"subagentRunId"`
		Value      struct {
			Agent   string `json:"agent_name"`
			Content string `json:"content"`
			Result  string `json:"result"`
		} `json:"value"`
	}
	names, text, cards, custom := map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	for f, err := range harness.Frames(res.Body) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Data == "" {
			continue // an id alone
		}
		var e frame
		if err := json.Unmarshal([]byte(f.Data), &e); err != nil {
			t.Fatalf("%s: %v", f.Data, err)
		}
		switch {
		case e.Type == "SUBAGENT_STARTED":
			names[e.Child] = e.Name
		case e.Type == "TEXT_MESSAGE_CONTENT" && e.Child != "":
			text[names[e.Child]] += e.Delta
		case e.Type == "TOOL_CALL_RESULT" && e.Child != "":
			cards[e.ToolCallID] = e.Content
		case e.Type == "CUSTOM" && (e.Name == "child_content" || e.Name == "child_tool_result"):
			custom[e.Name+" "+e.Value.Agent] += e.Value.Content + e.Value.Result
		}
	}
	const title = `{"title":"A title"}`
	for _, c := range []struct {
		what      string
		want, got map[string]string
	}{
		{"text", map[string]string{"plain": "You said: hello"}, text},
		{"cards", map[string]string{"archive_structured_output": title}, cards},
		{"custom events", map[string]string{"child_content plain": "You said: hello", "child_tool_result archive": title}, custom},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}
