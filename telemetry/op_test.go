package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/testkit/observed"
	"github.com/p8-org/p8/telemetry"
)

// typed is an error with a type.
type typed string

func (e typed) Error() string     { return "the server says " + string(e) }
func (e typed) ErrorType() string { return string(e) }

func TestOperations(t *testing.T) {
	r := observed.New(t, telemetry.Options{Now: observed.Clock(time.Second)})
	ctx, run := telemetry.Start(r.Context(t), telemetry.Agent, "librarian")
	run.String(telemetry.AgentName, "librarian")
	run.String(telemetry.Conversation, "s1")

	_, chat := telemetry.Start(ctx, telemetry.Chat, "gpt-4.1")
	chat.String(telemetry.Provider, "openai")
	chat.String(telemetry.RequestModel, "gpt-4.1")
	chat.String(telemetry.ResponseID, "") // sets nothing
	chat.Chunk()
	chat.Chunk()
	chat.Chunk()
	chat.Used(telemetry.Usage{Input: 100, Output: 20, Cached: 64, USD: 0.5})
	chat.End(nil)

	_, tool := telemetry.Start(ctx, telemetry.Tool, "search")
	tool.String(telemetry.ToolName, "search")
	tool.String(telemetry.ToolCallID, "call_1")
	tool.End(fmt.Errorf("search: %w", typed("429")))

	run.Used(telemetry.Usage{Input: 100, Output: 20})
	run.End(nil)

	want := `invoke_agent librarian (internal) agent.name=librarian gen_ai.agent.name=librarian gen_ai.conversation.id=s1 gen_ai.operation.name=invoke_agent gen_ai.usage.input_tokens=100 gen_ai.usage.output_tokens=20 openinference.span.kind=AGENT session.id=s1
  chat gpt-4.1 (client) gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-4.1 gen_ai.response.time_to_first_chunk=1 gen_ai.usage.cache_read.input_tokens=64 gen_ai.usage.input_tokens=100 gen_ai.usage.output_tokens=20 llm.cost.total=0.5 llm.model_name=gpt-4.1 llm.provider=openai llm.token_count.completion=20 llm.token_count.prompt=100 llm.token_count.prompt_details.cache_read=64 llm.token_count.total=120 openinference.span.kind=LLM p8.cost.usd=0.5
  execute_tool search (internal) failed error.type=429 gen_ai.operation.name=execute_tool gen_ai.tool.call.id=call_1 gen_ai.tool.name=search openinference.span.kind=TOOL tool.id=call_1 tool.name=search
`
	if diff := cmp.Diff(want, r.Tree(nil)); diff != "" {
		t.Error(diff)
	}
	want = `gen_ai.client.operation.duration gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-4.1: 1
gen_ai.client.operation.time_per_output_chunk gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-4.1: 2
gen_ai.client.operation.time_to_first_chunk gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-4.1: 1
gen_ai.client.token.usage gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-4.1 gen_ai.token.type=input: 1, sum 100
gen_ai.client.token.usage gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-4.1 gen_ai.token.type=output: 1, sum 20
gen_ai.execute_tool.duration error.type=429 gen_ai.operation.name=execute_tool gen_ai.tool.name=search: 1
gen_ai.invoke_agent.duration gen_ai.agent.name=librarian gen_ai.operation.name=invoke_agent: 1
p8.cost gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-4.1: 0.5
`
	if diff := cmp.Diff(want, r.Metrics(t)); diff != "" {
		t.Error(diff)
	}
}

func TestTypesOfFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		fail   string
		kind   string
		failed bool
	}{
		{"none", nil, "", "", false},
		{"a stop is none", context.Canceled, "", "cancelled", false},
		{"time", fmt.Errorf("wait: %w", context.DeadlineExceeded), "", "timeout", true},
		{"one with a type", typed("rate_limit_exceeded"), "", "rate_limit_exceeded", true},
		{"any other", errors.New("disk full"), "", "_OTHER", true},
		{"one that the caller named", nil, "500", "500", true},
		{"the caller knows better", errors.New("x"), "500", "500", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := observed.New(t, telemetry.Options{})
			_, op := telemetry.Start(r.Context(t), telemetry.Job, "embed")
			if c.fail != "" {
				op.Fail(c.fail)
			}
			op.End(c.err)
			tree := r.Tree(func(key string) bool { return key == "error.type" })
			if strings.Contains(tree, " failed") != c.failed {
				t.Errorf("failed is not %v: %s", c.failed, tree)
			}
			if got := strings.Contains(tree, "error.type="+c.kind+"\n"); c.kind != "" && !got || c.kind == "" && strings.Contains(tree, "error.type") {
				t.Errorf("the type is not %q: %s", c.kind, tree)
			}
		})
	}
}

func TestContinue(t *testing.T) {
	r := observed.New(t, telemetry.Options{})
	ctx, queued := telemetry.Start(r.Context(t), telemetry.HTTPServer, "POST /query")
	parent := telemetry.Parent(ctx)
	trace, span := telemetry.IDs(ctx)
	queued.End(nil)
	if parent != "00-"+trace+"-"+span+"-01" {
		t.Errorf("Parent is %q in trace %s, span %s", parent, trace, span)
	}
	_, job := telemetry.Start(telemetry.ContinueParent(r.Context(t), parent), telemetry.Job, "embed")
	job.End(nil)
	if got, want := r.Tree(func(string) bool { return false }), "POST /query (server)\n  embed (consumer)\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, invalid := range []string{"", "00-0-0-01", strings.Repeat("x", 10_000)} {
		if got, _ := telemetry.IDs(telemetry.ContinueParent(r.Context(t), invalid)); got != "" {
			t.Errorf("%.20q continues trace %s", invalid, got)
		}
	}
}

// TestOff: without a Telemetry in the context nothing is recorded or allocated.
func TestOff(t *testing.T) {
	if none, err := telemetry.New(telemetry.Options{Content: true}); none != nil || err != nil {
		t.Errorf("New without providers is %v, %v", none, err)
	}
	ctx := telemetry.With(t.Context(), nil)
	if n := testing.AllocsPerRun(100, func() {
		ctx, op := telemetry.Start(ctx, telemetry.Chat, "model")
		op.String(telemetry.Provider, "openai")
		op.Int(telemetry.MaxTokens, 10)
		op.Strings(telemetry.FinishReasons, "stop")
		op.Chunk()
		op.Used(telemetry.Usage{Input: 1})
		if op.Content() || op.Recording() {
			t.Error("recording")
		}
		op.Rename("other")
		op.Fail("x")
		op.End(nil)
		telemetry.Propagate(ctx, nil)
		telemetry.Parent(ctx)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestHostileNames: ten thousand names of models are a hundred and other.
func TestHostileNames(t *testing.T) {
	r := observed.New(t, telemetry.Options{})
	for i := range 10_000 {
		_, op := telemetry.Start(r.Context(t), telemetry.Embeddings, "x")
		op.String(telemetry.Provider, "openai")
		op.String(telemetry.RequestModel, fmt.Sprintf("model %d", i))
		op.Used(telemetry.Usage{Input: 1, USD: 1})
		op.End(typed(fmt.Sprint(i)))
	}
	_, op := telemetry.Start(r.Context(t), telemetry.Tool, strings.Repeat("x", 10_000))
	op.String(telemetry.ToolName, strings.Repeat("x", 10_000))
	op.End(nil)
	got := r.Metrics(t)
	for metric, want := range map[string]int{"p8.cost ": 101, "gen_ai.client.token.usage ": 101, "gen_ai.client.operation.duration ": 101, "gen_ai.execute_tool.duration ": 1} {
		if n := strings.Count("\n"+got, "\n"+metric); n != want {
			t.Errorf("%s: %d series, want %d", metric, n, want)
		}
	}
	for _, has := range []string{"gen_ai.request.model=model 99:", "gen_ai.request.model=other: 9900", "gen_ai.tool.name=other: 1"} {
		if !strings.Contains(got, has) {
			t.Errorf("%q is not in the metrics", has)
		}
	}
	names := telemetry.NewNames(1, "own")
	for _, c := range [][2]string{{"a", "a"}, {"b", telemetry.Other}, {"own", "own"}, {"a", "a"}} {
		if got := names.Of(c[0]); got != c[1] {
			t.Errorf("%q is %q", c[0], got)
		}
	}
}

func TestLink(t *testing.T) {
	r := observed.New(t, telemetry.Options{})
	_, op := telemetry.Start(r.Context(t), telemetry.Evaluation, "x")
	op.Link("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
	op.Link("none", "00f067aa0ba902b7")
	op.Link("4bf92f3577b34da6a3ce929d0e0e4736", "")
	op.End(nil)
	links := r.Spans()[0].Links
	if len(links) != 1 || links[0].SpanContext.SpanID().String() != "00f067aa0ba902b7" || r.Spans()[0].Parent.IsValid() {
		t.Errorf("%+v", links)
	}
	var off *telemetry.Op
	off.Link("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
}
