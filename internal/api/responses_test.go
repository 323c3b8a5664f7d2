package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
)

// TestResponseRequests: what a body of the Responses API asks of the chat.
func TestResponseRequests(t *testing.T) {
	const pick = `"tools":[{"type":"function","name":"pick","parameters":{"type":"object"},"strict":true}]`
	tools := []llm.ToolSpec{{Name: "pick", Parameters: json.RawMessage(`{"type":"object"}`)}}
	called := llm.Message{Role: llm.Assistant, Content: "I pick.", ToolCalls: []llm.ToolCall{{ID: "c1", Name: "pick", Arguments: `{"n":1}`}}}
	for name, c := range map[string]struct {
		body string
		want chat.Request
	}{
		"a text": {`{"input":"one","instructions":"Be brief.","temperature":0.5,"max_output_tokens":9,"reasoning":{"effort":"low"},"metadata":{"plan":"paid"}}`,
			chat.Request{Input: "one", Instruction: "Be brief.", SessionMetadata: map[string]any{"plan": "paid"},
				Settings: llm.Settings{Temperature: new(0.5), MaxTokens: 9, ReasoningEffort: "low"}}},
		"a transcript": {`{"input":[{"role":"developer","content":"D"},{"role":"user","content":[{"type":"input_text","text":"one"}]},
			{"type":"reasoning","id":"rs_1","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"two","annotations":[]}]},
			{"role":"user","content":"three"}]}`,
			chat.Request{Input: "three", Instruction: "D", History: []llm.Message{{Role: llm.User, Content: "one"}, {Role: llm.Assistant, Content: "two"}}}},
		"outputs": {`{` + pick + `,"tool_choice":{"type":"function","name":"pick"},"input":[{"role":"user","content":"one"},{"role":"assistant","content":"I pick."},
			{"type":"function_call","call_id":"c1","name":"pick","arguments":"{\"n\":1}"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"red"}]}]}`,
			chat.Request{ClientTools: tools, ToolChoice: run.ToolChoice{Mode: run.ChoiceRequired, Name: "pick"}, Results: []chat.ToolResult{{ToolCallID: "c1", Content: "red"}},
				History: []llm.Message{{Role: llm.User, Content: "one"}, called, {Role: llm.ToolRole, ToolCallID: "c1", Name: "pick", Content: "red"}}}},
		"a conversation": {`{"conversation":{"id":"s1"},"input":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three"},{"role":"user","content":"four"}]}`,
			chat.Request{Input: "three\n\nfour", History: []llm.Message{{Role: llm.User, Content: "one"}, {Role: llm.Assistant, Content: "two"}}}},
		"after a response": {`{"previous_response_id":"resp_11111111111111111111111111111111_p3","input":[{"type":"function_call_output","call_id":"c1","output":"red"},{"role":"user","content":"and blue"}]}`,
			chat.Request{Input: "and blue", Results: []chat.ToolResult{{ToolCallID: "c1", Content: "red"}}}},
		"a reference": {`{"input":[{"role":"user","content":"one"},{"type":"item_reference","id":"msg_11111111111111111111111111111111_0"},{"role":"user","content":"two"}]}`,
			chat.Request{Input: "two"}},
		"an old approval": {`{"input":[{"type":"mcp_approval_response","approval_request_id":"mcpr_q1","approve":true},{"role":"assistant","content":"x"},{"role":"user","content":"two"}]}`,
			chat.Request{Input: "two", History: []llm.Message{{Role: llm.Assistant, Content: "x"}}}},
		"a form": {`{"input":"one","text":{"verbosity":"low","format":{"type":"json_schema","name":"a b","schema":{"type":"object"}}},"tool_choice":"none","parallel_tool_calls":false,` + pick + `}`,
			chat.Request{Input: "one", Settings: llm.Settings{Verbosity: "low", SerialCalls: true}, ClientTools: tools, ToolChoice: run.ToolChoice{Mode: run.ChoiceNone},
				ResponseFormat: &llm.Output{Name: "a_b", Schema: json.RawMessage(`{"type":"object"}`)}}},
		"allowed tools": {`{"input":"one",` + pick + `,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"pick"}]}}`,
			chat.Request{Input: "one", ClientTools: tools, ToolChoice: run.ToolChoice{Allowed: []string{"pick"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.say("x", &event.DoneData{Reason: event.ReasonStop})
			if w := talked(t, f, "/v1/responses", c.body); w.Code != http.StatusOK {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			c.want.Protocol = "responses"
			if diff := cmp.Diff(c.want, f.req, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestResponseErrors: what is wrong, or cannot be done, is a 400 that names the field.
func TestResponseErrors(t *testing.T) {
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	f := newFake()
	f.say("x", &event.DoneData{Reason: event.ReasonStop})
	s := newTalk(t, f)
	for body, want := range map[string]string{
		`{}`: "input", `{"input":""}`: "input", `{"input":[]}`: "input", `{"input":7}`: "input", `{"input":[7]}`: "input", `{"input":[null]}`: "input",
		`{"input":` + deep + `}`: "", `{"input":[{"role":"user","content":` + deep + `}]}`: "",
		`{"input":"x","model":7}`: "model", `{"input":"x","foo":1}`: "foo", `{"input":"x","stream":"yes"}`: "stream",
		`{"input":[{"type":"web_search_call"}]}`: "input", `{"input":[{"role":"robot","content":"x"}]}`: "input",
		`{"input":[{"type":"function_call","name":"a"}]}`: "input", `{"input":[{"type":"function_call_output","output":"x"}]}`: "input",
		`{"input":[{"type":"item_reference","id":"msg_1"}]}`: "input", `{"input":[{"type":"item_reference"}]}`: "input",
		`{"input":[{"type":"mcp_approval_response","approval_request_id":"q1","approve":true}]}`:            "input",
		`{"input":[{"type":"mcp_approval_response","approval_request_id":"mcpr_q1"}]}`:                      "input",
		`{"input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}]}`:                       "input",
		`{"input":[{"role":"user","content":[{"type":"input_image","image_url":7}]}]}`:                      "input",
		`{"input":[{"role":"assistant","content":[{"type":"input_image","image_url":"https://x/y.png"}]}]}`: "input",
		`{"input":"x","tools":[{"type":"web_search"}]}`:                                                     "tools", `{"input":"x","tools":[{"type":"custom","name":"a"}]}`: "tools",
		`{"input":"x","tool_choice":{"type":"file_search"}}`: "tool_choice", `{"input":"x","tool_choice":7}`: "tool_choice",
		`{"input":"x","tool_choice":"any"}`: "tool_choice", `{"input":"x","tool_choice":{"type":"allowed_tools","mode":"some","tools":[{"type":"function","name":"a"}]}}`: "tool_choice",
		`{"input":"x","prompt":{"id":"p"}}`: "prompt", `{"input":"x","top_logprobs":2}`: "top_logprobs", `{"input":"x","max_tool_calls":2}`: "max_tool_calls",
		`{"input":"x","include":["file_search_call.results"]}`: "include", `{"input":"x","truncation":"no"}`: "truncation", `{"input":"x","service_tier":"cheap"}`: "service_tier",
		`{"input":"x","text":{"verbosity":"loud"}}`: "verbosity", `{"input":"x","text":{"format":{"type":"xml"}}}`: "text.format",
		`{"input":"x","text":{"format":{"type":"json_schema"}}}`: "text.format", `{"input":"x","temperature":9}`: "temperature",
		`{"input":"x","max_output_tokens":0}`: "max_output_tokens", `{"input":"x","background":true,"store":false}`: "background",
		`{"input":"x","conversation":"a","previous_response_id":"resp_1"}`:                                          "previous_response_id",
		`{"input":[` + strings.Repeat(`{"role":"user","content":"x"},`, 10_000) + `{"role":"user","content":"x"}]}`: "input",
	} {
		w := s.do("POST", "/v1/responses", body)
		var got struct {
			Error struct {
				Param   *string
				Message string
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusBadRequest || got.Error.Message == "" {
			t.Errorf("%.90s: %d %s", body, w.Code, w.Body)
		} else if want != "" && (got.Error.Param == nil || *got.Error.Param != want) {
			t.Errorf("%.90s: it does not name %s: %s", body, want, w.Body)
		}
	}
	for id, want := range map[string]int{"resp_1": 404, "resp_" + strings.Repeat("0", 32): 404, "resp_" + strings.Repeat("0", 32) + "_tmp": 404} {
		w := s.do("POST", "/v1/responses", fmt.Sprintf(`{"input":"x","previous_response_id":%q}`, id))
		if w.Code != want || !strings.Contains(w.Body.String(), "previous_response_not_found") {
			t.Errorf("%s: %d %s", id, w.Code, w.Body)
		}
	}
}

// response is a response as a client reads it.
type response struct {
	ID, Status   string
	Conversation struct{ ID string }
	Output       []struct {
		Type    string
		CallID  string `json:"call_id"`
		Content []struct{ Text string }
	}
}

// respond sends a request of the Responses API.
func (s *server) respond(t *testing.T, method, path, body string, headers ...string) (r response) {
	t.Helper()
	w := s.do(method, "/v1/responses"+path, body, headers...)
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return r
}

// TestResponseParts: a run that waits for the client's tools is two responses. Each stays
// what it was, also when the run has gone on.
func TestResponseParts(t *testing.T) {
	const pick = `,"tools":[{"type":"function","name":"pick","parameters":{"type":"object"}}]`
	s := newServer(t, setup{}, scripted.Call("pick", `{}`), scripted.Text("Red."), scripted.Text("Again."), scripted.Text("Branched."))
	one := s.respond(t, "POST", "", `{"input":"Pick."`+pick+`}`)
	if len(one.Output) != 1 || one.Output[0].Type != "function_call" {
		t.Fatalf("%+v", one)
	}
	two := s.respond(t, "POST", "", fmt.Sprintf(`{"previous_response_id":%q,"input":[{"type":"function_call_output","call_id":%q,"output":"red"}]%s}`, one.ID, one.Output[0].CallID, pick))
	if len(two.Output) != 1 || two.Output[0].Content[0].Text != "Red." || two.Conversation != one.Conversation {
		t.Fatalf("%+v", two)
	}
	for _, r := range []response{one, two} {
		if diff := cmp.Diff(r, s.respond(t, "GET", "/"+r.ID, "")); diff != "" {
			t.Error(diff)
		}
	}
	for id, want := range map[string]string{one.ID: `"text":"Pick."`, two.ID: `"output":"red"`} {
		if w := s.do("GET", "/v1/responses/"+id+"/input_items?limit=1&order=asc", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	three := s.respond(t, "POST", "", fmt.Sprintf(`{"previous_response_id":%q,"input":"Once more."}`, two.ID))
	branch := s.respond(t, "POST", "", fmt.Sprintf(`{"previous_response_id":%q,"input":"Or so."}`, two.ID))
	if three.Conversation != one.Conversation || branch.Conversation == one.Conversation {
		t.Errorf("three %v, branch %v, one %v", three.Conversation, branch.Conversation, one.Conversation)
	}
	var said []string
	for _, m := range s.model.Requests()[3].Messages {
		if m.Role == llm.User || m.Role == llm.Assistant {
			said = append(said, m.Content)
		}
	}
	if diff := cmp.Diff([]string{"Pick.", "Red.", "Or so."}, said); diff != "" {
		t.Errorf("the branch begins with another conversation: %s", diff)
	}
	s.model.AssertDone(t)
}

// TestResponseTranscript: a client that sends everything again leaves no run that waits.
func TestResponseTranscript(t *testing.T) {
	const pick = `,"tools":[{"type":"function","name":"pick","parameters":{"type":"object"}}]`
	s := newServer(t, setup{}, scripted.Call("pick", `{}`), scripted.Text("Red."))
	one := s.do("POST", "/v1/responses", `{"input":"Pick."`+pick+`}`)
	var whole struct{ Output []json.RawMessage }
	must(t, json.Unmarshal(one.Body.Bytes(), &whole))
	s.respond(t, "POST", "", `{"input":[{"role":"user","content":"Pick."},`+string(whole.Output[0])+`,{"type":"function_call_output","call_id":"call_1","output":"red"}]`+pick+`}`)
	if w := s.do("GET", "/runs?status=waiting", ""); strings.TrimSpace(w.Body.String()) != "[]" {
		t.Errorf("a run waits: %s", w.Body)
	}
}

// TestResponsesAreTheCallers: nobody else reads, continues, stops or deletes a response.
func TestResponsesAreTheCallers(t *testing.T) {
	s := newServer(t, setup{api: api.Options{TrustHeaders: true}}, scripted.Text("Mine."))
	mine := s.respond(t, "POST", "", `{"input":"Hello."}`, "X-User-Id: alice", "X-Tenant-Id: acme")
	for _, who := range [][]string{{"X-User-Id: bob", "X-Tenant-Id: acme"}, {"X-User-Id: alice", "X-Tenant-Id: other"}, {"X-Tenant-Id: acme"}} {
		for _, c := range [][3]string{
			{"GET", "/" + mine.ID, ""}, {"GET", "/" + mine.ID + "?stream=true", ""}, {"GET", "/" + mine.ID + "/input_items", ""}, {"DELETE", "/" + mine.ID, ""},
			{"POST", "/" + mine.ID + "/cancel", ""}, {"POST", "", fmt.Sprintf(`{"input":"x","previous_response_id":%q}`, mine.ID)},
			{"POST", "", fmt.Sprintf(`{"input":[{"type":"item_reference","id":"msg_%s_0"},{"role":"user","content":"x"}]}`, strings.TrimPrefix(mine.ID, "resp_"))},
		} {
			if w := s.do(c[0], "/v1/responses"+c[1], c[2], who...); w.Code != http.StatusNotFound {
				t.Errorf("%v %v: %d %s", who, c, w.Code, w.Body)
			}
		}
	}
	s.respond(t, "GET", "/"+mine.ID, "", "X-User-Id: alice", "X-Tenant-Id: acme")
}

// FuzzResponse: no body makes the server fail, and no turn begins with nothing to do.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		`{"input":"x"}`, `{}`, `{"input":[{"role":"user","content":[{"type":"input_text","text":"x"}]}],"store":false}`,
		`{"conversation":{"id":"s1"},"input":[{"type":"function_call_output","call_id":"c","output":"x"}],"tools":[{"type":"function","name":"a","parameters":{"type":"object"}}]}`,
		`{"input":[{"type":"item_reference","id":"msg_11111111111111111111111111111111_0"},{"type":"mcp_approval_response","approval_request_id":"mcpr_q1","approve":true}]}`,
		`{"previous_response_id":"resp_11111111111111111111111111111111_p3_bg","input":"x","background":true,"text":{"format":{"type":"json_object"}}}`,
		`{"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]}}`,
	} {
		f.Add(s)
	}
	catalog := newServer(f, setup{noStore: true}).catalog
	f.Fuzz(func(t *testing.T, body string) {
		fake := asking()
		fake.say("x", &event.DoneData{Reason: event.ReasonStop})
		s := &server{Handler: talkOver(fake, &server{catalog: catalog})}
		w := s.do("POST", "/v1/responses", body, "Content-Type: application/json")
		r := &fake.req
		switch {
		case w.Code == http.StatusOK:
			if r.Input == "" && len(r.Parts)+len(r.Answers)+len(r.Results) == 0 {
				t.Errorf("a turn with nothing to do began: %q", body)
			}
		case w.Code < 400 || w.Code >= 500 || !json.Valid(w.Body.Bytes()):
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
