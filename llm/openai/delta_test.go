package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
)

// plainChunk is a chunk as OpenAI sends hundreds of them.
func plainChunk(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"id":"chatcmpl-C8x","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_3502f4eb73","choices":[{"index":0,"delta":{"content":` + string(quoted) + `},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"Hx0"}`
}

func TestScanDelta(t *testing.T) {
	tests := []struct {
		data, text, reasoning string
		ok                    bool
	}{
		{plainChunk("Hi"), "Hi", "", true},
		{plainChunk("Grüße 👋\n\"x\"\\"), "Grüße 👋\n\"x\"\\", "", true},
		{`{"choices":[{"delta":{"content":"\ud83d\udc4b\u00e4\/\b"}}]}`, "👋ä/\b", "", true},
		{`{"choices":[{"delta":{"content":null,"reasoning_content":"hm","reasoning":"HM"}}]}`, "", "hm", true},
		{`{"choices":[{"delta":{"reasoning":"hm","reasoning_details":[{"a":[1,-2.5e3,true,false,{}]}]}}]}`, "", "hm", true},
		{` { "choices" : [ { "delta" : { } , "index" : 0 } ] , "usage" : null } `, "", "", true},

		// All of this is for encoding/json.
		{data: `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`},
		{data: `{"choices":[{"delta":{"tool_calls":[]}}]}`},
		{data: `{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":1}}`},
		{data: `{"choices":[{"delta":{"content":"x"}}],"error":{"message":"x"}}`},
		{data: `{"object":"error","choices":[{"delta":{"content":"x"}}]}`},
		{data: `{"choices":[{"index":1,"delta":{"content":"x"}}]}`},
		{data: `{"choices":[{"index":0.5,"delta":{"content":"x"}}]}`},
		{data: `{"choices":[{"delta":{"content":"x"}},{"delta":{"content":"y"}}]}`},
		{data: `{"choices":[{"delta":{"content":["x"]}}]}`},
		{data: `{"choices":[{"delta":{"Content":"x"}}]}`},
		{data: `{"choices":[{"delta":{"cont\u0065nt":"x"}}]}`},
		{data: `{"choices":[{"delta":{"content":"x","content":"y"}}]}`},
		{data: `{"choices":[{"delta":{"content":"\ud83d"}}]}`},
		{data: "{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}"},
		{data: `{"choices":[{"message":{"content":"x"}}]}`},
		{data: `{"choices":[]}`},
		{data: `{"choices":null}`},
		{data: `{}`},
		{data: `[DONE]`},
		{data: ``},
		{data: `{"choices":[{"delta":{"content":"x"}}]} {}`},
		{data: `{"choices":[{"delta":{"content":"x`},
		{data: `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `,"choices":[{"delta":{"content":"x"}}]}`},
	}
	var out wire.Texts
	for _, tt := range tests {
		text, reasoning, ok := scanDelta([]byte(tt.data), &out)
		if ok != tt.ok || ok && (text != tt.text || reasoning != tt.reasoning) {
			t.Errorf("%s\ngot %q, %q, %t; want %q, %q, %t", tt.data, text, reasoning, ok, tt.text, tt.reasoning, tt.ok)
		}
	}
}

// FuzzScanDelta holds the fast way and the full way to the same answer.
func FuzzScanDelta(f *testing.F) {
	f.Add([]byte(plainChunk("Hi")))
	f.Add([]byte(`{"choices":[{"index":0,"delta":{"content":"a\u00e4\n","reasoning":"b"},"finish_reason":null}],"usage":null}`))
	f.Add([]byte(`{"object":"x","choices":[{"delta":{"reasoning_content":"","reasoning":"b","refusal":null}}],"error":null,"z":[1,{"a":-1e9}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out wire.Texts
		text, reasoning, ok := scanDelta(data, &out)
		if !ok || !json.Valid(data) {
			return
		}
		var c wireChunk
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("the fast way takes %q, the full way does not: %v", data, err)
		}
		if c.failed() {
			t.Fatalf("the fast way takes the error %q", data)
		}
		var got []llm.Chunk
		r := reader{out: wire.NewSink(func(c llm.Chunk) { got = append(got, c) })}
		if err := r.chunk(&c); err != nil {
			t.Fatal(err)
		}
		var want []llm.Chunk
		r.out = wire.NewSink(func(c llm.Chunk) { want = append(want, c) })
		r.say(text, reasoning)
		if d := cmp.Diff(want, got); d != "" || r.finish != "" || r.usage != (llm.Usage{}) {
			t.Fatalf("%q: %s", data, d)
		}
	})
}

// recording is a stream of n text chunks, as bytes.
func recording(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "data: %s\n\n", plainChunk(""))
	for i := range n {
		fmt.Fprintf(&b, "data: %s\n\n", plainChunk(wiretest.Texts(i)))
	}
	b.WriteString(`data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n")
	b.WriteString(`data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":100}}` + "\n\n")
	b.WriteString("data: [DONE]\n\n")
	return b.Bytes()
}

func TestAllocations(t *testing.T) { wiretest.Allocations(t, new(reader), recording) }

func BenchmarkParse(b *testing.B) { wiretest.Benchmark(b, new(reader), recording) }
