package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/harness"
)

const (
	question    = "How are sessions kept?"
	answer      = "Every message of a session is stored as a row of its own (sessions)."
	followUp    = "Where did you read that?"
	source      = "On the page with the key sessions."
	instruction = "Answer as if you stood in a library."
)

// reply is one turn as a client decoded it.
type reply struct {
	Text   string   `json:"text"`
	Finish string   `json:"finish"`
	Roles  []string `json:"roles"`
	Events []string `json:"events"`
	Usage  *struct {
		Total int `json:"total_tokens"`
	} `json:"usage"`
}

// TestTwoTurnSession lets every kind of client hold a session of two turns, the
// first of which uses tools, and reads in the provider's journal what the model
// was really sent.
func TestTwoTurnSession(t *testing.T) {
	provider := harness.Aimock(t, "testdata/session.json")
	server := harness.Serve(t, harness.Options{Env: append(provider.Env(), "P8_SCHEMA_DIR="+agents(t))})

	openai := func(mode string, resend bool) func(*testing.T, string, string) []reply {
		return func(t *testing.T, agent, session string) []reply {
			return npmSession(t, server, mode, resend, agent, session)
		}
	}
	curl := func(stream bool) func(*testing.T, string, string) []reply {
		return func(t *testing.T, agent, session string) []reply {
			return curlSession(t, server, stream, agent, session)
		}
	}
	for _, client := range []struct {
		name string
		hold func(t *testing.T, agent, session string) []reply
	}{
		{"npm openai, loop over the chunks", openai("raw", true)},
		{"npm openai, stream helper", openai("stream", false)},
		{"npm openai, not streamed", openai("plain", true)},
		{"curl, streamed", curl(true)},
		{"curl, not streamed", curl(false)},
	} {
		for _, agent := range []string{"clerk", "archivist"} {
			t.Run(client.name+"/"+agent, func(t *testing.T) {
				before := len(provider.Journal(t))
				session := "e2e " + t.Name()
				replies := client.hold(t, agent, session)
				if len(replies) != 2 {
					t.Fatalf("%d turns, want 2", len(replies))
				}
				if want := "Let me look. \n\n" + answer; replies[0].Text != want {
					t.Errorf("turn 1 says %q, want %q", replies[0].Text, want)
				}
				if replies[1].Text != source {
					t.Errorf("turn 2 says %q, want %q", replies[1].Text, source)
				}
				for i, r := range replies {
					if r.Finish != "stop" || len(r.Roles) != 1 || r.Roles[0] != "assistant" {
						t.Errorf("turn %d: finish_reason %q, roles %q", i+1, r.Finish, r.Roles)
					}
				}
				exchanges := provider.Journal(t)[before:]
				if len(exchanges) != 3 {
					t.Fatalf("the model was asked %d times, want 3 (question, tool results, second question)", len(exchanges))
				}
				checkPayloads(t, agent, session, exchanges)
				checkRows(t, server, session)
			})
		}
	}
}

func npmSession(t *testing.T, server *harness.Server, mode string, resend bool, agent, session string) []reply {
	t.Helper()
	type turn struct {
		Text    string            `json:"text"`
		Headers map[string]string `json:"headers,omitempty"`
	}
	var out struct {
		Turns []reply `json:"turns"`
	}
	harness.Node(t, "chat.mjs", map[string]any{
		"url": server.URL, "mode": mode, "model": agent, "session": session, "resend": resend,
		"turns": []turn{{question, map[string]string{"X-Added-Instruction": instruction}}, {followUp, nil}},
	}, &out)
	if mode != "plain" && len(out.Turns) > 0 {
		for _, want := range []string{"progress", "tool_call", "action", "metadata", "done"} {
			if !slices.Contains(out.Turns[0].Events, want) {
				t.Errorf("the client saw no %s event, only %q", want, out.Turns[0].Events)
			}
		}
	}
	if mode != "raw" {
		for i, turn := range out.Turns {
			if turn.Usage == nil || turn.Usage.Total == 0 {
				t.Errorf("turn %d has no usage", i+1)
			}
		}
	}
	return out.Turns
}

func curlSession(t *testing.T, server *harness.Server, stream bool, agent, session string) []reply {
	t.Helper()
	var replies []reply
	for i, text := range []string{question, followUp} {
		body, err := json.Marshal(map[string]any{
			"stream": stream, "messages": []map[string]string{{"role": "user", "content": text}},
		})
		if err != nil {
			t.Fatal(err)
		}
		args := []string{
			"-H", "Content-Type: application/json", "-H", "X-Agent-Schema: " + agent,
			"-H", "X-Session-Id: " + session, "-d", string(body),
		}
		if i == 0 {
			args = append(args, "-H", "X-Added-Instruction: "+instruction)
		}
		status, out := harness.Curl(t, server.URL+"/api/v1/chat/completions", args...)
		if status != http.StatusOK {
			t.Fatalf("turn %d: status %d: %s", i+1, status, out)
		}
		if stream {
			replies = append(replies, readStream(t, out))
		} else {
			replies = append(replies, readAnswer(t, out))
		}
	}
	return replies
}

// readStream reads a streamed answer and checks its outline: progress first, one
// role, one finish_reason, done and [DONE] last.
func readStream(t *testing.T, body string) (r reply) {
	t.Helper()
	var last string
	for f, err := range harness.Frames(strings.NewReader(body)) {
		if err != nil {
			t.Fatal(err)
		}
		if last = f.Data; last == "[DONE]" {
			continue
		}
		var chunk harness.Typed
		if err := json.Unmarshal([]byte(f.Data), &chunk); err != nil {
			t.Fatalf("frame %q: %v", f.Data, err)
		}
		if f.Event != chunk.Type {
			t.Errorf("event line %q beside type %q", f.Event, chunk.Type)
		}
		if chunk.Type != "" {
			r.Events = append(r.Events, chunk.Type)
		}
		r.Text += chunk.Text()
		if len(chunk.Choices) == 1 {
			if role := chunk.Choices[0].Delta.Role; role != "" {
				r.Roles = append(r.Roles, role)
			}
			if reason := chunk.Choices[0].FinishReason; reason != nil {
				r.Finish += *reason
			}
		}
	}
	if last != "[DONE]" {
		t.Errorf("the stream ends with %q, want [DONE]", last)
	}
	if n := len(r.Events); n == 0 || r.Events[0] != "progress" || r.Events[n-1] != "done" {
		t.Errorf("typed events %q, want progress first and done last", r.Events)
	}
	return r
}

func readAnswer(t *testing.T, body string) reply {
	t.Helper()
	var out struct {
		Choices []struct {
			Message struct {
				Role    string `json:"role"`
				Content string `json:"content"`
			} `json:"message"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil || len(out.Choices) != 1 {
		t.Fatalf("not a chat completion (%v): %s", err, body)
	}
	choice := out.Choices[0]
	return reply{Text: choice.Message.Content, Finish: choice.Finish, Roles: []string{choice.Message.Role}}
}

// checkPayloads checks the three requests of a session: the question, the tool
// results, the second question.
func checkPayloads(t *testing.T, agent, session string, exchanges []harness.Exchange) {
	t.Helper()
	prompt := exchanges[0].Body.Messages[0]
	if prompt.Role != "system" {
		t.Fatalf("the first message is from %q, want the system prompt", prompt.Role)
	}
	golden.Compare(t, "testdata/"+agent+".prompt.golden", timeless(prompt.Text()))
	for i, x := range exchanges {
		messages := x.Body.Messages
		if timeless(messages[0].Text()) != timeless(prompt.Text()) {
			t.Errorf("request %d has another system prompt:\n%s", i+1, messages[0].Text())
		}
		if got := x.Tools(); !slices.Equal(got, []string{"search", "action"}) {
			t.Errorf("request %d offers the tools %q, want those that the document declares", i+1, got)
		}
		if x.Body.Model != "gpt-4.1" {
			t.Errorf("request %d asks for model %q", i+1, x.Body.Model)
		}
		var all strings.Builder
		for _, m := range messages {
			all.WriteString(m.Text())
		}
		if sent := strings.Contains(all.String(), instruction); sent != (i < 2) {
			t.Errorf("request %d: the added instruction was sent: %t; it belongs to turn 1 only", i+1, sent)
		}
	}
	golden.Compare(t, "testdata/"+agent+".turn1.golden", outline(exchanges[1].Body.Messages[1:], nameOnly(session)))
	golden.Compare(t, "testdata/"+agent+".turn2.golden", outline(exchanges[2].Body.Messages[1:], nameOnly(session)))
}

// nameOnly shows what a message says; of the page that the search found its name
// only.
func nameOnly(session string) func(harness.ProviderMessage) string {
	return func(m harness.ProviderMessage) string {
		if m.ToolCallID == "call_look" {
			return fmt.Sprintf("(names the page: %t)", strings.Contains(m.Text(), `"sessions"`))
		}
		return strings.ReplaceAll(timeless(m.Text()), session, "<session>")
	}
}

// outline prints messages as a person reads them.
func outline(messages []harness.ProviderMessage, show func(harness.ProviderMessage) string) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s", m.Role)
		if m.ToolCallID != "" {
			fmt.Fprintf(&b, " answers %s", m.ToolCallID)
		}
		fmt.Fprintf(&b, ": %s\n", show(m))
		for _, call := range m.ToolCalls {
			fmt.Fprintf(&b, "  calls %s %s %s\n", call.ID, call.Function.Name, call.Function.Arguments)
		}
	}
	return b.String()
}

// checkRows reads the session back: the rows of both turns, in order, and no
// instruction among them.
func checkRows(t *testing.T, server *harness.Server, session string) {
	t.Helper()
	rows := server.Messages(t, session)
	var types []string
	for _, row := range rows {
		types = append(types, row.Type)
		if row.Content != nil && strings.Contains(*row.Content, instruction) {
			t.Errorf("the %s row holds the added instruction", row.Type)
		}
	}
	want := []string{"user", "tool_call", "tool_call", "tool_response", "tool_response", "observation", "assistant", "user", "assistant"}
	if !slices.Equal(types, want) {
		// Both calls run at once: their rows may also alternate.
		slices.Sort(types[1:min(5, len(types))])
		if !slices.Equal(types, want) {
			t.Errorf("rows %q, want %q", types, want)
		}
	}
}
