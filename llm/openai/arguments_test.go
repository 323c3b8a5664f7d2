package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
)

func pieceChunk(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"id":"chatcmpl-C8x","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4.1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":` + string(quoted) + `}}]},"logprobs":null,"finish_reason":null}],"usage":null}`
}

// FuzzScanArguments holds the fast way and the full way to the same answer, after the calls
// 0 and 3 have begun.
func FuzzScanArguments(f *testing.F) {
	for _, data := range []string{
		pieceChunk(`{"q":`), pieceChunk(""),
		`{"choices":[{"delta":{"content":"","tool_calls":[{"index":3,"id":"","type":"function","function":{"name":null,"arguments":"a\n"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":3,"id":"x","function":{"name":"y","arguments":"a"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":9,"function":{"arguments":"a"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":{"a":1}}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":null}},{"index":3,"function":{"arguments":"b"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"a"}}]},"finish_reason":"tool_calls"}]}`,
		`{"choices":[{"delta":{"content":"x","tool_calls":[{"index":0,"function":{"arguments":"a"}}]}}]}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var out wire.Texts
		index, text, ok := scanArguments(data, &out)
		if !ok || !json.Valid(data) {
			return
		}
		var c wireChunk
		if err := json.Unmarshal(data, &c); err != nil || c.failed() {
			t.Fatalf("the fast way takes %q, the full way does not: %v", data, err)
		}
		begun := func() ([]llm.Chunk, *reader) {
			return nil, &reader{calls: []call{{index: 0, id: "a", wireID: "a", name: "x"}, {index: 3, id: "b", wireID: "b", name: "y"}}}
		}
		want, full := begun()
		full.out = wire.NewSink(func(c llm.Chunk) { want = append(want, c) })
		if err := full.chunk(&c); err != nil {
			t.Fatal(err)
		}
		got, fast := begun()
		fast.out = wire.NewSink(func(c llm.Chunk) { got = append(got, c) })
		if !fast.more(index, text) {
			return // the full way handles it
		}
		if d := cmp.Diff(want, got); d != "" || full.finish != "" || full.usage != (llm.Usage{}) {
			t.Fatalf("%q: %s", data, d)
		}
	})
}

// TestArgumentsAreFast: a piece of arguments costs no more than a piece of text.
func TestArgumentsAreFast(t *testing.T) {
	wiretest.Allocations(t, new(reader), func(n int) []byte {
		var b bytes.Buffer
		b.WriteString(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":""}}]}}]}` + "\n\n")
		for i := range n {
			fmt.Fprintf(&b, "data: %s\n\n", pieceChunk(wiretest.Texts(i)))
		}
		b.WriteString("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
		return b.Bytes()
	})
	wiretest.Allocations(t, new(responsesReader), func(n int) []byte {
		var b bytes.Buffer
		b.WriteString(`data: {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"a","name":"x"}}` + "\n\n")
		for i := range n {
			quoted, _ := json.Marshal(wiretest.Texts(i))
			fmt.Fprintf(&b, `data: {"type":"response.function_call_arguments.delta","item_id":"fc","output_index":1,"delta":%s}`+"\n\n", quoted)
		}
		b.WriteString(`data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n")
		return b.Bytes()
	})
}
