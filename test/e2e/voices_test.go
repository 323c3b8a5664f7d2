package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/internal/testkit/screen"
)

// choir are the agents of TestVoices: two ask others, two are asked, one asks the user.
var choir = map[string]string{
	"crowd.yaml": "type: object\nname: crowd\ndescription: You are crowd.\ntools: [ask_agent]\n",
	"chain.yaml": "type: object\ndescription: You are chain.\njson_schema_extra: {name: chain, tools: [ask_agent]}\n",
	"left.yaml":  "type: object\nname: left\ndescription: You are left.\n",
	"right.yaml": "type: object\nname: right\ndescription: You are right.\n",
	"desk.yaml":  "type: object\nname: desk\ndescription: You are desk.\ntools: [action]\n",
}

// voice is the text of left and right, in pieces.
func voice(name string) []string {
	pieces := make([]string, 12)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("%s%d ", name, i)
	}
	return append(pieces, "and so on.")
}

func sing(x harness.Exchange) harness.Reply {
	prompt := x.Body.Messages[0].Text()
	_, answered := x.Question()
	ask := func(names ...string) (calls []harness.Call) {
		for _, name := range names {
			calls = append(calls, harness.Call{ID: "call_" + name, Name: "ask_agent", Arguments: `{"agent_name":"` + name + `","input_text":"Sing"}`})
		}
		return calls
	}
	says := func(name string) bool { return strings.Contains(prompt, "You are "+name) }
	switch {
	case says("left"), says("right"):
		name := "left"
		if says("right") {
			name = "right"
		}
		return harness.Reply{Text: voice(name), Pace: 2 * time.Millisecond}
	case says("crowd") && !answered:
		return harness.Reply{Text: []string{"Let them sing."}, Calls: ask("left", "right")}
	case says("crowd"):
		return harness.Reply{Text: []string{"They ", "sang."}}
	case says("chain") && !answered:
		return harness.Reply{Text: []string{"Let me ask."}, Calls: ask("left")}
	case says("chain"):
		return harness.Reply{Text: append(voice("left"), " And I add this.")}
	case says("desk") && len(x.Body.Messages) <= 3 && !answered:
		return harness.Reply{Text: []string{"Let me ask you."}, Calls: []harness.Call{{ID: "q", Name: "action",
			Arguments: `{"type":"elicit","payload":{"question":"Which shelf?","options":["north","south"]}}`}}}
	}
	return harness.Reply{Text: []string{"It is there."}}
}

// TestVoices: agents that speak side by side, and parents beside their children, are read
// whole, in every protocol, in p8 chat, in the stored answer, and in what the model is sent
// with the next turn.
func TestVoices(t *testing.T) {
	provider := harness.NewFake(t, sing)
	agents := t.TempDir()
	for name, text := range choir {
		if err := os.WriteFile(filepath.Join(agents, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := append(provider.Env(), "P8_SCHEMA_DIR="+agents, "P8_A2A_AGENTS=crowd,chain")
	server := harness.Serve(t, harness.Options{Env: env})
	left, right := strings.Join(voice("left"), ""), strings.Join(voice("right"), "")
	for agent, want := range map[string][]string{
		// Whichever of the two speaks first is first.
		"crowd": {"Let them sing.\n\n" + left + "\n\n" + right + "\n\nThey sang.", "Let them sing.\n\n" + right + "\n\n" + left + "\n\nThey sang."},
		"chain": {"Let me ask.\n\n" + left + "\n\nAnd I add this."},
	} {
		t.Run(agent, func(t *testing.T) {
			check := func(who, got string) {
				t.Helper()
				for _, w := range want {
					if strings.TrimSpace(got) == w {
						return
					}
				}
				t.Errorf("%s reads\n%q, want\n%q", who, got, want)
			}
			check("openai", server.Chat(t, harness.Ask{Agent: agent, Session: agent, Text: "Go"}).Text)
			rows := server.Messages(t, agent)
			row := *rows[len(rows)-1].Content
			check("the row", row)
			provider.Asked()
			server.Chat(t, harness.Ask{Agent: agent, Session: agent, Text: "And now?"})
			told := false
			for _, m := range provider.Asked()[0].Body.Messages {
				told = told || m.Role == "assistant" && m.Text() == row
			}
			if !told {
				t.Error("the model of the next turn is not sent the answer as it is stored")
			}
			_, body := harness.Curl(t, server.URL+"/v1/chat/completions", "-H", "Content-Type: application/json",
				"-d", `{"model":"`+agent+`","messages":[{"role":"user","content":"Go"}]}`)
			var whole struct {
				Choices []struct{ Message struct{ Content string } }
			}
			if err := json.Unmarshal([]byte(body), &whole); err != nil || len(whole.Choices) == 0 {
				t.Fatal(err, body)
			}
			check("openai, not streamed", whole.Choices[0].Message.Content)
			for _, protocol := range []string{screen.OpenAI, screen.Events, screen.AGUI, screen.AISDK} {
				check(protocol, shown(t, server, agent, protocol, left, right))
			}
			_, body = harness.Curl(t, server.URL+"/a2a/"+agent, "-H", "Content-Type: application/json", "-H", "A2A-Version: 1.0",
				"-d", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"Go"}]}}}`)
			var task struct {
				Result struct {
					Task struct {
						Artifacts []struct{ Parts []struct{ Text string } }
					}
				}
			}
			if err := json.Unmarshal([]byte(body), &task); err != nil || len(task.Result.Task.Artifacts) == 0 {
				t.Fatal(err, body)
			}
			check("a2a", task.Result.Task.Artifacts[0].Parts[0].Text)
			code, stdout, stderr := harness.Run(t, append(env, "P8_DATA_DIR="+t.TempDir()), "chat", "--agent", agent, "Go")
			if code != 0 {
				t.Error(stderr)
			}
			check("p8 chat", stdout)
		})
	}
}

// shown is what a client of a protocol has on its screen in the end. A client of the AI SDK
// has agents that were asked in the outputs of the calls, each whole; it is not told which
// of them spoke first.
func shown(t *testing.T, s *harness.Server, agent, protocol, left, right string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/chat/"+agent+"-"+protocol+"?protocol="+protocol,
		strings.NewReader(`{"messages":[{"id":"m","role":"user","content":"Go","parts":[{"type":"text","text":"Go"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Agent-Schema", agent)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var client screen.Screen
	outputs := map[string]bool{}
	for f, err := range harness.Frames(res.Body) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Data == "" {
			continue
		}
		if err := client.Frame(protocol, f.Data); err != nil {
			t.Error(err, f.Data)
		}
		var part struct{ Output struct{ Text string } }
		if json.Unmarshal([]byte(f.Data), &part) == nil {
			outputs[part.Output.Text] = true
		}
	}
	text := client.Text(protocol)
	if protocol != screen.AISDK || agent != "crowd" {
		return text
	}
	if !outputs[left] || !outputs[right] {
		t.Errorf("the outputs are %v", outputs)
	}
	return "Let them sing.\n\n" + left + "\n\n" + right + "\n\nThey sang."
}

// TestDialogue: a client that knows nothing but OpenAI reads a question with its options,
// and the user's next message answers it, with and without a session.
func TestDialogue(t *testing.T) {
	provider := harness.NewFake(t, sing)
	agents := t.TempDir()
	if err := os.WriteFile(filepath.Join(agents, "desk.yaml"), []byte(choir["desk.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	server := harness.Serve(t, harness.Options{Env: append(provider.Env(), "P8_SCHEMA_DIR="+agents)})
	const question = "Let me ask you.\n\nWhich shelf?\n\n1. north\n2. south"
	first := server.Chat(t, harness.Ask{Agent: "desk", Session: "d", Text: "Where is it?", Headers: map[string]string{"X-Event-Format": "none"}})
	if first.Text != question {
		t.Fatalf("the user reads %q, want %q", first.Text, question)
	}
	provider.Asked()
	second := server.Chat(t, harness.Ask{Agent: "desk", Session: "d", Text: "2", Headers: map[string]string{"X-Event-Format": "none"}})
	if second.Text != "It is there." {
		t.Errorf("the user reads %q", second.Text)
	}
	var sent []string
	for _, m := range provider.Asked()[0].Body.Messages {
		if m.Role == "user" || m.Role == "assistant" {
			sent = append(sent, m.Role+": "+m.Text())
		}
	}
	if got, want := strings.Join(sent, " | "), "user: Where is it? | assistant: "+question+" | user: 2"; got != want {
		t.Errorf("the model is sent %q, want %q", got, want)
	}
	var kinds []string
	for _, row := range server.Messages(t, "d") {
		kinds = append(kinds, row.Type)
	}
	if got := strings.Join(kinds, " "); got != "user tool_call tool_response assistant user assistant" {
		t.Errorf("the rows are %s", got)
	}
}

// TestDialogueOfFields: the fields that a question asks for are text over OpenAI, streamed
// and whole; a wrong answer is told, and a right one reaches the model.
func TestDialogueOfFields(t *testing.T) {
	provider := harness.NewFake(t, func(x harness.Exchange) harness.Reply {
		if text, answered := x.Question(); text == "A table" && !answered {
			return harness.Reply{Calls: []harness.Call{{ID: "q", Name: "action", Arguments: `{"type":"elicit","payload":{"question":"For how many?",` +
				`"schema":{"type":"object","properties":{"people":{"type":"integer"}},"required":["people"]}}}`}}}
		}
		return harness.Reply{Text: []string{"Booked."}}
	})
	agents := t.TempDir()
	if err := os.WriteFile(filepath.Join(agents, "desk.yaml"), []byte(choir["desk.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	server := harness.Serve(t, harness.Options{Env: append(provider.Env(), "P8_SCHEMA_DIR="+agents)})
	streamed := func(text string) string {
		return server.Chat(t, harness.Ask{Agent: "desk", Session: "streamed", Text: text, Headers: map[string]string{"X-Event-Format": "none"}}).Text
	}
	whole := func(text string) string {
		_, body := harness.Curl(t, server.URL+"/v1/chat/completions", "-H", "Content-Type: application/json", "-H", "X-Session-Id: whole",
			"-d", `{"model":"desk","messages":[{"role":"user","content":"`+text+`"}]}`)
		var answer struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Choices) != 1 {
			t.Fatal(err, body)
		}
		return answer.Choices[0].Message.Content
	}
	for name, say := range map[string]func(string) string{"streamed": streamed, "whole": whole} {
		for _, turn := range [][2]string{
			{"A table", "For how many?\n\n- people (whole number)"},
			{"a few", "This does not answer the question: people: got string, want integer."},
			{"2", "Booked."},
		} {
			if got := say(turn[0]); got != turn[1] {
				t.Errorf("%s: %s: the user reads %q, want %q", name, turn[0], got, turn[1])
			}
		}
	}
	if n := len(provider.Asked()); n != 4 {
		t.Errorf("the model was asked %d times, want 4", n)
	}
}
