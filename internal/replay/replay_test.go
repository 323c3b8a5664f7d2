package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/redact"
	"github.com/p8-org/p8/internal/replay"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/tool"
)

// record returns what a tape recorded after it went through YAML.
func record(t *testing.T, tape *replay.Tape) *replay.Cassette {
	t.Helper()
	text, err := tape.Cassette().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	c, err := replay.Unmarshal("case.yaml", text)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	again, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(again)); diff != "" {
		t.Errorf("written, read and written again:\n%s", diff)
	}
	return c
}

// model returns a model of a tape.
func model(t *testing.T, tape *replay.Tape, turns ...scripted.Turn) llm.Model {
	t.Helper()
	m, err := tape.Provider("openai", func(string) (llm.Model, error) {
		return scripted.NewWith(scripted.Options{Name: "openai:gpt", Capabilities: llm.Capabilities{NativeOutput: true, Takes: llm.TakesSeed}}, turns...), nil
	})("gpt")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(agent, prompt string, more ...llm.Message) *llm.Request {
	return &llm.Request{CacheKey: agent, Messages: append([]llm.Message{{Role: llm.System, Content: prompt}}, more...)}
}

func says(text string) llm.Message { return llm.Message{Role: llm.User, Content: text} }

// answer returns the chunks of an answer.
func answer(m llm.Model, req *llm.Request) (chunks []llm.Chunk, err error) {
	for c, e := range m.Stream(context.Background(), req) {
		if e != nil {
			return chunks, e
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

func text(chunks []llm.Chunk) string {
	var b strings.Builder
	for _, c := range chunks {
		if c.Kind == llm.ChunkText {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// TestAnswersArePlayed: every chunk of every kind comes back as it was, failures too.
func TestAnswersArePlayed(t *testing.T) {
	turns := []scripted.Turn{
		{
			First: scripted.Instead("openai:other", "it is late"), Reasoning: []string{"Let me ", "think."},
			Thoughts: []llm.Reasoning{{Provider: "anthropic", Text: "deep", Signature: "s1"}},
			Text:     []string{"Grüße ", "", "aus Oslo:\n", "- viele\n"},
			Calls:    []llm.ToolCall{{ID: "a", Name: "search", Arguments: `{"query":"x"}`}, {ID: "b", Name: "search", Arguments: "no JSON"}},
			Usage:    llm.Usage{Input: 10, Cached: 3, Output: 5, Reasoning: 2}, Finish: llm.FinishToolCalls,
		},
		{Text: []string{"half"}, Err: &llm.Error{Kind: llm.RateLimit, Model: "openai:gpt", Status: 429, Hint: "wait"}},
	}
	tape := replay.Record(replay.Options{})
	m := model(t, tape, turns...)
	requests := []*llm.Request{ask("a", "one", says("hi")), ask("a", "one", says("hi"), llm.Message{Role: llm.Assistant, Content: "x"}, says("again"))}
	var want [][]llm.Chunk
	var wantErr []string
	for _, r := range requests {
		chunks, err := answer(m, r)
		want, wantErr = append(want, chunks), append(wantErr, errText(err))
	}

	playing := replay.Play(record(t, tape), replay.Options{})
	m = model(t, playing)
	if c := m.Capabilities(); m.Name() != "openai:gpt" || !c.NativeOutput || c.Takes != llm.TakesSeed {
		t.Errorf("the model is %s with %+v", m.Name(), c)
	}
	for i, r := range requests {
		chunks, err := answer(m, r)
		// An empty chunk in a text is not worth a line in a file.
		if diff := cmp.Diff(filled(want[i]), filled(chunks)); diff != "" || errText(err) != wantErr[i] {
			t.Errorf("request %d: %s (error %v, want %s)", i, diff, err, wantErr[i])
		}
	}
	if drifts := playing.Drifts(); len(drifts) > 0 {
		t.Errorf("drifts: %+v", drifts)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func filled(chunks []llm.Chunk) []llm.Chunk {
	var out []llm.Chunk
	for _, c := range chunks {
		if c.Kind != llm.ChunkText || c.Text != "" {
			out = append(out, c)
		}
	}
	return out
}

// TestAnyOrder: requests and calls that were made at the same time are played in any order.
func TestAnyOrder(t *testing.T) {
	tape := replay.Record(replay.Options{})
	m := model(t, tape, scripted.Text("Oslo!"), scripted.Text("Bergen!"))
	for _, city := range []string{"Oslo", "Bergen"} {
		if _, err := answer(m, ask("child", "prompt", says(city))); err != nil {
			t.Fatal(err)
		}
	}
	c := record(t, tape)
	for range 3 {
		playing := replay.Play(c, replay.Options{})
		m := model(t, playing)
		var wait sync.WaitGroup
		for _, city := range []string{"Bergen", "Oslo"} {
			wait.Go(func() {
				chunks, err := answer(m, ask("child", "prompt", says(city)))
				if err != nil || text(chunks) != city+"!" {
					t.Errorf("%s is answered %q (%v)", city, text(chunks), err)
				}
			})
		}
		wait.Wait()
		if drifts := playing.Drifts(); len(drifts) > 0 {
			t.Errorf("drifts: %+v", drifts)
		}
	}
}

// TestSameMeaning: ids, times and the order of keys do not matter.
func TestSameMeaning(t *testing.T) {
	request := func(id, at, args string) *llm.Request {
		return &llm.Request{CacheKey: "a", Messages: []llm.Message{
			{Role: llm.System, Content: "Session " + id + "."},
			{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "get", Arguments: args}}},
			{Role: llm.ToolRole, ToolCallID: "c1", Content: `{"at":"` + at + `","id":"` + id + `"}`},
		}}
	}
	tape := replay.Record(replay.Options{})
	if _, err := answer(model(t, tape, scripted.Text("ok")), request("0190b3a4-7c1e-7000-8000-0123456789ab", "2026-01-02T03:04:05.123Z", `{"a":1,"b":2}`)); err != nil {
		t.Fatal(err)
	}
	playing := replay.Play(record(t, tape), replay.Options{})
	chunks, err := answer(model(t, playing), request("0190b3a4-7c1e-7000-8000-ffffffffffff", "2027-05-06T07:08:09Z", `{ "b": 2, "a": 1 }`))
	if drifts := playing.Drifts(); err != nil || text(chunks) != "ok" || len(drifts) > 0 {
		t.Errorf("%v, %q, drifts %+v", err, text(chunks), drifts)
	}
}

// TestDrift: a changed request gets the answer of the most similar one, and each difference
// is reported once.
func TestDrift(t *testing.T) {
	tools := []llm.ToolSpec{{Name: "get", Description: "Gets.", Parameters: json.RawMessage(`{"type":"object"}`)}}
	before := ask("a", "You are kind.\nBe short.", says("hi"))
	before.Tools = tools
	tape := replay.Record(replay.Options{})
	if _, err := answer(model(t, tape, scripted.Text("hello")), before); err != nil {
		t.Fatal(err)
	}
	c := record(t, tape)
	now := ask("a", "You are rude.\nBe short.", says("hi"))
	now.Tools = []llm.ToolSpec{{Name: "get", Description: "Gets.", Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}, {Name: "put"}}
	now.Settings.MaxTokens = 7

	playing := replay.Play(c, replay.Options{})
	chunks, err := answer(model(t, playing), now)
	if err != nil || text(chunks) != "hello" {
		t.Fatalf("%q (%v)", text(chunks), err)
	}
	want := []replay.Drift{{Who: "the agent a", Changes: []replay.Change{
		{What: "the prompt", Diff: "- You are kind.\n+ You are rude.\n  Be short.\n"},
		{What: "the tool get", Diff: "  Gets.\n  {\n+   \"properties\": {\n+     \"city\": {\n+       \"type\": \"string\"\n+     }\n+   },\n    \"type\": \"object\"\n  }\n"},
		{What: "a new tool, put", Diff: "+ \n"},
		{What: "the settings", Diff: "- {}\n+ {\n+   \"max_tokens\": 7\n+ }\n"},
	}}}
	if diff := cmp.Diff(want, playing.Drifts()); diff != "" {
		t.Error(diff)
	}

	accepted, err := playing.Accept()
	if err != nil {
		t.Fatal(err)
	}
	playing = replay.Play(accepted, replay.Options{})
	if chunks, err := answer(model(t, playing), now); err != nil || text(chunks) != "hello" || len(playing.Drifts()) > 0 {
		t.Errorf("accepted: %q (%v), drifts %+v", text(chunks), err, playing.Drifts())
	}
	if _, err := answer(model(t, playing), now); err == nil {
		t.Error("a request more than the recording has is answered")
	}
	if _, err := playing.Accept(); err == nil {
		t.Error("a request without an answer is accepted")
	}
}

// TestNotMade: what the recording has and nobody asked for is a drift.
func TestNotMade(t *testing.T) {
	tape := replay.Record(replay.Options{})
	if _, err := answer(model(t, tape, scripted.Text("hello")), ask("a", "p", says("hi"))); err != nil {
		t.Fatal(err)
	}
	drifts := replay.Play(record(t, tape), replay.Options{}).Drifts()
	if len(drifts) != 1 || drifts[0].Changes[0].What != "a recorded request that was not made" {
		t.Errorf("drifts: %+v", drifts)
	}
}

// servers has one MCP server.
type servers struct{ tools []tool.Tool }

func (servers) Names() []string { return []string{"weather"} }
func (s servers) Server(name string) tool.Server {
	if name != "weather" {
		return nil
	}
	return s
}
func (s servers) Tools(context.Context) ([]tool.Tool, error)      { return s.tools, nil }
func (servers) List(context.Context) ([]tool.ResourceInfo, error) { return nil, nil }
func (servers) Read(_ context.Context, uri string) ([]tool.Contents, error) {
	return []tool.Contents{{URI: uri, Text: "the page"}}, nil
}

// city is the argument of the tool.
type city struct {
	City string `json:"city"`
}

// TestCallsArePlayed: tools of MCP servers, with their specs and annotations, and resources
// are played without a server.
func TestCallsArePlayed(t *testing.T) {
	get, err := tool.New("get_weather", "The weather.", func(_ context.Context, in city) (any, error) {
		if in.City == "nowhere" {
			return nil, &tool.Error{Message: "there is no such city"}
		}
		return map[string]any{"city": in.City, "rain": true}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if get, err = tool.Annotate(get, tool.Annotations{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	spare, err := tool.New("spare", "Never used.", func(context.Context, city) (any, error) { return nil, errors.New("no") })
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	use := func(all tool.Servers) (out []string) {
		server := all.Server("weather")
		tools, err := server.Tools(ctx)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tools[0].Spec().Description, errText(tool.Validate(ctx, tools[0], json.RawMessage(`{"city":7}`))))
		if !tool.AnnotationsOf(tools[0]).ReadOnly {
			t.Error("the annotation is gone")
		}
		for _, args := range []string{`{"city":"Oslo"}`, `{"city":"nowhere"}`, `{"city":"Bergen"}`} {
			res, err := tools[0].Call(ctx, tool.Call{ID: "c", Name: "get_weather", Arguments: json.RawMessage(args)})
			out = append(out, res.Content, errText(err))
		}
		contents, err := server.Read(ctx, "wiki://page")
		return append(out, contents[0].Text, errText(err))
	}
	tape := replay.Record(replay.Options{})
	want := use(tape.Servers(servers{[]tool.Tool{get, spare}}))
	c := record(t, tape)
	if n := len(c.Servers[0].Tools); n != 1 {
		t.Errorf("%d tools are kept, want the one that was called", n)
	}
	playing := replay.Play(c, replay.Options{})
	if diff := cmp.Diff(want, use(playing.Servers(nil))); diff != "" || len(playing.Drifts()) > 0 {
		t.Errorf("%s drifts %+v", diff, playing.Drifts())
	}
	tools, err := playing.Servers(nil).Server("weather").Tools(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tools[0].Call(ctx, tool.Call{Arguments: json.RawMessage(`{"city":"Rome"}`)}); err == nil {
		t.Error("a call that was not recorded has a result")
	}
	if drifts := playing.Drifts(); len(drifts) != 1 || drifts[0].Who != "weather/get_weather" {
		t.Errorf("drifts: %+v", drifts)
	}
}

// TestNoSecretIsKept: everything that is recorded passes the cleaner, also what came in
// pieces.
func TestNoSecretIsKept(t *testing.T) {
	const secret = "sk-verysecret"
	clean := func(s string) string { return strings.ReplaceAll(s, secret, "[token]") }
	leak, err := tool.New("leak", "Says "+secret, func(context.Context, city) (any, error) {
		return map[string]any{"key": secret}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tape := replay.Record(replay.Options{Clean: clean})
	m := model(t, tape, scripted.Turn{
		Text: []string{"It is sk-very", "secret."}, Reasoning: []string{"Hm, sk-", "verysecret"}, Thoughts: []llm.Reasoning{{Provider: "p", Text: secret}},
		Calls: []llm.ToolCall{{ID: "c", Name: "leak", Arguments: `{"city":"` + secret + `"}`}},
	})
	req := ask("a", "The key is "+secret, says(secret), llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c", Name: "leak", Arguments: `{"city":"` + secret + `"}`}}},
		llm.Message{Role: llm.ToolRole, ToolCallID: "c", Content: `{"key":"` + secret + `"}`, Parts: []llm.Part{{Kind: llm.Image, URL: "https://example.com/?k=" + secret}}})
	req.Tools = []llm.ToolSpec{leak.Spec()}
	if _, err := answer(m, req); err != nil {
		t.Fatal(err)
	}
	server := tape.Servers(servers{[]tool.Tool{leak}}).Server("weather")
	tools, err := server.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tools[0].Call(t.Context(), tool.Call{Arguments: json.RawMessage(`{"city":"` + secret + `"}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(t.Context(), "wiki://"+secret); err != nil {
		t.Fatal(err)
	}
	c := tape.Cassette()
	c.At = time.Unix(0, 0).UTC()
	raw, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "verysecret") || strings.Contains(string(raw), "sk-very") {
		t.Errorf("the secret is kept:\n%s", raw)
	}
	playing := replay.Play(record(t, tape), replay.Options{Clean: clean})
	if _, err := answer(model(t, playing), req); err != nil || len(playing.Drifts()) > 2 {
		t.Errorf("%v, drifts %+v", err, playing.Drifts())
	}
}

// TestUnreadable: a file that is no recording is refused in words.
// TestNoSecretInJSONIsKept: a line break is \n in JSON, and does not join the secret behind it.
func TestNoSecretInJSONIsKept(t *testing.T) {
	r, err := redact.New(redact.Options{Patterns: []string{"all"}})
	if err != nil {
		t.Fatal(err)
	}
	key := "gh" + "p_" + strings.Repeat("a1", 20)
	found := map[string]any{"text": "x\n" + key, "inner": `{"api_key":"0123456789abcdef","text":"x\n` + key + `"}`, "api_key": "0123456789abcdef", "n": 4111111111111111}
	leak, err := tool.New("leak", "Leaks.", func(context.Context, city) (any, error) { return found, nil })
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	args := string(raw)
	tape := replay.Record(replay.Options{Clean: r.Text})
	m := model(t, tape, scripted.Turn{Text: []string{args[:20], args[20:]}, Calls: []llm.ToolCall{{ID: "c", Name: "leak", Arguments: args}}})
	req := ask("a", args, says(args), llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c", Name: "leak", Arguments: args}}},
		llm.Message{Role: llm.ToolRole, ToolCallID: "c", Content: args}, llm.Message{Role: llm.ToolRole, ToolCallID: "d", Content: args[:len(args)-1]})
	if _, err := answer(m, req); err != nil {
		t.Fatal(err)
	}
	tools, err := tape.Servers(servers{[]tool.Tool{leak}}).Server("weather").Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tools[0].Call(t.Context(), tool.Call{Arguments: json.RawMessage(`{"city":"x\n` + key + `"}`)}); err != nil {
		t.Fatal(err)
	}
	c := record(t, tape)
	kept, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{key, "0123456789abcdef", "4111111111111111"} {
		if strings.Contains(string(kept), secret) {
			t.Errorf("%s is kept:\n%s", secret, kept)
		}
	}
	if got, want := string(c.Calls[0].Result), `\"n\":\"[card]\"`; !strings.Contains(got, want) {
		t.Errorf("the result is %s, want %s in it", got, want)
	}
}

func TestUnreadable(t *testing.T) {
	for name, src := range map[string]string{
		"no YAML": "a: [", "a list": "- a\n- b\n", "a later request": "requests:\n  - follows: 2\n", "empty": "",
	} {
		if c, err := replay.Unmarshal("x.yaml", []byte(src)); err == nil || !strings.HasPrefix(err.Error(), "x.yaml:") {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

// FuzzUnmarshal: no text makes the reader panic, and what is read can be written.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte("requests:\n  - agent: a\n    messages: [{role: user, content: hi}]\n  - follows: 1\n    tools_of: 1\n    answer: [{text: hello, chunks: \"2 3\"}]\n"))
	f.Add([]byte("requests: [{follows: -1}]"))
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := replay.Unmarshal("x.yaml", src)
		if err != nil {
			return
		}
		if _, err := c.Marshal(); err != nil {
			t.Fatal(err)
		}
		m, err := replay.Play(c, replay.Options{}).Provider("p", nil)("m")
		if err != nil {
			t.Fatal(err)
		}
		for range c.Exchanges {
			_, _ = answer(m, ask("a", "p"))
		}
	})
}
