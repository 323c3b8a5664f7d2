package run_test

import (
	"context"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

func benchmark(b *testing.B, turns []scripted.Turn, tools ...tool.Tool) {
	m := scripted.NewWith(scripted.Options{Repeat: true}, turns...)
	o := options(b, talker, m, tools...)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range run.Stream(b.Context(), o) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkTextRun(b *testing.B) {
	benchmark(b, []scripted.Turn{scripted.Text("Hello", " there")})
}

func BenchmarkOneToolRun(b *testing.B) {
	benchmark(b, []scripted.Turn{scripted.Call("echo", `{"text":"x"}`), scripted.Text("done")}, echo(b, "echo"))
}

// BenchmarkTextChunk shows what one more chunk of text costs.
func BenchmarkTextChunk(b *testing.B) {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = "chunk "
	}
	benchmark(b, []scripted.Turn{scripted.Text(texts...)})
}

// talkative is a turn of a thousand pieces of text.
func talkative() scripted.Turn {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = "chunk "
	}
	return scripted.Text(texts...)
}

// BenchmarkChildAlone and BenchmarkChildOfAParent show what it costs to pass on the
// text of a run below another one.
func BenchmarkChildAlone(b *testing.B) { benchmark(b, []scripted.Turn{talkative()}) }

func BenchmarkChildOfAParent(b *testing.B) {
	c := child(b, "child", scripted.NewWith(scripted.Options{Repeat: true}, talkative()))
	benchmark(b, []scripted.Turn{scripted.Call("ask_child", "{}"), scripted.Text("done")}, passOn{newDelegate(b, c)})
}

// passOn is a delegate that keeps nothing of what it passes on.
type passOn struct{ delegate }

func (p passOn) Stream(ctx context.Context, _ tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	for e, err := range run.Stream(ctx, p.options) {
		if err != nil || !emit(e) {
			return tool.Result{}, err
		}
	}
	return tool.Result{Content: "{}"}, nil
}

// BenchmarkOneToolRunKept shows what a journal costs.
func BenchmarkOneToolRunKept(b *testing.B) {
	m := scripted.NewWith(scripted.Options{Repeat: true}, scripted.Call("echo", `{"text":"x"}`), scripted.Text("done"))
	o := options(b, talker, m, echo(b, "echo"))
	o.Journal = forgetful{}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range run.Stream(b.Context(), o) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// forgetful is a journal that keeps nothing.
type forgetful struct{}

func (forgetful) Entries(string) []run.Entry                 { return nil }
func (forgetful) Commit(context.Context, ...run.Entry) error { return nil }
func (forgetful) Record(context.Context, run.Entry) error    { return nil }
func (forgetful) Answer(string) (tool.Answer, bool)          { return tool.Answer{}, false }
func (forgetful) Result(string, string) (tool.Result, bool)  { return tool.Result{}, false }
