package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// spoken is what a run showed: the text of each agent in turn.
func spoken(t *testing.T, o run.Options) string {
	t.Helper()
	var all []string
	for e, err := range run.Stream(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := o.Journal.(*diary); ok {
			d.store(e)
		}
		if e.Type == event.Text {
			all = append(all, e.Agent+": "+e.Text)
		}
	}
	return strings.Join(all, "\n")
}

const replacing = "name: talker\ndescription: You talk.\nchild_text: replace\nlimits: {request_limit: 9}\n"

var once = strings.Replace(replacing, "replace", "once", 1)

func TestChildText(t *testing.T) {
	ask := func(name string) llm.ToolCall { return llm.ToolCall{Name: "ask_" + name, Arguments: "{}"} }
	for _, tc := range []struct {
		name, doc string
		turns     []scripted.Turn
		want      string
	}{
		{"replace", replacing, []scripted.Turn{
			{Text: []string{"I ask"}, Calls: []llm.ToolCall{ask("child")}}, scripted.Text("it ", "said hi"),
		}, "talker: I ask\ntalker/child: hi"},
		{"keep", strings.Replace(replacing, "replace", "keep", 1), []scripted.Turn{
			{Calls: []llm.ToolCall{ask("child")}}, scripted.Text("it said hi"),
		}, "talker/child: hi\ntalker: it said hi"},
		{"another call", replacing, []scripted.Turn{
			{Calls: []llm.ToolCall{ask("child")}},
			{Text: []string{"now I look"}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"x"}`}}},
			scripted.Text("it is x"),
		}, "talker/child: hi\ntalker: it is x"},
		{"in one step", replacing, []scripted.Turn{
			{Calls: []llm.ToolCall{ask("child"), {Name: "echo", Arguments: `{"text":"x"}`}}}, scripted.Text("both"),
		}, "talker/child: hi"},
		{"a child that says nothing", replacing, []scripted.Turn{
			{Calls: []llm.ToolCall{ask("mute")}}, scripted.Text("it is mute"),
		}, "talker: it is mute"},
		{"a child that fails", replacing, []scripted.Turn{
			{Calls: []llm.ToolCall{ask("broken")}}, scripted.Text("it broke"),
		}, "talker/broken: I am\ntalker: it broke"},
		{"once", once, []scripted.Turn{
			{Text: []string{"I ask"}, Calls: []llm.ToolCall{ask("guide")}}, scripted.Text("The guide said: ", "It was", " Guido. It was **guido", "**!\n\nIn 1991. ", "Yes."),
		}, "talker: I ask\ntalker/guide: I'll look that up. It was Guido.\ntalker: The guide said: It was Guido. \ntalker: In 1991. \ntalker: Yes."},
		{"once, nothing new", once, []scripted.Turn{
			{Calls: []llm.ToolCall{ask("guide")}}, scripted.Text("It was ", "Guido."),
		}, "talker/guide: I'll look that up. It was Guido."},
		{"once, after another call", once, []scripted.Turn{
			{Calls: []llm.ToolCall{ask("guide")}},
			{Text: []string{"It was Guido.", " Let me check"}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"x"}`}}},
			scripted.Text("It was Guido. Surely."),
		}, "talker/guide: I'll look that up. It was Guido.\ntalker: Let me check\ntalker: Surely."},
		{"once, an agent that only promises", once, []scripted.Turn{
			{Calls: []llm.ToolCall{ask("child")}}, scripted.Text("It was Guido."),
		}, "talker/child: hi\ntalker: It was Guido."},
		{"deep", replacing, []scripted.Turn{
			{Calls: []llm.ToolCall{ask("middle")}}, scripted.Text("top"),
		}, "talker/middle/child: hi"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := func() tool.Tool { return newDelegate(t, child(t, "child", scripted.New(scripted.Text("hi")))) }
			middle := child(t, "middle", scripted.New(scripted.Call("ask_child", "{}"), scripted.Text("mid")), c())
			middle.Agent = compile(t, strings.Replace(replacing, "talker", "middle", 1))
			m := scripted.New(tc.turns...)
			answered := ""
			o := options(t, tc.doc, m, c(), newDelegate(t, middle), echo(t, "echo"),
				newDelegate(t, child(t, "mute", scripted.New(scripted.Text("")))),
				newDelegate(t, child(t, "broken", scripted.New(scripted.Turn{Text: []string{"I am"}, Err: errors.New("gone")}))))
			o.Tools = append(o.Tools, newDelegate(t, child(t, "guide", scripted.New(scripted.Text("I'll look that up. It was Guido.")))))
			o.Answered = func(text string) { answered = text }
			if got := spoken(t, o); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
			if said := strings.Join(tc.turns[len(tc.turns)-1].Text, ""); answered != said {
				t.Errorf("the answer is %q, want %q", answered, said)
			}
		})
	}
}

// TestChildTextAfterAPause: who has spoken is known when the run goes on.
func TestChildTextAfterAPause(t *testing.T) {
	c := child(t, "child", scripted.New(scripted.Text("hi")))
	m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{
		{ID: "a", Name: "ask_child", Arguments: "{}"}, {ID: "b", Name: "echo", Arguments: `{"text":"x"}`},
	}}, scripted.Text("it said hi"))
	o := options(t, replacing, m, newDelegate(t, c), careful{echo(t, "echo")})
	d := newDiary()
	o.Journal = d
	q := tell(t, t.Context(), o).requests[0]
	d.answers[q.RequestID] = tool.Answer{Action: tool.Accepted}
	if got := spoken(t, o); got != "" {
		t.Errorf("it said %q", got)
	}
	m.AssertDone(t)
}

// TestChildrenWaitUntilTheyAreStored: what a child does is with the reader before
// the child goes on.
func TestChildrenWaitUntilTheyAreStored(t *testing.T) {
	stored := false
	look, err := tool.New("look", "Looks.", func(context.Context, struct{}) (any, error) {
		if !stored {
			t.Error("the call was made before it was stored")
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	deep := child(t, "deep", scripted.New(scripted.Call("look", "{}"), scripted.Turn{Text: []string{"ok"}, Check: func(*llm.Request) error {
		if stored {
			return errors.New("the result was used before it was stored")
		}
		return nil
	}}), look)
	middle := child(t, "middle", scripted.New(scripted.Call("ask_deep", "{}"), scripted.Text("ok")), newDelegate(t, deep))
	m := scripted.New(scripted.Call("ask_middle", "{}"), scripted.Text("ok"))
	synctest.Test(t, func(t *testing.T) {
		for e, err := range run.Stream(t.Context(), options(t, talker, m, newDelegate(t, middle))) {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := e.Data.(*event.ToolCallData); ok && d.Name == "look" {
				time.Sleep(time.Second) // everybody else waits
				stored = d.Status == event.ToolExecuting
			}
		}
	})
}

// TestManyChildren: two hundred at once, each with its own text and its own call.
func TestManyChildren(t *testing.T) {
	root := &node{key: "r", steps: []treeStep{{}, {texts: []string{"[r.end]"}}}}
	for i := range 200 {
		key := fmt.Sprintf("r-%03d", i)
		c := &node{key: key + "c", steps: []treeStep{
			{texts: []string{"[" + key + "c.0]", "[" + key + "c.1]"}, calls: []treeCall{{tool: "work", key: key + "c-0"}}},
			{texts: []string{"[" + key + "c.end]"}},
		}}
		root.steps[0].calls = append(root.steps[0].calls, treeCall{tool: "ask", key: key, child: c})
	}
	f := newForest(compile(t, talker), root)
	events, _ := f.play(200, nil)
	f.check(t, events, true)
}

// chainOf is n agents of which each asks the next one.
func chainOf(n int) *node {
	var below *node
	for i := range n {
		at := &node{key: fmt.Sprintf("r-%d", i), steps: []treeStep{{texts: []string{"done"}}}}
		if below != nil {
			at.steps = append([]treeStep{{calls: []treeCall{{tool: "ask", key: at.key + "-0", child: below}}}}, at.steps...)
		}
		below = at
	}
	return below
}

func TestDepth(t *testing.T) {
	for _, tc := range []struct{ most, agents, deepest int }{{0, 9, 6}, {2, 9, 3}, {5, 3, 3}} {
		f := newForest(compile(t, talker), chainOf(tc.agents))
		o := f.options(f.root)
		o.MaxDepth = tc.most
		deepest, refused := 0, ""
		for e, err := range run.Stream(t.Context(), o) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == event.Done {
				deepest = max(deepest, strings.Count(e.Agent, "/")+1)
			}
			if d, ok := e.Data.(*event.ToolCallData); ok && d.Status == event.ToolFailed {
				refused += d.ErrorMessage
			}
		}
		if deepest != tc.deepest || (tc.agents > tc.deepest) != strings.Contains(refused, "deep in one another") {
			t.Errorf("%+v: %d deep, %q", tc, deepest, refused)
		}
	}
}

// slow is a tool that says how long it may take.
type slow struct {
	tool.Tool
	most time.Duration
}

func (s slow) Timeout(tool.Call) time.Duration { return s.most }

func TestTimedTools(t *testing.T) {
	for _, tc := range []struct {
		most time.Duration
		want string
	}{{time.Hour, "the run ended"}, {time.Second, "within 1s"}, {0, "within 2m0s"}} {
		synctest.Test(t, func(t *testing.T) {
			m := scripted.New(scripted.Call("echo", `{"text":"wait"}`), scripted.Text("never mind"))
			o := options(t, talker, m, slow{echo(t, "echo"), tc.most})
			o.Timeout = 10 * time.Minute
			start := time.Now()
			got := tell(t, t.Context(), o)
			why := got.ends["call_1"].ErrorMessage
			if tc.most == time.Hour {
				if time.Since(start) != 10*time.Minute || got.done.Limit != event.LimitTime {
					t.Errorf("it took %s and ended with %+v", time.Since(start), got.done)
				}
				return
			}
			if !strings.Contains(why, tc.want) {
				t.Errorf("%s: %s", tc.most, why)
			}
		})
	}
}

// TestDeafBelow: a call of a child that does not notice its end is ended all the
// same, for everybody who has seen it begin.
func TestDeafBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := child(t, "child", scripted.New(scripted.Call("echo", "{}")), deaf{mustBase(t, "echo"), time.Minute})
		m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "ask", Name: "ask_child", Arguments: "{}"}}}, scripted.Text("ok"))
		o := options(t, talker, m, newDelegate(t, c))
		o.ToolTimeout = time.Second
		got := tell(t, t.Context(), o)
		if got.ends["call_1"] == nil || got.ends["ask"] == nil || !strings.Contains(got.ends["ask"].ErrorMessage, "within 1s") {
			t.Errorf("got %+v", got.ends)
		}
		time.Sleep(2 * time.Minute)
	})
}

// TestIDsAreOfOneCall: models that use an id again do not mix up what is kept under
// it.
func TestIDsAreOfOneCall(t *testing.T) {
	turn := scripted.Turn{Calls: []llm.ToolCall{{ID: "0", Name: "echo", Arguments: `{"text":"x"}`}}}
	m := scripted.New(turn, turn, scripted.Text("ok"))
	if got := tell(t, t.Context(), options(t, talker, m, echo(t, "echo"))); len(got.ends) != 2 {
		t.Errorf("got %v", got.ends)
	}
}
