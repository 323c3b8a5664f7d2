package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// drawTree makes a random tree; every text and every key in it is its own.
func drawTree(t *rapid.T, key string, depth int, kinds []string) *node {
	n := &node{key: key}
	texts := func(step int) (all []string) {
		for i := range rapid.IntRange(0, 3).Draw(t, "texts") {
			all = append(all, fmt.Sprintf("[%s.%d.%d]", key, step, i))
		}
		return all
	}
	steps := rapid.IntRange(0, 2).Draw(t, "steps")
	for s := range steps {
		step := treeStep{texts: texts(s)}
		for c := range rapid.IntRange(1, 3).Draw(t, "calls") {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			if kind == "mine" && depth > 0 || kind == "ask" && depth == 4 {
				kind = "work"
			}
			call := treeCall{tool: kind, key: fmt.Sprintf("%s-%d%d", key, s, c)}
			switch kind {
			case "work":
				if rapid.IntRange(0, 3).Draw(t, "fails") == 0 {
					call.key += "!"
				}
			case "ask":
				call.child = drawTree(t, call.key+"c", depth+1, kinds)
			default:
				call.decision = rapid.SampledFrom([]string{tool.Accepted, tool.Declined, tool.Expired}).Draw(t, "decision")
			}
			step.calls = append(step.calls, call)
		}
		n.steps = append(n.steps, step)
	}
	n.steps = append(n.steps, treeStep{texts: append(texts(steps), "["+key+".end]")})
	return n
}

var allKinds = []string{"work", "work", "ask", "ask", "guarded", "quest", "mine"}

// errCut says that the reader left.
var errCut = errors.New("cut")

// live runs a forest once, until it ends, or until the reader leaves after a number
// of events; below 0 it is interrupted after as many, at 0 nothing is done to it.
func (f *forest) live(ctx context.Context, parallel, cut int, each func(event.Event)) (*event.DoneData, error) {
	o := f.options(f.root)
	o.RunID, o.Journal, o.Parallel = "00000000-0000-0000-0000-000000000001", f.diary, parallel
	var done *event.DoneData
	n := 0
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	for e, err := range run.Stream(ctx, o) {
		if err != nil {
			return nil, err
		}
		f.diary.store(e)
		if d, ok := e.Data.(*event.ToolCallData); ok {
			f.mu.Lock()
			// A call that never executed is one of an answer that was cut.
			began := f.began[d.ID]
			f.began[d.ID] = began || d.Status == event.ToolExecuting
			f.ended[d.ID] = f.ended[d.ID] || began && d.Status != event.ToolStarted
			f.mu.Unlock()
		}
		each(e)
		if d, ok := e.Data.(*event.DoneData); ok && e.Agent == f.root.key {
			done = d
		}
		if n++; n == -cut {
			interrupt(fmt.Errorf("the server goes: %w", run.ErrInterrupted))
		}
		if n == cut {
			f.diary.crash()
			return nil, errCut
		}
	}
	return done, nil
}

// play lives as often as it takes: the reader leaves where cuts say, the user
// answers everything that is asked.
func (f *forest) play(parallel int, cuts []int) (events []event.Event, lives int) {
	type asked struct {
		id string
		c  treeCall
	}
	var open []asked
	var client []string
	for lives = 1; lives < 200; lives++ {
		cut := 0
		if len(cuts) > 0 {
			cut, cuts = cuts[0], cuts[1:]
		}
		done, err := f.live(context.Background(), parallel, cut, func(e event.Event) {
			events = append(events, e)
			switch d := e.Data.(type) {
			case *event.ActionRequestData:
				var in struct{ Key string }
				if json.Unmarshal(d.Arguments, &in) != nil || len(d.Card) == 0 {
					f.problem("asked %+v", d)
				}
				open = append(open, asked{d.RequestID, f.calls[in.Key]})
			case *event.ToolCallData:
				if d.Client && d.Status == event.ToolExecuting {
					client = append(client, d.ID)
				}
			}
		})
		switch {
		case errors.Is(err, errCut), errors.Is(err, run.ErrInterrupted):
			continue
		case err != nil:
			f.problem("the run failed: %v", err)
			return events, lives
		case done.Reason == event.ReasonStop:
			return events, lives
		case done.Reason == event.ReasonPaused && len(open) == 0, done.Reason == event.ReasonToolCalls && len(client) == 0:
			f.problem("it waits for nothing: %s", done.Reason)
			return events, lives
		case done.Reason == event.ReasonToolCalls && len(open) > 0:
			f.problem("it does not say that the user is asked")
		}
		for _, a := range open {
			f.diary.answers[a.id] = tool.Answer{Action: a.c.decision, Reason: "because"}
		}
		for _, id := range client {
			f.diary.results["/"+id] = tool.Result{Content: "of the client: " + id}
		}
		open, client = nil, nil
	}
	f.problem("it does not end")
	return events, lives
}

// check holds the whole record against the tree.
func (f *forest) check(t fataler, events []event.Event, exact bool) {
	t.Helper()
	begun, ends, children := map[string]int{}, map[string]int{}, map[string]int{}
	texts := map[string]string{}
	for _, e := range events {
		owner := e.Agent[strings.LastIndexByte(e.Agent, '/')+1:]
		switch d := e.Data.(type) {
		case *event.ToolCallData:
			if !strings.HasPrefix(d.ID, "id-"+owner+"-") {
				f.problem("%s is said to have called %s", e.Agent, d.ID)
			}
			switch d.Status {
			case event.ToolExecuting:
				begun[d.ID]++
			case event.ToolCompleted, event.ToolFailed:
				if !exact && begun[d.ID] == 0 {
					break // of an answer that was cut
				}
				if ends[d.ID]++; begun[d.ID] != 1 {
					f.problem("%s ended before it began", d.ID)
				}
			}
		case *event.ChildRunData:
			children[owner]++
		case nil:
			if !strings.HasPrefix(e.Text, "["+owner+".") && e.Type == event.Text {
				f.problem("%s is said to have said %s", e.Agent, e.Text)
			}
			texts[owner] += e.Text
		}
	}
	for key, c := range f.calls {
		id := "id-" + key
		if begun[id] != 1 || ends[id] != 1 {
			f.problem("%s began %d times and ended %d times", id, begun[id], ends[id])
		}
		if c.child != nil && children[c.child.key] != 1 {
			f.problem("%s began %d times", c.child.key, children[c.child.key])
		}
	}
	for key, n := range f.nodes {
		var all string
		for _, s := range n.steps {
			all += strings.Join(s.texts, "")
		}
		if exact && texts[key] != all {
			f.problem("%s said %s, want %s", key, texts[key], all)
		}
	}
	if len(f.problems) > 0 {
		t.Fatalf("%s", strings.Join(f.problems, "\n"))
	}
}

// usage is what the root says that it consumed.
func (f *forest) usage(events []event.Event) (u event.UsageData) {
	for _, e := range events {
		if d, ok := e.Data.(*event.UsageData); ok && e.Agent == f.root.key {
			u = *d
		}
	}
	return u
}

// TestTrees: every call of a random tree of agents ends once, nothing is lost, said
// twice or said by somebody else, through any number of pauses.
func TestTrees(t *testing.T) {
	a := compile(t, talker)
	rapid.Check(t, func(t *rapid.T) {
		f := newForest(a, drawTree(t, "r", 0, allKinds))
		events, _ := f.play(rapid.IntRange(1, 4).Draw(t, "parallel"), nil)
		f.check(t, events, true)
	})
}

// TestTakenUpAgain: a run that is cut anywhere, any number of times, and taken up
// again ends as one that was not: no call that ended is made again, and the
// conversations and what they cost are the same.
func TestTakenUpAgain(t *testing.T) {
	a := compile(t, talker)
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, "r", 0, allKinds)
		whole := newForest(a, tree)
		said, _ := whole.play(4, nil)
		whole.check(t, said, true)

		f := newForest(a, tree)
		cuts := rapid.SliceOfN(rapid.IntRange(1, len(said)), 1, 4).Draw(t, "cuts")
		events, _ := f.play(rapid.IntRange(1, 4).Draw(t, "parallel"), cuts)
		f.check(t, events, false)
		if !maps.Equal(f.requests, whole.requests) {
			t.Fatalf("the models were asked\n%q\nwant\n%q", f.requests, whole.requests)
		}
		if got, want := f.usage(events), whole.usage(said); got != want {
			t.Fatalf("it cost %+v, want %+v", got, want)
		}
	})
}

// TestInterruptedAnywhere: a run that is told to end, to be taken up again, leaves
// what was under way for then.
func TestInterruptedAnywhere(t *testing.T) {
	a := compile(t, talker)
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, "r", 0, allKinds)
		whole := newForest(a, tree)
		said, _ := whole.play(4, nil)

		f := newForest(a, tree)
		at := rapid.IntRange(1, len(said)).Draw(t, "at")
		events, _ := f.play(4, []int{-at})
		f.check(t, events, false)
		if !maps.Equal(f.requests, whole.requests) {
			t.Fatalf("the models were asked\n%q\nwant\n%q", f.requests, whole.requests)
		}
	})
}

// TestActsOnce: a tool that does not say that it may be called twice is not, however
// often the run is cut or interrupted, and resumed; a call that was under way still
// ends once. Only one that asks its user begins again with each answer.
func TestActsOnce(t *testing.T) {
	a := compile(t, talker)
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, "r", 0, allKinds)
		whole := newForest(a, tree)
		said, _ := whole.play(4, nil)

		f := newForest(a, tree)
		f.acts = true
		cuts := rapid.SliceOfN(rapid.IntRange(-len(said), len(said)), 1, 6).Draw(t, "cuts")
		events, _ := f.play(rapid.IntRange(1, 4).Draw(t, "parallel"), cuts)
		f.check(t, events, false)
		for key, n := range f.made {
			if kind := f.calls[key].tool; n > 1 && kind != "quest" && kind != "ask" {
				t.Fatalf("%s was called %d times", key, n)
			}
		}
	})
}

// fataler is a test, of rapid's or of package testing.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}
