package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/offline"
)

var search = llm.ToolSpec{Name: "search", Parameters: json.RawMessage(`{"type":"object"}`)}

// step runs the model once.
func step(t testing.TB, m llm.Model, req *llm.Request) (text string, calls []llm.ToolCall, err error) {
	t.Helper()
	finish := llm.Finish("")
	for c, e := range m.Stream(t.Context(), req) {
		if e != nil {
			return text, calls, e
		}
		switch c.Kind {
		case llm.ChunkText:
			text += c.Text
		case llm.ChunkToolCall:
			calls = append(calls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Text})
		case llm.ChunkFinish:
			finish = c.Finish
		}
	}
	if want := map[bool]llm.Finish{true: llm.FinishToolCalls, false: llm.FinishStop}[len(calls) > 0]; finish != want {
		t.Errorf("finish %q, want %q", finish, want)
	}
	return text, calls, nil
}

// talk asks a question and answers the model's searches until it speaks. It
// returns the queries of each round and the answer.
func talk(t testing.TB, question string, find func(query string) string) (rounds [][]string, answer string) {
	t.Helper()
	return talkTo(t, "You search.", question, find)
}

// talkTo is talk to an agent with that prompt.
func talkTo(t testing.TB, prompt, question string, find func(query string) string) (rounds [][]string, answer string) {
	t.Helper()
	m := offline.New(offline.Options{})
	req := &llm.Request{Tools: []llm.ToolSpec{search}, Messages: []llm.Message{
		{Role: llm.System, Content: prompt}, {Role: llm.User, Content: question},
	}}
	for range 10 {
		text, calls, err := step(t, m, req)
		if err != nil {
			t.Fatal(err)
		}
		if len(calls) == 0 {
			return rounds, text
		}
		var queries []string
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, ToolCalls: calls})
		for _, c := range calls {
			var arguments struct{ Query string }
			if err := json.Unmarshal([]byte(c.Arguments), &arguments); err != nil || c.Name != "search" {
				t.Fatalf("call %+v: %v", c, err)
			}
			queries = append(queries, arguments.Query)
			req.Messages = append(req.Messages, llm.Message{Role: llm.ToolRole, ToolCallID: c.ID, Name: c.Name, Content: find(arguments.Query)})
		}
		rounds = append(rounds, queries)
	}
	t.Fatal("it never stops searching")
	return nil, ""
}

// library is a search tool over a few pages: LOOKUP gives them whole, FUZZY
// their keys and summaries.
type library map[string]string

func (l library) find(query string) string {
	verb, rest, _ := strings.Cut(query, " ")
	rows := []string{}
	for _, key := range slices.Sorted(func(yield func(string) bool) {
		for k := range l {
			if !yield(k) {
				return
			}
		}
	}) {
		content := l[key]
		summary, _, _ := strings.Cut(content, "\n\n")
		switch verb {
		case "LOOKUP":
			if names := strings.Split(strings.Trim(rest, "[]"), ", "); slices.Contains(names, key) {
				rows = append(rows, fmt.Sprintf(`{"key":%q,"entity_type":"resources","similarity_score":1,"data":{"content":%q}}`, key, content))
			}
		case "FUZZY":
			text := strings.Split(rest, `"`)[1]
			if strings.Contains(strings.ToLower(key+summary), text) {
				rows = append(rows, fmt.Sprintf(`{"key":%q,"entity_type":"resources","similarity_score":0.7,"summary":%q}`, key, summary))
			}
		}
	}
	return fmt.Sprintf(`{"status":"success","query_type":%q,"results":[%s],"count":%d}`, verb, strings.Join(rows, ","), len(rows))
}

var pages = library{
	"write-an-agent": "# Write an agent\n\nHow do I write an agent? Write a YAML document with a name:\n\n```yaml\nname: x\n\n# a comment\n```\n\n## Limits\n\nA limit ends a run.",
	"sessions":       "# Sessions\n\nTurns with the same id are one conversation.\n\n## What is stored\n\nEvery message is stored before the model is called.\n\n## Without storing\n\n`--no-store` keeps nothing.",
	"settings":       "# Settings\n\nAll settings.\n\n| Setting | Default |\n|---|---|\n| `P8_PORT` | `8000` |\n" + strings.Repeat("| `P8_OTHER` | nothing that anybody asks for |\n", 20),
}

func TestTalk(t *testing.T) {
	const end = "\n\nNo language model is configured. This is a quotation, not an answer. To get answers from one, set OPENAI_API_KEY, or start Ollama, or name a model in P8_DEFAULT_MODEL, such as openai:gpt-4.1."
	tests := []struct {
		question string
		rounds   [][]string
		answer   string
	}{
		{
			"How do I write an agent?",
			[][]string{{"LOOKUP [write-an-agent, write-agent]", `FUZZY "write agent" THRESHOLD 0.2 LIMIT 8`}},
			"This is what the knowledge base says:\n\n[write-an-agent]\n> How do I write an agent? Write a YAML document with a name:\n>\n> ```yaml\n> name: x\n>\n> # a comment\n> ```" + end,
		},
		{
			"what is stored in sessions, please",
			[][]string{
				{"LOOKUP [stored-in-sessions, stored-sessions]", `FUZZY "stored sessions" THRESHOLD 0.2 LIMIT 8`},
				{`FUZZY "sessions" THRESHOLD 0.2 LIMIT 8`, `FUZZY "stored" THRESHOLD 0.2 LIMIT 8`},
				{"LOOKUP sessions"},
			},
			"This is what the knowledge base says:\n\n[sessions] What is stored\n> Every message is stored before the model is called.\n\n[sessions] Without storing\n> `--no-store` keeps nothing." + end,
		},
		{
			"Which port, by settings?",
			[][]string{
				{"LOOKUP [port-by-settings, port-settings]", `FUZZY "port settings" THRESHOLD 0.2 LIMIT 8`},
				{`FUZZY "settings" THRESHOLD 0.2 LIMIT 8`, `FUZZY "port" THRESHOLD 0.2 LIMIT 8`},
				{"LOOKUP settings"},
			},
			"This is what the knowledge base says:\n\n[settings]\n> All settings.\n\n[settings]\n> | Setting | Default |\n> |---|---|\n> | `P8_PORT` | `8000` |" + end,
		},
		{
			"Who was Napoleon?",
			[][]string{{"LOOKUP napoleon", `FUZZY "napoleon" THRESHOLD 0.2 LIMIT 8`}},
			"I found nothing about \"napoleon\" in the knowledge base.\n\nNo language model is configured. All I can do is search and quote. To get answers from one, set OPENAI_API_KEY, or start Ollama, or name a model in P8_DEFAULT_MODEL, such as openai:gpt-4.1.",
		},
		{
			"Hello, how are you?",
			nil,
			"No language model is configured. All I can do is search the knowledge base for the words of a question and quote what I find. To get answers from one, set OPENAI_API_KEY, or start Ollama, or name a model in P8_DEFAULT_MODEL, such as openai:gpt-4.1.",
		},
		{
			"LOOKUP write-an-agent",
			[][]string{{"LOOKUP write-an-agent"}},
			"This is what the knowledge base says:\n\n[write-an-agent]\n> How do I write an agent? Write a YAML document with a name:\n>\n> ```yaml\n> name: x\n>\n> # a comment\n> ```" + end,
		},
	}
	for _, tt := range tests {
		t.Run(tt.question, func(t *testing.T) {
			rounds, answer := talk(t, tt.question, pages.find)
			if d := cmp.Diff(tt.rounds, rounds); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.answer, answer); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestFirstQueries: what a message asks of the search tool.
func TestFirstQueries(t *testing.T) {
	for question, want := range map[string][]string{
		"What does `P8_PORT` do?":                      {"LOOKUP [P8_PORT, p8-port]", `FUZZY "p8 port" THRESHOLD 0.2 LIMIT 8`},
		"tell me about sarah-chen":                     {"LOOKUP sarah-chen", `FUZZY "sarah chen" THRESHOLD 0.2 LIMIT 8`},
		`Where is "Quarterly Report"?`:                 {`LOOKUP ["Quarterly Report", quarterly-report]`, `FUZZY "quarterly report" THRESHOLD 0.2 LIMIT 8`},
		"who is alice@example.com?":                    {"LOOKUP [alice@example.com, alice-example-com]", `FUZZY "alice example com" THRESHOLD 0.2 LIMIT 8`},
		"see https://example.com/x":                    {"LOOKUP see-https-example-com-x", `FUZZY "see https example com x" THRESHOLD 0.2 LIMIT 8`},
		"Was ist eine Sitzung?":                        {"LOOKUP ist-eine-sitzung", `FUZZY "ist eine sitzung" THRESHOLD 0.2 LIMIT 8`},
		"don't say limit 10":                           {"LOOKUP dont-say-limit-10", `FUZZY "dont say limit 10" THRESHOLD 0.2 LIMIT 8`},
		"FUZZY sesions THRESHOLD 0.1":                  {"FUZZY sesions THRESHOLD 0.1"},
		"REM LOOKUP a, b":                              {"REM LOOKUP a, b"},
		"a [b] \"c,d\" `e`":                            {"LOOKUP b-c-d-e", `FUZZY "b c d e" THRESHOLD 0.2 LIMIT 8`},
		strings.Repeat("one two three four five ", 99): {"LOOKUP two-three-four-five", `FUZZY "two three four five" THRESHOLD 0.2 LIMIT 8`},
	} {
		var got []string
		rounds, _ := talk(t, question, func(string) string { return `{"status":"success","results":[]}` })
		if len(rounds) > 0 {
			got = rounds[0]
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%.40s: %s", question, d)
		}
	}
}

func TestResultsInOtherShapes(t *testing.T) {
	for content, want := range map[string]string{
		`{"status":"success","key":"a","found":true,"result":{"key":"plan","content":"The plan."}}`: "[plan]\n> The plan.",
		`{"result":[{"key":"plan","data":{"description":"The plan."}}]}`:                            "[plan]\n> The plan.",
		`{"results":[{"data":{"name":"plan","content":"The plan.","tags":{"odd":1},"summary":7}}]}`: "[plan]\n> The plan.",
		`{"results":[{"key":"plan","summary":"The plan."}]}`:                                        "[plan]\n> The plan.",
		`{"results":[{"key":"plan"},"odd",null,{"content":"no key"}]}`:                              "I found nothing about \"plan\"",
		`{"results":[],"count":0}`: "I found nothing about \"plan\"",
		`{}`:                       "I found nothing about \"plan\"",
		`{"status":"error","error":"nothing is stored in this configuration, so there is nothing to search"}`: "The search failed: nothing is stored in this configuration, so there is nothing to search\n\nNo language model",
		`the tool timed out`: "The search failed: it gave no reason.",
		`{"results":[{"key":"a","content":"First plan."},{"key":"b","entity_type":"schemas","content":"plan"}]}`: "[a]\n> First plan.",
	} {
		if _, answer := talk(t, "plan?", func(string) string { return content }); !strings.Contains(answer, want) {
			t.Errorf("%s\ngot %s", content, answer)
		}
	}
}

func TestWithoutSearch(t *testing.T) {
	m := offline.New(offline.Options{Notice: "ANTHROPIC_API_KEY is set, but this build has no client for it."})
	user := []llm.Message{{Role: llm.User, Content: "What is p8?"}}
	for name, req := range map[string]*llm.Request{
		"no tools":        {Messages: user},
		"another tool":    {Messages: user, Tools: []llm.ToolSpec{{Name: "action"}}},
		"no user message": {},
	} {
		text, calls, err := step(t, m, req)
		if err != nil || len(calls) > 0 || !strings.HasPrefix(text, "ANTHROPIC_API_KEY is set, but") || !strings.Contains(text, "no search tool") || !strings.Contains(text, "P8_DEFAULT_MODEL") {
			t.Errorf("%s: %q, %v, %v", name, text, calls, err)
		}
	}
	if _, calls, err := step(t, m, &llm.Request{Messages: user, Tools: []llm.ToolSpec{search}, ToolChoice: "none"}); err != nil || len(calls) > 0 {
		t.Errorf("tools are forbidden: %v, %v", calls, err)
	}
}

// TestRequiredCall: only the search tool can be called.
func TestRequiredCall(t *testing.T) {
	m := offline.New(offline.Options{})
	user := []llm.Message{{Role: llm.User, Content: "What is p8?"}}
	other := []llm.ToolSpec{search, {Name: "other"}}
	for _, name := range []string{"", "search"} {
		if _, calls, err := step(t, m, &llm.Request{Messages: user, Tools: other, ToolChoice: "required", ToolName: name}); err != nil || len(calls) == 0 {
			t.Errorf("%q: %v, %v", name, calls, err)
		}
	}
	for _, req := range []*llm.Request{{Tools: other, ToolName: "other"}, {Tools: other[1:]}} {
		req.Messages, req.ToolChoice = user, "required"
		var e *llm.Error
		if _, _, err := step(t, m, req); !errors.As(err, &e) || e.Kind != llm.NoModel || !strings.Contains(e.Error(), "a tool call that must be made needs one") {
			t.Errorf("%v", err)
		}
	}
}

func TestStructured(t *testing.T) {
	m := offline.New(offline.Options{})
	for name, req := range map[string]*llm.Request{
		"native": {Output: &llm.Output{Name: "answer"}},
		"tool":   {Tools: []llm.ToolSpec{search, {Name: "final_result"}}},
	} {
		_, _, err := step(t, m, req)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.NoModel || !strings.Contains(e.Error(), "no language model is configured: an answer that follows a schema needs one; set OPENAI_API_KEY") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStream(t *testing.T) {
	m := offline.New(offline.Options{})
	req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "What is p8?"}}}
	pieces, usage := 0, llm.Usage{}
	for c, err := range m.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind == llm.ChunkText {
			pieces++
		}
		if c.Kind == llm.ChunkUsage {
			usage = c.Usage
		}
	}
	if pieces < 3 || usage.Input != 3 || usage.Output < 20 {
		t.Errorf("%d pieces, %+v", pieces, usage)
	}
	for range m.Stream(t.Context(), req) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range m.Stream(ctx, req) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	if m.Name() != "offline:search" || m.Capabilities().NativeOutput {
		t.Error(m.Name(), m.Capabilities())
	}
}

// TestCallIDs: the same conversation gives the same ids, a longer one others.
func TestCallIDs(t *testing.T) {
	ids := func(messages ...llm.Message) string {
		_, calls, err := step(t, offline.New(offline.Options{}), &llm.Request{Messages: messages, Tools: []llm.ToolSpec{search}})
		if err != nil || len(calls) != 2 || calls[0].ID == calls[1].ID {
			t.Fatalf("%v, %v", calls, err)
		}
		return calls[0].ID
	}
	ask := llm.Message{Role: llm.User, Content: "what is a session?"}
	first, again, later := ids(ask), ids(ask), ids(ask, llm.Message{Role: llm.Assistant, Content: "x"}, ask)
	if first != again || first == later {
		t.Errorf("%s, %s, %s", first, again, later)
	}
}

// FuzzTalk: whatever is asked and found, it comes to an end and stays short.
func FuzzTalk(f *testing.F) {
	f.Add("How do I write an agent?", pages.find("LOOKUP write-an-agent"))
	f.Add("LOOKUP x", `{"results":[{"key":"x","data":{"content":"`+strings.Repeat("word ", 999)+"\\n\\n```\\n| a |\\n"+`"}}]}`)
	f.Add("LOOKUP \x8e", `{"results":[]}`)
	f.Add("`a\"b` [", `{"results":[{"key":"| x","summary":"|"},{"key":"y","content":"#\n|\n:"}]}`)
	f.Fuzz(func(t *testing.T, question, found string) {
		rounds, answer := talk(t, question, func(string) string { return found })
		if len(rounds) > 4 || answer == "" || utf8.RuneCountInString(answer) > 4000 {
			t.Errorf("%d rounds, %d characters", len(rounds), len(answer))
		}
	})
}

func ExampleModel() {
	model := offline.New(offline.Options{})
	request := &llm.Request{
		Tools:    []llm.ToolSpec{{Name: "search"}},
		Messages: []llm.Message{{Role: llm.User, Content: "What is a session?"}},
	}
	for chunk, err := range model.Stream(context.Background(), request) {
		if err != nil || chunk.Kind != llm.ChunkToolCall {
			continue
		}
		fmt.Println(chunk.Name, chunk.Text)
	}
	// Output:
	// search {"query":"LOOKUP session"}
	// search {"query":"FUZZY \"session\" THRESHOLD 0.2 LIMIT 8"}
}
