package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// careful is an agent whose tool needs approval.
const careful = "type: object\nname: careful\ndescription: Ask first.\ntools:\n  - name: search\n    approval: always\n"

// interrupts returns the requests at the end of an AG-UI answer.
func interrupts(t *testing.T, body string) (ids []string) {
	t.Helper()
	for line := range strings.Lines(body) {
		var ev struct {
			Type    string
			Outcome struct{ Interrupts []struct{ ID string } }
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			must(t, json.Unmarshal([]byte(data), &ev))
			for _, i := range ev.Outcome.Interrupts {
				ids = append(ids, i.ID)
			}
		}
	}
	return ids
}

// TestPause: a run of the real chat asks twice in one step; the two requests are answered
// one after the other, in different ways.
func TestPause(t *testing.T) {
	s := newServer(t, setup{},
		scripted.Turn{Text: []string{"Let me look. "}, Calls: []llm.ToolCall{
			{ID: "call_a", Name: "search", Arguments: `{"query":"a"}`}, {ID: "call_b", Name: "search", Arguments: `{"query":"b"}`},
		}},
		scripted.Turn{Text: []string{"Found it."}})
	if w := s.do("POST", "/schemas/", careful, "Content-Type: application/yaml"); w.Code >= 300 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	first := s.do("POST", "/chat/s1", hello, "X-Agent-Schema: careful")
	ids := interrupts(t, first.Body.String())
	if len(ids) != 2 {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	run := "/runs/" + first.Header().Get("X-Run-Id")
	var open []store.RunRequest
	must(t, json.Unmarshal(s.do("GET", "/approvals?status=open", "").Body.Bytes(), &open))
	if len(open) != 2 || open[0].ToolName != "search" || !strings.Contains(s.do("GET", run, "").Body.String(), `"status":"waiting"`) {
		t.Errorf("%+v", open)
	}
	// The first over HTTP: the run still waits.
	if w := s.do("POST", "/approvals/"+ids[0], `{"decision":"deny","comment":"not that one"}`); w.Code != 200 || !strings.Contains(w.Body.String(), `"run_status":"waiting"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.do("POST", "/approvals/"+ids[0], `{"decision":"approve"}`); w.Code != http.StatusConflict {
		t.Errorf("decided twice: %d %s", w.Code, w.Body)
	}
	// The second in AG-UI's way: the response has only the new events.
	second := s.do("POST", "/chat/s1", `{"threadId":"t","resume":[{"interruptId":"`+ids[1]+`","status":"resolved","payload":{"approved":true}}]}`)
	body := second.Body.String()
	if second.Code != 200 || strings.Contains(body, "Let me look") || !strings.Contains(body, "Found it.") ||
		!strings.Contains(body, `"RUN_FINISHED"`) || strings.Count(body, `"TOOL_CALL_RESULT"`) != 2 || second.Header().Get("X-Run-Id") != first.Header().Get("X-Run-Id") {
		t.Errorf("%d %s %s", second.Code, body, s.log)
	}
	s.model.AssertDone(t)
	must(t, s.chat.Close(context.Background()))
	whole := s.do("GET", run+"/events?protocol=ai-sdk-6", "").Body.String()
	if strings.Count(whole, `"type":"finish"`) != 1 || !strings.Contains(whole, "Let me look") || !strings.Contains(whole, `"tool-output-denied"`) {
		t.Error(whole)
	}
	if w := s.do("GET", run, ""); !strings.Contains(w.Body.String(), `"status":"completed"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestClientTool: a tool that the client runs, with the real chat.
func TestClientTool(t *testing.T) {
	const tools = `"tools":[{"type":"function","function":{"name":"pick","parameters":{"type":"object"}}}]`
	call := scripted.Turn{Calls: []llm.ToolCall{{ID: "call_a", Name: "pick", Arguments: `{"n":1}`}}}
	for name, headers := range map[string][]string{"in a session": {"X-Session-Id: s1"}, "without a session": nil} {
		s := newServer(t, setup{}, call, scripted.Text("Red."))
		w := s.do("POST", "/v1/chat/completions", `{`+tools+`,"messages":[{"role":"user","content":"Pick one."}]}`, headers...)
		var answer struct {
			Choices []struct {
				Message struct {
					ToolCalls json.RawMessage `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
		}
		must(t, json.Unmarshal(w.Body.Bytes(), &answer))
		if len(answer.Choices) != 1 || answer.Choices[0].FinishReason != "tool_calls" || !strings.Contains(string(answer.Choices[0].Message.ToolCalls), `"pick"`) {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		w = s.do("POST", "/v1/chat/completions", `{`+tools+`,"messages":[{"role":"user","content":"Pick one."},
			{"role":"assistant","content":null,"tool_calls":`+string(answer.Choices[0].Message.ToolCalls)+`},{"role":"tool","tool_call_id":"call_a","content":"red"}]}`, headers...)
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"Red."`) {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		var got []string
		for _, m := range s.model.Requests()[1].Messages[1:] {
			if m.Role != llm.System {
				got = append(got, string(m.Role)+":"+m.Content+m.ToolCallID)
			}
		}
		if want := "user:Pick one.|assistant:|tool:redcall_a"; strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
