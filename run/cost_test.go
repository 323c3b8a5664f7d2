package run_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// price is a dollar for a token of scripted:test, ten for one of another model;
// what is kept for later costs a dollar more.
func price(model string, u llm.Usage) float64 {
	each := 1.0
	if model != "scripted:test" {
		each = 10
	}
	return each*float64(u.Input+u.Output) + float64(u.CacheWrite)
}

// costs are those of every run of the tree, by its path.
func costs(t *testing.T, o run.Options) (map[string]float64, error) {
	t.Helper()
	all := map[string]float64{}
	for e, err := range run.Stream(t.Context(), o) {
		if err != nil {
			return all, err
		}
		if u, ok := e.Data.(*event.UsageData); ok {
			all[e.Agent] = u.CostUSD
		}
	}
	return all, nil
}

func TestCost(t *testing.T) {
	said := llm.Usage{Input: 3, Output: 2, CacheWrite: 1}
	text := scripted.Turn{Text: []string{"hello"}, Usage: said}
	spender, err := tool.New("spend", "Spends.", func(context.Context, struct{}) (any, error) {
		return tool.Result{Content: "ok", Usage: event.UsageData{CostUSD: 100}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		turns []scripted.Turn
		cost  float64
	}{
		{"one answer", []scripted.Turn{text}, 6},
		{"another model's", []scripted.Turn{first(text, scripted.Instead("scripted:b", "busy")...)}, 51},
		{"estimated", []scripted.Turn{scripted.Text("four", "four")}, 3 + 2 + 2}, // "You talk.", "hello", the answer
		{"a tool's own", []scripted.Turn{{Calls: []llm.ToolCall{{Name: "spend"}}, Usage: said}, text}, 112},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := options(t, talker, scripted.New(tc.turns...), spender)
			o.Cost = price
			got, err := costs(t, o)
			if err != nil || math.Abs(got["talker"]-tc.cost) > 1e-9 {
				t.Errorf("it cost %v, %v; want %v", got, err, tc.cost)
			}
		})
	}
}

func TestCostOfATree(t *testing.T) {
	turn := func(t scripted.Turn) scripted.Turn { t.Usage = llm.Usage{Input: 1}; return t }
	c := child(t, "child", scripted.New(turn(scripted.Text("hi"))))
	// It has no prices of its own, as what a tool starts may not: the caller's hold.
	m := scripted.New(turn(scripted.Call("ask_child", "{}")), turn(scripted.Text("ok")))
	o := options(t, talker, m, newDelegate(t, c))
	o.Cost = price
	got, err := costs(t, o)
	if err != nil || got["talker/child"] != 1 || got["talker"] != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestBrokenAnswersCost: what was written before the stream broke is paid for.
func TestBrokenAnswersCost(t *testing.T) {
	down := &llm.Error{Kind: llm.Unavailable, Model: "scripted:test"}
	o := options(t, talker, scripted.New(scripted.Turn{Text: []string{"four"}, Err: down}))
	o.Cost = price
	got, err := costs(t, o)
	if !errors.Is(err, down) || got["talker"] != 3+2+1 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestBrokenAnswersAreEstimated: a provider that counts what it wrote at the end
// has counted next to nothing of an answer that was cut.
func TestBrokenAnswersAreEstimated(t *testing.T) {
	down := &llm.Error{Kind: llm.Unavailable, Model: "scripted:test"}
	begun := llm.Chunk{Kind: llm.ChunkUsage, Usage: llm.Usage{Input: 7, Output: 1}}
	o := options(t, talker, scripted.New(scripted.Turn{Text: []string{"sixteen letters!"}, Chunks: []llm.Chunk{begun}, Err: down}))
	o.Cost = price
	got, err := costs(t, o)
	if !errors.Is(err, down) || got["talker"] != 7+4 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestStoppedAtTheEndCosts: an answer that was whole when the run was stopped is
// paid for.
func TestStoppedAtTheEndCosts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := options(t, talker, scripted.New(scripted.Turn{Text: []string{"hello"}, Usage: llm.Usage{Input: 3, Output: 2}}))
	o.Model = stopsAfter{o.Model, cancel}
	o.Cost = price
	cost := 0.0
	for e, err := range run.Stream(ctx, o) {
		if u, ok := e.Data.(*event.UsageData); ok {
			cost = u.CostUSD
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if cost != 5 {
		t.Errorf("it cost %v", cost)
	}
}

// stopsAfter stops the run when its model has said everything.
type stopsAfter struct {
	llm.Model
	stop context.CancelFunc
}

func (m stopsAfter) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		m.Model.Stream(ctx, req)(yield)
		m.stop()
	}
}
