package bench

import (
	"context"
	"iter"
	"log/slog"
	"testing"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
)

// childChunks is how many pieces of text an answer has here.
const childChunks = 200

// BenchmarkChild is a turn whose whole answer a delegated agent says, beside one in
// which the agent says it itself, with a model that takes its time for each piece
// (provider), and with one that takes none (memory). What a piece costs is ns/chunk;
// the turn around it is in both, and that of the child in one.
func BenchmarkChild(b *testing.B) {
	for _, pace := range []struct {
		name  string
		every time.Duration
	}{{"provider", time.Millisecond}, {"memory", 0}} {
		for _, delegated := range []bool{false, true} {
			name := "alone"
			if delegated {
				name = "child"
			}
			b.Run(pace.name+"/"+name, func(b *testing.B) {
				s := delegating(b, pace.every, delegated)
				var c client
				b.ReportAllocs()
				for b.Loop() {
					c.turn(b, s, ignore)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*childChunks), "ns/chunk")
			})
		}
	}
}

// delegating is a service whose agent answers by itself, or asks another one.
func delegating(tb testing.TB, every time.Duration, delegated bool) *chat.Service {
	tb.Helper()
	texts := make([]string, childChunks)
	for i := range texts {
		texts[i] = mark + "of the answer "
	}
	say := paced{scripted.NewWith(scripted.Options{Repeat: true}, scripted.Text(texts...)), every}
	var model llm.Model = say
	if delegated {
		model = scripted.NewWith(scripted.Options{Repeat: true},
			scripted.Call(chat.AskAgentName, `{"agent_name":"worker","input_text":"Say it."}`), scripted.Text(""))
	}
	agents := many{
		"bench":  compiled(tb, "name: bench\ntype: object\ndescription: Asks.\ntools: [{name: ask_agent}]\n"),
		"worker": compiled(tb, "name: worker\ntype: object\ndescription: Says it.\nmodel: bench:worker\n"),
	}
	var tools fixed
	s, err := chat.New(chat.Options{
		Catalog: agents, Models: byName{"bench:worker": say, "": model}, Tools: &tools,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	ask, err := s.AskAgent()
	if err != nil {
		tb.Fatal(err)
	}
	tools = fixed{ask}
	return s
}

func compiled(tb testing.TB, document string) *agent.Agent {
	tb.Helper()
	doc, err := agent.Parse("bench.yaml", []byte(document))
	if err != nil {
		tb.Fatal(err)
	}
	a, err := agent.Compile(doc)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// many holds agents by name; other names mean the first agent.
type many map[string]*agent.Agent

func (m many) Agent(_ context.Context, name string) (*agent.Agent, error) {
	if a := m[name]; a != nil {
		return a, nil
	}
	return m["bench"], nil
}

// byName are models; "" is for all other names.
type byName map[string]llm.Model

func (m byName) Resolve(name string) (llm.Model, error) {
	if model := m[name]; model != nil {
		return model, nil
	}
	return m[""], nil
}

// paced is a model that says a piece every so often, as a provider does.
type paced struct {
	llm.Model
	every time.Duration
}

func (p paced) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	if p.every == 0 {
		return p.Model.Stream(ctx, req)
	}
	return func(yield func(llm.Chunk, error) bool) {
		for c, err := range p.Model.Stream(ctx, req) {
			time.Sleep(p.every)
			if !yield(c, err) {
				return
			}
		}
	}
}
