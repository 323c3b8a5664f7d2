package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// frames returns the JSON objects of a stream that have a type, and its text.
func frames(t *testing.T, body string) (typed []map[string]any, text string) {
	t.Helper()
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var frame struct {
			Type    string
			Choices []struct{ Delta struct{ Content string } }
		}
		must(t, json.Unmarshal([]byte(data), &frame))
		if frame.Type != "" {
			var all map[string]any
			must(t, json.Unmarshal([]byte(data), &all))
			typed = append(typed, all)
			continue
		}
		for _, c := range frame.Choices {
			text += c.Delta.Content
		}
	}
	return typed, text
}

// TestSession: two turns of one session, the first streamed and with tools, the second
// unstreamed; then the session is read.
func TestSession(t *testing.T) {
	var requests []llm.Request
	keep := func(r *llm.Request) error {
		requests = append(requests, llm.Request{Messages: slices.Clone(r.Messages), Tools: r.Tools})
		return nil
	}
	s := newServer(t, setup{},
		scripted.Turn{Check: keep, Calls: []llm.ToolCall{
			{ID: "call_a", Name: "search", Arguments: `{"query":"LOOKUP p8"}`},
			{ID: "call_b", Name: "action", Arguments: `{"type":"observation","payload":{"confidence":0.9,"sources":["p8"]}}`},
		}},
		scripted.Turn{Check: keep, Text: []string{"p8 is ", "one binary."}, Usage: llm.Usage{Input: 10, Output: 4}},
		scripted.Turn{Check: keep, Text: []string{"Yes."}, Usage: llm.Usage{Input: 20, Output: 1}},
	)

	w := s.do("POST", "/api/v1/chat/completions", `{"model":"sample-agent","stream":true,"stream_options":{"include_usage":true},
		"messages":[{"role":"user","content":"What is p8?"}]}`, "X-Session-Id: s/1 é", "X-Added-Instruction: Speak Latin.")
	typed, text := frames(t, w.Body.String())
	if w.Code != 200 || text != "p8 is one binary." || !strings.Contains(w.Body.String(), "data: [DONE]\n\n") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(w.Body.String(), `"model":"sample-agent"`) || !strings.Contains(w.Body.String(), `"usage":{"prompt_tokens"`) {
		t.Error("the chunks lack the model that was asked for, or the usage:", w.Body)
	}
	w = s.do("POST", "/chat/completions/s%2F1%20%C3%A9", `{"model":"sample-agent","messages":[{"role":"user","content":"Sure?"}]}`)
	var whole struct {
		Object  string
		Choices []struct {
			Message      struct{ Role, Content string }
			FinishReason string `json:"finish_reason"`
		}
		Usage    struct{ Prompt, Completion, Total int }
		Metadata event.MetadataData
	}
	must(t, json.Unmarshal(w.Body.Bytes(), &whole))
	if whole.Object != "chat.completion" || whole.Choices[0].Message.Content != "Yes." || whole.Choices[0].FinishReason != "stop" ||
		whole.Metadata.SessionID != "s/1 é" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	s.model.AssertDone(t)

	last := requests[2].Messages
	if !slices.ContainsFunc(last, func(m llm.Message) bool { return m.Role == llm.Assistant && m.Content == "p8 is one binary." }) {
		t.Error("the second turn does not know the first:", last)
	}
	for i, want := range []bool{true, true, false} {
		got := slices.ContainsFunc(requests[i].Messages, func(m llm.Message) bool { return strings.Contains(m.Content, "Speak Latin.") })
		if got != want {
			t.Errorf("request %d has the added instruction: %v", i, got)
		}
	}

	// Every id in a frame is the id of a row.
	for _, f := range typed {
		for _, key := range []string{"message_id", "in_reply_to"} {
			if id, ok := f[key].(string); ok {
				if got := s.do("GET", "/messages/"+id, ""); got.Code != 200 || !strings.Contains(got.Body.String(), id) {
					t.Errorf("%s of %v: %d", key, f, got.Code)
				}
			}
		}
	}
	checkRows(t, s)
}

// checkRows reads TestSession's session in pages of two.
func checkRows(t *testing.T, s *server) {
	t.Helper()
	var rows []map[string]any
	path := "/sessions/s%2F1%20%C3%A9/messages?limit=2"
	for range 10 {
		w := s.do("GET", path, "")
		var page []map[string]any
		must(t, json.Unmarshal(w.Body.Bytes(), &page))
		rows = append(rows, page...)
		link, _, found := strings.Cut(strings.TrimPrefix(w.Header().Get("Link"), "<"), ">")
		if !found {
			break
		}
		path = "/sessions/s%2F1%20%C3%A9/messages" + link
	}
	var got []string
	for _, r := range rows {
		got = append(got, strings.TrimSuffix(r["message_type"].(string)+"/"+r["role"].(string)+"/"+str(r["tool_name"])+"/"+str(r["tool_call_id"]), "//"))
		switch r["message_type"] {
		case store.MessageToolCall:
			if r["content"] != nil || r["tool_arguments"] == nil {
				t.Errorf("a call has no content and has arguments: %v", r)
			}
		case store.MessageToolResponse:
			if r["content"] == nil {
				t.Errorf("a response has content: %v", r)
			}
		}
	}
	slices.Sort(got[1:6]) // two tools at once, one of which observes something
	want := []string{
		"user/user", "observation/observation", "tool_call/tool/action/call_b", "tool_call/tool/search/call_a",
		"tool_response/tool/action/call_b", "tool_response/tool/search/call_a", "assistant/assistant", "user/user", "assistant/assistant",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	var one store.Session
	must(t, json.Unmarshal(s.do("GET", "/sessions/s%2F1%20%C3%A9", "").Body.Bytes(), &one))
	var all []store.Session
	must(t, json.Unmarshal(s.do("GET", "/v1/sessions?agent=sample-agent", "").Body.Bytes(), &all))
	if one.ID != "s/1 é" || one.Messages != 9 || len(all) != 1 || all[0].ID != one.ID {
		t.Errorf("%+v, %+v", one, all)
	}
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

// TestImportedHistory: without a session the body's own history counts, once.
func TestImportedHistory(t *testing.T) {
	s := newServer(t, setup{}, scripted.Text("three"))
	s.do("POST", "/v1/chat/completions", `{"messages":[{"role":"system","content":"Count."},{"role":"user","content":"one"},
		{"role":"assistant","content":"two"},{"role":"user","content":"go on"}]}`)
	var got []string
	for _, m := range s.model.Requests()[0].Messages[1:] {
		got = append(got, string(m.Role)+": "+m.Content)
	}
	joined := strings.Join(got, "|")
	if !strings.HasSuffix(joined, "|user: one|assistant: two|user: go on") || !strings.Contains(joined, "Count.") {
		t.Error(joined)
	}
}

// TestFormats: the header selects the frames, in any case.
func TestFormats(t *testing.T) {
	for format, want := range map[string]string{
		"":        "event: progress\ndata: {\"type\":\"progress\"",
		"auto":    "event: progress\ndata: {\"type\":\"progress\"",
		"unnamed": "\n\ndata: {\"type\":\"metadata\"",
		"Named":   "event: done\ndata: {\"type\":\"done\",\"reason\":\"stop\"}\n\n",
		"wrapped": `data: {"event":"done","data":{"reason":"stop"}}`,
	} {
		s := newServer(t, setup{noStore: true}, scripted.Text("hi"))
		w := s.do("POST", "/v1/chat/completions", strings.Replace(hello, "{", `{"stream":true,`, 1), "X-Event-Format: "+format)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %s", format, w.Body)
		}
	}
	s := newServer(t, setup{noStore: true}, scripted.Text("hi"))
	w := s.do("POST", "/v1/chat/completions", strings.Replace(hello, "{", `{"stream":true,`, 1), "X-Event-Format: none")
	if typed, text := frames(t, w.Body.String()); len(typed) > 0 || text != "hi" {
		t.Errorf("none: %s", w.Body)
	}
}

// TestFormatOfSDKs: a request of an OpenAI SDK gets frames that every version reads.
func TestFormatOfSDKs(t *testing.T) {
	for _, header := range []string{"User-Agent: AsyncOpenAI/Python 1.30.0", "X-Stainless-Lang: js"} {
		s := newServer(t, setup{noStore: true}, scripted.Text("hi"))
		w := s.do("POST", "/v1/chat/completions", strings.Replace(hello, "{", `{"stream":true,`, 1), header)
		for frame := range strings.SplitSeq(strings.TrimSuffix(w.Body.String(), "\n\n"), "\n\n") {
			if !strings.HasPrefix(frame, "data: ") || strings.Contains(frame, "\n") {
				t.Errorf("%s: frame %q", header, frame)
			}
		}
		if !strings.Contains(w.Body.String(), `"type":"metadata"`) {
			t.Errorf("%s: typed events are missing: %s", header, w.Body)
		}
	}
}

// TestHeartbeat: a silent model does not make a silent connection.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		s := newServer(t, setup{noStore: true}, scripted.Turn{Text: []string{"late"}, Before: scripted.Until(0, answer)})
		go func() {
			time.Sleep(40 * time.Second)
			close(answer)
		}()
		w := s.do("POST", "/v1/chat/completions", strings.Replace(hello, "{", `{"stream":true,`, 1))
		if n := strings.Count(w.Body.String(), ": keep-alive\n\n"); n != 2 || !strings.Contains(w.Body.String(), "late") {
			t.Errorf("%d heartbeats: %s", n, w.Body)
		}
	})
}

// TestDisconnect: the client leaves in the middle; the run continues and its answer is
// stored. Meanwhile the session is busy.
func TestDisconnect(t *testing.T) {
	gate := make(chan struct{})
	s := newServer(t, setup{}, scripted.Turn{Text: []string{"begun", " and finished"}, Before: scripted.Until(1, gate)})
	server := httptest.NewServer(s)
	defer server.Close()
	ctx, leave := context.WithCancel(context.Background())
	body := strings.NewReader(strings.Replace(hello, "{", `{"stream":true,`, 1))
	r, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/v1/chat/completions", body)
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Session-Id", "left")
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "begun") {
	}
	w := s.do("POST", "/v1/chat/completions", hello, "X-Session-Id: left")
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), `"code":"session_busy"`) {
		t.Errorf("a second turn at once: %d %s", w.Code, w.Body)
	}
	leave()
	_ = res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	server.Close() // waits for the handler
	close(gate)
	must(t, s.chat.Close(context.Background()))
	rows, err := s.store.Messages(identity.With(context.Background(), identity.Identity{}), "left", store.MessageFilter{})
	must(t, err)
	if len(rows) != 2 || *rows[1].Content != "begun and finished" {
		t.Errorf("%+v", rows)
	}
}

// TestFirstByteAtOnce: the client gets its session before the model's first word.
func TestFirstByteAtOnce(t *testing.T) {
	gate := make(chan struct{})
	s := newServer(t, setup{noStore: true}, scripted.Turn{Text: []string{"late"}, Before: scripted.Until(0, gate)})
	server := httptest.NewServer(s)
	defer server.Close()
	res, err := http.Post(server.URL+"/v1/chat/completions", "application/json", bytes.NewBufferString(strings.Replace(hello, "{", `{"stream":true,`, 1)))
	must(t, err)
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	if err != nil || line != "event: progress\n" || res.Header.Get("X-Session-Id") == "" || res.Header.Get("X-Run-Id") == "" {
		t.Errorf("%q, %v, %v", line, err, res.Header)
	}
	close(gate)
}
