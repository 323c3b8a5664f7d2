package wiretest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
)

// listener hears what a test complains of.
type listener struct {
	testing.TB
	heard []string
}

func (*listener) Helper() {}

func (l *listener) Error(args ...any) { l.heard = append(l.heard, fmt.Sprint(args...)) }

func (l *listener) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

// TestOrder: a kit that complains of nothing would pass every provider.
func TestOrder(t *testing.T) {
	text := llm.Chunk{Kind: llm.ChunkText, Text: "Hi"}
	call := llm.Chunk{Kind: llm.ChunkToolCall, ID: "a", Name: "a"}
	end := func(why llm.Finish) llm.Chunk { return llm.Chunk{Kind: llm.ChunkFinish, Finish: why} }
	cut := errors.New("cut")
	for _, tt := range []struct {
		name   string
		chunks []llm.Chunk
		err    error
		want   string // a part of the complaint
	}{
		{"an answer", []llm.Chunk{text, {Kind: llm.ChunkUsage}, end(llm.FinishStop)}, nil, ""},
		{"a call in pieces", []llm.Chunk{call, {Kind: llm.ChunkToolCall, Text: "{}"}, end(llm.FinishToolCalls)}, nil, ""},
		{"cut", []llm.Chunk{text}, cut, ""},
		{"no end", []llm.Chunk{text}, nil, "ends without a finish"},
		{"nothing", nil, nil, "ends without a finish"},
		{"more than the end", []llm.Chunk{end(llm.FinishStop), text}, cut, "finishes too early"},
		{"an end and an error", []llm.Chunk{end(llm.FinishStop)}, cut, "finishes too early"},
		{"an empty text", []llm.Chunk{{Kind: llm.ChunkText}, end(llm.FinishStop)}, nil, "is empty"},
		{"one id twice", []llm.Chunk{call, call, end(llm.FinishToolCalls)}, nil, "begins a call badly"},
		{"a piece of no call", []llm.Chunk{{Kind: llm.ChunkToolCall, Text: "{}"}, end(llm.FinishStop)}, nil, "continues no call"},
		{"calls and another end", []llm.Chunk{call, end(llm.FinishStop)}, nil, "finish stop with 1 calls"},
		{"less than nothing", []llm.Chunk{{Kind: llm.ChunkUsage, Usage: llm.Usage{Input: -1}}, end(llm.FinishStop)}, nil, "pays back"},
		{"no kind", []llm.Chunk{{}, end(llm.FinishStop)}, nil, "has no kind"},
	} {
		l := &listener{TB: t}
		Provider{}.checkOrder(l, tt.chunks, tt.err)
		if got := strings.Join(l.heard, "; "); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: heard %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestOutcome(t *testing.T) {
	got := Outcome([]llm.Chunk{{Kind: llm.ChunkReasoning, Text: "Hm."}, {Kind: llm.ChunkText, Text: "Hi"}}, &llm.Error{Kind: llm.Timeout})
	if want := "Hi " + string(llm.Timeout); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
