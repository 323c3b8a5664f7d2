package run_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// pieces are the chunks of a call whose arguments come in pieces.
func pieces(index int, id string, texts ...string) []llm.Chunk {
	chunks := []llm.Chunk{{Kind: llm.ChunkToolCall, Call: index, ID: id, Name: "echo"}}
	for _, s := range texts {
		chunks = append(chunks, llm.Chunk{Kind: llm.ChunkToolCall, Call: index, Text: s})
	}
	return chunks
}

func TestArgumentsComeInPieces(t *testing.T) {
	long := strings.Repeat("x", tool.MaxArguments)
	for name, tt := range map[string]struct {
		pieces []string
		want   string // the pieces that are shown, and the arguments of the call
	}{
		"pieces":             {[]string{`{"te`, `xt":`, `"hi"}`}, `{"text":| "hi"}| = {"text":"hi"}`},
		"at once":            {[]string{`{"text":"hi"}`}, ` = {"text":"hi"}`},
		"blanks around":      {[]string{"", " \n", ` {"te`, `xt":"hi"}`, "\n"}, "{\"text\":\"hi\"}|\n| = {\"text\":\"hi\"}"},
		"a string to mend":   {[]string{`"{\"te`, `xt\":\"hi\"}`, `"`}, ` = {"text":"hi"}`},
		"nothing":            {[]string{"nu", "ll"}, ` = {}`},
		"broken":             {[]string{`{"te`, `xt":hi`, `}`}, `{"text":hi|}| = {}`},
		"not an object":      {[]string{`[1`, `,2]`}, ` = {}`},
		"more than is taken": {[]string{`{"text":"`, "a", long, `"}`}, `{"text":"a| = {}`},
	} {
		t.Run(name, func(t *testing.T) {
			model := scripted.New(scripted.Turn{Chunks: append(pieces(0, "a", tt.pieces...), llm.Chunk{Kind: llm.ChunkFinish, Finish: llm.FinishToolCalls})}, scripted.Text("done"))
			got := ""
			for e, err := range run.Stream(context.Background(), run.Options{Agent: compile(t, talker), Model: model, Tools: []tool.Tool{echo(t, "echo")}, Messages: hi()}) {
				if err != nil {
					t.Fatal(err)
				}
				switch d := e.Data.(type) {
				case *event.ToolArgumentsData:
					if d.ID != "a" || e.Type != event.ToolArguments {
						t.Errorf("%+v", e)
					}
					got += e.Text + "|"
				case *event.ToolCallData:
					if d.Status == event.ToolExecuting {
						got += " = " + string(d.Arguments)
					}
				}
			}
			if want := strings.Replace(tt.want, "| \"hi", "|\"hi", 1); got != want {
				t.Errorf("got  %.200s\nwant %s", got, want)
			}
		})
	}
}

// TestPiecesOfCallsSideBySide: pieces name their call; those above the limit of a step, which
// are not made, have none.
func TestPiecesOfCallsSideBySide(t *testing.T) {
	a, b, c := pieces(0, "a", `{"te`, `xt":"1"}`), pieces(1, "b", `{"te`, `xt":"2"}`), pieces(2, "c", `{"te`, `xt":"3"}`)
	chunks := slices.Concat(a[:2], b[:2], c[:2], a[2:], c[2:], b[2:], []llm.Chunk{{Kind: llm.ChunkFinish, Finish: llm.FinishToolCalls}})
	model := scripted.New(scripted.Turn{Chunks: chunks}, scripted.Text("done"))
	var got []string
	o := run.Options{Agent: compile(t, talker), Model: model, Tools: []tool.Tool{echo(t, "echo")}, Messages: hi(), StepToolCalls: 2}
	for e, err := range run.Stream(context.Background(), o) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.Data.(*event.ToolArgumentsData); ok {
			got = append(got, d.ID+" "+e.Text)
		}
	}
	if want := []string{`a {"text":"1"}`, `b {"text":"2"}`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func hi() []llm.Message { return []llm.Message{{Role: llm.User, Content: "hello"}} }

// theirs is a tool of the client.
type theirs struct{ tool.Tool }

func (theirs) RunsAtClient() {}

// unchecked is one whose arguments the client checks.
type unchecked struct{ theirs }

func (unchecked) ChecksItself() {}

// TestClientsTool: a call of the client's tool says so when it starts. Wrong arguments are the
// model's to see, unless the client checks them.
func TestClientsTool(t *testing.T) {
	for name, tt := range map[string]struct {
		tool tool.Tool
		want string
	}{
		"checked":   {theirs{echo(t, "echo")}, "started client, executing, failed, stop"},
		"unchecked": {unchecked{theirs{echo(t, "echo")}}, "started client, executing client, tool_calls"},
	} {
		model := scripted.New(scripted.Call("echo", `{"text":`), scripted.Text("done"))
		var got []string
		for e, err := range run.Stream(context.Background(), run.Options{Agent: compile(t, talker), Model: model, Tools: []tool.Tool{tt.tool}, Messages: hi()}) {
			if err != nil {
				t.Fatal(err)
			}
			switch d := e.Data.(type) {
			case *event.ToolCallData:
				status := string(d.Status)
				if d.Client {
					status += " client"
				}
				got = append(got, status)
			case *event.DoneData:
				got = append(got, d.Reason)
			}
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: %s, want %s", name, s, tt.want)
		}
	}
}
