package providers

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/anthropic"
	"github.com/p8-org/p8/llm/gemini"
	"github.com/p8-org/p8/llm/openai"
)

// sdkKey is the key in test/clients/vendors.mjs.
const sdkKey = "unused"

// vendor is a vendor whose SDK p8's client is compared with.
type vendor struct {
	name, model string
	connect     func(url, model string) (llm.Model, error)
	// recordings are answers, below llm.
	recordings []string
	// version is that of the API in the address, where it differs: the SDK's, p8's.
	version [2]string
	// headers are those that differ, likewise.
	headers map[string][2]string
	// alone are the fields of the body that one of the two sends alone.
	alone []string
}

func vendors() []vendor {
	chat := func(provider string) func(url, model string) (llm.Model, error) {
		return func(url, model string) (llm.Model, error) {
			return openai.New(openai.Options{Provider: provider, Model: model, BaseURL: url + "/v1", APIKey: sdkKey, MaxRetries: -1})
		}
	}
	return []vendor{{
		name: "openai", model: "gpt-5.1", connect: chat("openai"),
		recordings: []string{"openai/testdata/openai_text.txt", "openai/testdata/aimock_parallel_tools.txt"},
	}, {
		name: "openai-responses", model: "gpt-5.1", connect: chat("openai-responses"),
		recordings: []string{"openai/testdata/responses/text.txt", "openai/testdata/responses/reasoning_tools.txt"},
	}, {
		name: "anthropic", model: "claude-sonnet-4-6",
		connect: func(url, model string) (llm.Model, error) {
			return anthropic.New(anthropic.Options{Model: model, BaseURL: url, APIKey: sdkKey, MaxRetries: -1})
		},
		recordings: []string{"anthropic/testdata/text.txt", "anthropic/testdata/thinking_tool.txt", "anthropic/testdata/parallel_tools.txt"},
		// Since its first major version the SDK asks for the API without temperatures,
		// and sends the key as a bearer token. p8 asks for the one before it, as there are
		// models that have one, and by the name of the key that proxies know too. The API
		// takes either.
		headers: map[string][2]string{
			"Anthropic-Version": {"2026-10-21", "2023-06-01"},
			"Authorization":     {"Bearer " + sdkKey, ""},
			"X-Api-Key":         {"", sdkKey},
		},
		alone: []string{
			"temperature", // p8's, see above
		},
	}, {
		name: "gemini", model: "gemini-2.5-flash",
		connect: func(url, model string) (llm.Model, error) {
			return gemini.New(gemini.Options{Model: model, BaseURL: url, APIKey: sdkKey, MaxRetries: -1})
		},
		recordings: []string{"gemini/testdata/text_cached.txt", "gemini/testdata/calls_without_id.txt", "gemini/testdata/calls_parallel.txt"},
		// Since its third major version the SDK asks for v1. p8 asks for v1beta, where the
		// previews of models are too; a base URL that ends in /v1 makes it ask for that.
		version: [2]string{"/v1/", "/v1beta/"},
		alone: []string{
			"systemInstruction.role", // the SDK's, which says user; the API wants none
		},
	}}
}

// TestVendorsOwnClients: of one conversation p8 sends what the vendor's own SDK
// sends, and it reads the same in the same bytes.
func TestVendorsOwnClients(t *testing.T) {
	for _, v := range vendors() {
		for _, file := range v.recordings {
			t.Run(v.name+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				url, asked := replay(t, filepath.Join(harness.Root(t), "llm", filepath.FromSlash(file)))
				var theirs reading
				harness.Node(t, "vendors.mjs", map[string]string{"vendor": v.name, "url": url, "model": v.model}, &theirs)
				m, err := v.connect(url, v.model)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(theirs, read(t, m, comparison(t))); d != "" {
					t.Errorf("read (-SDK +p8):\n%s", d)
				}
				if len(asked) != 2 {
					t.Fatalf("%d requests", len(asked))
				}
				v.compare(t, <-asked, <-asked)
			})
		}
	}
}

// compare holds p8's request against the SDK's.
func (v *vendor) compare(t *testing.T, sdk, own request) {
	t.Helper()
	if want := strings.Replace(sdk.address, v.version[0], v.version[1], 1); own.address != want {
		t.Errorf("p8 asks at %s, want %s", own.address, want)
	}
	for _, name := range []string{"Content-Type", "Anthropic-Version", "Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		got := [2]string{sdk.header.Get(name), own.header.Get(name)}
		want, differs := v.headers[name]
		if !differs {
			want = [2]string{got[0], got[0]}
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, field := range v.alone {
		path := strings.Split(field, ".")
		if drop(sdk.body, path) == drop(own.body, path) {
			t.Errorf("%s is not sent by one side alone", field)
		}
	}
	if d := cmp.Diff(sdk.body, own.body); d != "" {
		t.Errorf("body (-SDK +p8):\n%s", d)
	}
}

// drop takes a field off a body and reports whether it was there.
func drop(body any, path []string) (found bool) {
	object, _ := body.(map[string]any)
	if len(path) > 1 {
		return drop(object[path[0]], path[1:])
	}
	_, found = object[path[0]]
	delete(object, path[0])
	return found
}

// request is a request to a server.
type request struct {
	address string
	header  http.Header
	body    any
}

// replay is a server that gives every request the recorded answer.
func replay(t *testing.T, file string) (url string, asked <-chan request) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	requests := make(chan request, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := request{address: r.Method + " " + r.URL.RequestURI(), header: r.Header}
		if err := json.NewDecoder(r.Body).Decode(&got.body); err != nil {
			t.Error(err)
		}
		requests <- got
		answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(archive.Files[0].Data)), r)
		if err != nil {
			t.Error(err)
			return
		}
		w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		_, _ = io.Copy(w, answer.Body)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, requests
}

// comparison is the conversation of test/clients/vendors.mjs.
func comparison(t *testing.T) *llm.Request {
	t.Helper()
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	quarter := 0.25
	return &llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Content: "You compare cities & say <little>."},
			{Role: llm.User, Content: "Wie warm ist es in Zürich, und wo ist das? 🌍", Parts: []llm.Part{{Kind: llm.Image, MediaType: "image/png", Data: png}}},
			{Role: llm.Assistant, Content: "Let me look.", ToolCalls: []llm.ToolCall{
				{ID: "call_a", Name: "weather", Arguments: `{"city":"Zürich","days":2}`},
				{ID: "call_b", Name: "find", Arguments: `{"query":"\"Zürich\"","near":[47.4,8.5]}`},
			}},
			{Role: llm.ToolRole, ToolCallID: "call_a", Name: "weather", Content: `{"degrees":4,"sky":"grey"}`},
			{Role: llm.ToolRole, ToolCallID: "call_b", Name: "find", Content: "Zürich is in Switzerland.\n"},
		},
		Tools: []llm.ToolSpec{
			{Name: "weather", Description: "Tells the weather.", Parameters: json.RawMessage(`{"type":"object",
				"properties":{"city":{"type":"string","description":"Its name"},"days":{"type":"integer","minimum":1}},"required":["city"]}`)},
			{Name: "find", Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},
				"near":{"type":"array","items":{"type":"number"}},"kind":{"type":"string","enum":["city","river"]}},
				"required":["query"],"additionalProperties":false}`)},
		},
		Settings: llm.Settings{Temperature: &quarter, MaxTokens: 300},
		CacheKey: "geographer",
	}
}

// reading is a client's reading of an answer.
type reading struct {
	Text      string     `json:"text"`
	ToolCalls []called   `json:"toolCalls"`
	Usage     readTokens `json:"usage"`
}

type called struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

type readTokens struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Cached    int `json:"cached"`
	Reasoning int `json:"reasoning"`
}

// read is the part that p8 reads.
func read(t *testing.T, m llm.Model, req *llm.Request) reading {
	t.Helper()
	r, arguments := reading{ToolCalls: []called{}}, []string{}
	for c, err := range m.Stream(t.Context(), req) {
		switch {
		case err != nil:
			t.Fatal(err)
		case c.Kind == llm.ChunkWarning:
			t.Errorf("a warning: %s", c.Text)
		case c.Kind == llm.ChunkText:
			r.Text += c.Text
		case c.Kind == llm.ChunkUsage:
			r.Usage = readTokens{Input: c.Usage.Input, Output: c.Usage.Output, Cached: c.Usage.Cached, Reasoning: c.Usage.Reasoning}
		case c.Kind == llm.ChunkToolCall && c.ID != "":
			r.ToolCalls, arguments = append(r.ToolCalls, called{Name: c.Name}), append(arguments, c.Text)
		case c.Kind == llm.ChunkToolCall:
			arguments[c.Call] += c.Text
		}
	}
	for i, text := range arguments {
		if err := json.Unmarshal([]byte(text), &r.ToolCalls[i].Arguments); err != nil {
			t.Errorf("the arguments %q: %v", text, err)
		}
	}
	return r
}
