package anthropic

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

// plainDelta is an event as the provider sends hundreds of them.
func plainDelta(kind, text string) string {
	quoted, _ := json.Marshal(text)
	return `{"type":"content_block_delta","index":0,"delta":{"type":"` + kind + `","` + fieldOf(kind) + `":` + string(quoted) + `}}`
}

func TestScanDelta(t *testing.T) {
	tests := []struct {
		data string
		want piece
		ok   bool
	}{
		{plainDelta(textDelta, "Hi"), piece{0, textDelta, "Hi"}, true},
		{plainDelta(thinkingDelta, "Grüße 👋\n\"x\"\\"), piece{0, thinkingDelta, "Grüße 👋\n\"x\"\\"}, true},
		{plainDelta(inputDelta, `{"a":`), piece{0, inputDelta, `{"a":`}, true},
		{` { "delta" : { "text" : "\ud83d\udc4b", "type" : "text_delta", "x": [1] } , "index" : 12, "p": "abc", "type" : "content_block_delta" } `, piece{12, textDelta, "👋"}, true},
		{data: `{"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"x"}}`},
		{data: `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}`},
		{data: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","thinking":"x"}}`},
		{data: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x","text":"y"}}`},
		{data: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x","thinking":"y"}}`},
		{data: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":["x"]}}`},
		{data: `{"type":"content_block_delta","index":0,"Delta":{"type":"text_delta","text":"x"}}`},
		{data: `{"type":"content_block_delta","index":0}`},
		{data: `{"type":"content_block_stop","index":0}`},
		{data: `{"type":"content_block_delta","error":{},"delta":{"type":"text_delta","text":"x"}}`},
		{data: `{"type":"ping"}`},
		{data: `{}`},
		{data: ``},
		{data: plainDelta(textDelta, "x") + "{}"},
	}
	var out wire.Texts
	for _, tt := range tests {
		got, ok := scanDelta([]byte(tt.data), &out)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s\ngot %+v, %t; want %+v, %t", tt.data, got, ok, tt.want, tt.ok)
		}
	}
}

// FuzzScanDelta holds the fast way and the full way to the same answer.
func FuzzScanDelta(f *testing.F) {
	for _, kind := range []string{textDelta, thinkingDelta, inputDelta} {
		f.Add([]byte(plainDelta(kind, "a\u00e4\n")))
	}
	f.Add([]byte(`{"delta":{"type":"text_delta","text":null},"index":1,"type":"content_block_delta","z":{"Type":1},"usage":3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out wire.Texts
		p, ok := scanDelta(data, &out)
		if !ok || !json.Valid(data) {
			return
		}
		var e wireEvent
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatalf("the fast way takes %q, the full way does not: %v", data, err)
		}
		if e.failed() {
			t.Fatalf("the fast way takes the error %q", data)
		}
		run := func(do func(*reader)) (got []llm.Chunk) {
			r := &reader{out: wire.NewSink(func(c llm.Chunk) { got = append(got, c) })}
			r.begin(0, &wireBlock{Type: "thinking"})
			r.begin(1, &wireBlock{Type: "tool_use", ID: "a", Name: "a"})
			do(r)
			return got
		}
		fast, full := run(func(r *reader) { r.delta(p) }), run(func(r *reader) { r.event(&e) })
		if d := cmp.Diff(full, fast); d != "" {
			t.Fatalf("%q: %s", data, d)
		}
	})
}

// recording makes streams of n pieces, as bytes, in a block that begins so.
func recording(kind, begin string) func(n int) []byte {
	return func(n int) []byte {
		var b bytes.Buffer
		fmt.Fprint(&b, `data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}`+"\n\n")
		fmt.Fprintf(&b, `data: {"type":"content_block_start","index":0,"content_block":%s}`+"\n\n", begin)
		for i := range n {
			fmt.Fprintf(&b, "event: content_block_delta\ndata: %s\n\n", plainDelta(kind, wiretest.Texts(i)))
		}
		fmt.Fprint(&b, `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":100}}`+"\n\n"+`data: {"type":"message_stop"}`+"\n\n")
		return b.Bytes()
	}
}

func TestAllocations(t *testing.T) {
	for kind, begin := range map[string]string{
		textDelta: `{"type":"text","text":""}`, thinkingDelta: `{"type":"thinking","thinking":""}`, inputDelta: `{"type":"tool_use","id":"a","name":"a","input":{}}`,
	} {
		t.Run(kind, func(t *testing.T) { wiretest.Allocations(t, new(reader), recording(kind, begin)) })
	}
}

// TestBounds: an answer of endless blocks is not read to its end.
func TestBounds(t *testing.T) {
	body := strings.Repeat(`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`+"\n\n", maxBlocks+1)
	var failed error
	wire.NewReplay(new(reader)).Decode(t.Context(), strings.NewReader(body), func(_ llm.Chunk, err error) bool {
		failed = err
		return true
	})
	if failed == nil {
		t.Error("it was read")
	}
}

func BenchmarkParse(b *testing.B) {
	wiretest.Benchmark(b, new(reader), recording(textDelta, `{"type":"text","text":""}`))
}
