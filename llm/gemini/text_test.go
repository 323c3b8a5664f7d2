package gemini

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

// plainAnswer is an answer as Google sends hundreds of them.
func plainAnswer(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"candidates": [{"content": {"parts": [{"text": ` + string(quoted) + `}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 9,"candidatesTokenCount": 12,"totalTokenCount": 87,"cachedContentTokenCount": 4,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 9}],"thoughtsTokenCount": 66},"modelVersion": "gemini-2.5-flash","responseId": "c2VjcmV0bGVzcw"}`
}

func TestScanText(t *testing.T) {
	usage := wireUsage{Prompt: 9, Cached: 4, Candidates: 12, Thoughts: 66}
	tests := []struct {
		data string
		want piece
		ok   bool
	}{
		{plainAnswer("Hi"), piece{text: "Hi", usage: usage, counted: true}, true},
		{plainAnswer("Grüße 👋\n\"x\"\\"), piece{text: "Grüße 👋\n\"x\"\\", usage: usage, counted: true}, true},
		{`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]}`, piece{text: "hm", thought: true}, true},
		{`{"candidates":[{"content":{"role":"model","parts":[{"thought":false,"text":null,"other":{"Text":1}}]},"safetyRatings":[]}]}`, piece{}, true},
		{`{"candidates":[{"content":{"parts":[{}]}}],"usageMetadata":{}}`, piece{counted: true}, true},

		// All of this is for encoding/json.
		{data: `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x","thoughtSignature":"s"}]}}]}`},
		{data: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"x"}}]}}]}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x"},{"text":"y"}]}}]}`},
		{data: `{"candidates":[{"content":{"parts":[]}}]}`},
		{data: `{"candidates":[{"content":{"parts":[{"Text":"x"}]}}]}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x","TEXT":"y"}]}}]}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x","text":"y"}]}}]}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x","thought":1}]}}]}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x"}]},"index":1}]}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x"}]}},{}]}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"candidates":[]}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":-1}}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":null}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usagemetadata":{}}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"error":{}}`},
		{data: `{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"promptFeedback":{}}`},
		{data: `{"candidates":[{}]}`},
		{data: `{"candidates":[]}`},
		{data: `{}`},
		{data: `[{}]`},
		{data: ``},
	}
	var out wire.Texts
	for _, tt := range tests {
		got, ok := scanText([]byte(tt.data), &out)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s\ngot %+v, %t; want %+v, %t", tt.data, got, ok, tt.want, tt.ok)
		}
	}
}

// FuzzScanText holds the fast way and the full way to the same answer.
func FuzzScanText(f *testing.F) {
	f.Add([]byte(plainAnswer("Hi")))
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"a\u00e4\n","thought":true}]}}],"usageMetadata":{"toolUsePromptTokenCount":3,"x":[1,{"a":-1e9}]}}`))
	f.Add([]byte(`{"z":null,"candidates":[{"index":0,"content":{"parts":[{"thought":false,"text":null}]}}],"usageMetadata":{"promptTokenCount":1,"promptTokenCount":2}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		decode := func(handle func(r *reader) error) (chunks []llm.Chunk, u llm.Usage, finish string) {
			r := reader{out: wire.NewSink(func(c llm.Chunk) { chunks = append(chunks, c) })}
			if err := handle(&r); err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			return chunks, r.usage, r.finish
		}
		var out wire.Texts
		if _, ok := scanText(data, &out); !ok || !json.Valid(data) {
			return
		}
		fast, fastUsage, _ := decode(func(r *reader) error { _, err := r.Event(data); return err })
		full, fullUsage, finish := decode(func(r *reader) error { return r.answer(data) })
		if d := cmp.Diff(full, fast); d != "" || finish != "" || fastUsage != fullUsage {
			t.Fatalf("%q: %s %v %v", data, d, fastUsage, fullUsage)
		}
	})
}

// recording is a stream of n answers of text, as bytes.
func recording(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "data: %s\r\n\r\n", plainAnswer(wiretest.Texts(i)))
	}
	fmt.Fprintf(&b, "data: %s\r\n\r\n", strings.Replace(plainAnswer(""), `"index": 0`, `"finishReason":"STOP","index": 0`, 1))
	return b.Bytes()
}

func TestAllocations(t *testing.T) { wiretest.Allocations(t, new(reader), recording) }

func BenchmarkParse(b *testing.B) { wiretest.Benchmark(b, new(reader), recording) }
