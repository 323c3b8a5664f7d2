package chat_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// flaky is a store whose writes of runs fail as a script says.
type flaky struct {
	*store.Store

	mu sync.Mutex
	// down: nothing works. fails, lost: the next writes that have rows fail, or are
	// stored and their answer is lost. invalid is a text that cannot be stored.
	down        bool
	fails, lost int
	invalid     string
}

var errGone = &store.Failure{Op: "write run", Err: errors.New("connection reset")}

func (f *flaky) set(change func(*flaky)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *flaky) WriteRun(ctx context.Context, w store.RunWrite) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rows := len(w.Messages) > 0 || w.Answer != nil
	for _, m := range w.Messages {
		text := string(m.ToolCalls)
		if m.Content != nil {
			text = *m.Content
		}
		if f.invalid != "" && strings.Contains(text, f.invalid) {
			return false, store.ErrInvalid
		}
	}
	switch {
	case f.down:
		return false, errGone
	case rows && f.fails > 0:
		f.fails--
		return false, errGone
	case rows && f.lost > 0:
		f.lost--
		if _, err := f.Store.WriteRun(ctx, w); err != nil {
			return false, err
		}
		return false, errGone
	}
	return f.Store.WriteRun(ctx, w)
}

func (f *flaky) BeginRun(ctx context.Context, r store.RunStart) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.fails > 0:
		f.fails--
		return errGone
	case f.lost > 0:
		f.lost--
		if err := f.Store.BeginRun(ctx, r); err != nil {
			return err
		}
		return errGone
	}
	return f.Store.BeginRun(ctx, r)
}

func (f *flaky) works() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return errGone
	}
	return nil
}

func (f *flaky) Run(ctx context.Context, id string) (store.Run, error) {
	if err := f.works(); err != nil {
		return store.Run{}, err
	}
	return f.Store.Run(ctx, id)
}

func (f *flaky) Message(ctx context.Context, id string) (store.Message, error) {
	if err := f.works(); err != nil {
		return store.Message{}, err
	}
	return f.Store.Message(ctx, id)
}

// noted is a tool that counts its calls; during runs in each.
type noted struct {
	tool.Tool
	mu     sync.Mutex
	calls  []string
	during func(args string)
}

func newNoted(t testing.TB, name string, reads bool) *noted {
	t.Helper()
	type in struct {
		Text string `json:"text"`
	}
	c := &noted{}
	made, err := tool.New(name, "D.", func(_ context.Context, in in) (any, error) {
		c.mu.Lock()
		c.calls = append(c.calls, in.Text)
		during := c.during
		c.mu.Unlock()
		if during != nil {
			during(in.Text)
		}
		return name + " did " + in.Text, nil
	})
	if err == nil {
		made, err = tool.Annotate(made, tool.Annotations{ReadOnly: reads})
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Tool = made
	return c
}

func (c *noted) Annotations() tool.Annotations { return tool.AnnotationsOf(c.Tool) }

func (c *noted) made() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

const payer = "name: payer\ndescription: D.\nmodel: s:payer\ntools: [{name: pay}, {name: look}, {name: ask_agent}]\n"
const clerk = "name: clerk\ndescription: D.\nmodel: s:clerk\ntools: [{name: pay}, {name: look}]\n"

// scene is a service with the tools, over a flaky store.
type scene struct {
	kept      *flaky
	pay, look *noted
}

func newScene(t testing.TB) *scene {
	return &scene{&flaky{Store: newStore(t)}, newNoted(t, "pay", false), newNoted(t, "look", true)}
}

// service answers by step of the conversation, so that a resumed run goes on.
func (s *scene) service(t testing.TB, models cast) *chat.Service {
	t.Helper()
	return stage(t, chat.Options{
		Store: s.kept, Logger: slog.New(slog.DiscardHandler), Process: "me",
	}, models, []string{payer, clerk}, s.pay, s.look)
}

// byStep is a model that answers by the step that the conversation has come to.
type byStep []scripted.Turn

func (byStep) Name() string                   { return "s:step" }
func (byStep) Capabilities() llm.Capabilities { return llm.Capabilities{} }

func (m byStep) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	at := 0
	for _, msg := range req.Messages {
		if msg.Role == llm.Assistant {
			at++
		}
	}
	return scripted.New(m[at:]...).Stream(ctx, req)
}

// rows are the rows of the session with the calls and results among them.
func (s *scene) rows(t testing.TB, ctx context.Context) (all []string) {
	t.Helper()
	rows, err := s.kept.Messages(ctx, "s1", store.MessageFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		text := string(row.ToolCalls)
		if row.Content != nil {
			text = *row.Content
		}
		all = append(all, fmt.Sprint(row.Type, " ", text))
	}
	return all
}

func pays(keys ...string) (turns []scripted.Turn) {
	for _, key := range keys {
		turns = append(turns, scripted.Turn{Calls: []llm.ToolCall{{ID: "c" + key, Name: "pay", Arguments: `{"text":"` + key + `"}`}}})
	}
	return append(turns, scripted.Text("Done."))
}

var paidTwice = []string{
	"user Hi", `tool_call {"name":"pay","id":"c1","arguments":{"text":"1"}}`, "tool_response pay did 1",
	`tool_call {"name":"pay","id":"c2","arguments":{"text":"2"}}`, "tool_response pay did 2", "assistant Done.",
}

// TestADroppedConnection: a write that fails is tried again, and one that was stored
// although its answer was lost is not stored twice. The client sees nothing of it.
func TestADroppedConnection(t *testing.T) {
	for name, change := range map[string]func(*flaky){
		"fails once":   func(f *flaky) { f.fails = 1 },
		"fails often":  func(f *flaky) { f.fails = 7 },
		"answer lost":  func(f *flaky) { f.lost = 1 },
		"answers lost": func(f *flaky) { f.lost = 5 },
		"both":         func(f *flaky) { f.fails, f.lost = 3, 3 },
		"down a moment": func(f *flaky) {
			f.down = true
			time.AfterFunc(20*time.Second, func() { f.set(func(f *flaky) { f.down = false }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				ctx := as(t.Context(), "alice", "s1")
				service := s.service(t, cast{"payer": scripted.New(pays("1", "2")...)})
				started, err := service.Start(ctx, chat.Request{Agent: "payer", Input: "Hi"})
				if err != nil {
					t.Fatal(err)
				}
				s.kept.set(change)
				events := drain(t, started)
				if got := story(events); got[len(got)-1] != "done stop" || slices.Contains(got, "warning storage_failed") {
					t.Errorf("%q", got)
				}
				for _, e := range events {
					if d, ok := e.Data.(*event.ToolCallData); ok && d.Status != event.ToolStarted && d.MessageID == "" {
						t.Errorf("an event names no row: %+v", d)
					}
				}
				if diff := cmp.Diff(paidTwice, s.rows(t, ctx)); diff != "" {
					t.Error(diff)
				}
				if got := s.pay.made(); !slices.Equal(got, []string{"1", "2"}) {
					t.Errorf("paid %q", got)
				}
			})
		})
	}
}

// TestABeginningIsTriedAgain: a dropped connection costs no request, and the user's
// message is stored once.
func TestABeginningIsTriedAgain(t *testing.T) {
	for name, change := range map[string]func(*flaky){
		"fails": func(f *flaky) { f.fails = 3 }, "answer lost": func(f *flaky) { f.lost = 1 },
		"both": func(f *flaky) { f.fails, f.lost = 2, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				ctx := as(t.Context(), "alice", "s1")
				service := s.service(t, cast{"payer": scripted.New(scripted.Text("Hello."))})
				s.kept.set(change)
				got := story(turnOf(t, service, ctx, chat.Request{Agent: "payer", Input: "Hi"}))
				if got[len(got)-1] != "done stop" {
					t.Errorf("%q", got)
				}
				if diff := cmp.Diff([]string{"user Hi", "assistant Hello."}, s.rows(t, ctx)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestTheStoreGoesDown: from the middle of a call on nothing can be stored. No other
// call that acts is made; the run is interrupted with one event, and what the store
// lacks is stored when it works again, and the run goes on where it was.
func TestTheStoreGoesDown(t *testing.T) {
	for _, tc := range []struct {
		name  string
		below bool
		look  bool // the run looks between its payments
	}{{"root", false, false}, {"child", true, false}, {"looks meanwhile", false, true}} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				ctx := as(t.Context(), "alice", "s1")
				turns := pays("1", "2")
				if tc.look {
					turns = slices.Insert(turns, 1, scripted.Turn{Calls: []llm.ToolCall{{ID: "l1", Name: "look", Arguments: `{"text":"a"}`}, {ID: "l2", Name: "look", Arguments: `{"text":"b"}`}}})
				}
				models := cast{"payer": byStep(turns)}
				if tc.below {
					models = cast{"payer": byStep{scripted.Call("ask_agent", `{"agent_name":"clerk","input_text":"Pay"}`), scripted.Text("Well.")}, "clerk": byStep(turns)}
				}
				s.pay.during = func(key string) { s.kept.set(func(f *flaky) { f.down = f.down || key == "1" }) }
				service := s.service(t, models)
				started, err := service.Start(ctx, chat.Request{Agent: "payer", Input: "Hi"})
				if err != nil {
					t.Fatal(err)
				}
				events := drain(t, started)
				got := story(events)
				n := 0
				for _, line := range got {
					if strings.Contains(line, "storage_failed") {
						n++
					}
				}
				if n != 1 || got[len(got)-2] != "error storage_failed" || got[len(got)-1] != "done error" {
					t.Errorf("%q", got)
				}
				if got := s.pay.made(); !slices.Equal(got, []string{"1"}) {
					t.Errorf("paid %q", got)
				}
				if tc.look && len(s.look.made()) != 2 {
					t.Errorf("looked %q", s.look.made())
				}
				synctest.Wait() // until the end waits to be stored
				s.kept.set(func(f *flaky) { f.down = false })
				if _, r, err := service.Open(ctx, started.RunID); err != nil || r.Status != store.RunInterrupted {
					t.Fatalf("%+v, %v", r, err)
				}
				again, err := service.Resume(ctx, started.RunID)
				if err != nil {
					t.Fatal(err)
				}
				if got := story(drain(t, again)); got[len(got)-1] != "done stop" {
					t.Errorf("%q", got)
				}
				if got := s.pay.made(); !slices.Equal(got, []string{"1", "2"}) {
					t.Errorf("paid %q", got)
				}
				rows := s.rows(t, ctx)
				for _, row := range paidTwice[1:5] {
					if i := slices.Index(rows, row); i < 0 || slices.Contains(rows[i+1:], row) {
						t.Errorf("%q is not once among\n%s", row, strings.Join(rows, "\n"))
					}
				}
				// A reader who comes now gets the same.
				ended, _, err := service.Open(ctx, started.RunID)
				if err != nil {
					t.Fatal(err)
				}
				ends := map[string]int{}
				for _, e := range drain(t, ended) {
					if d, ok := e.Data.(*event.ToolCallData); ok && d.Status == event.ToolCompleted {
						ends[d.ID]++
					}
				}
				if ends["c1"] != 1 || ends["c2"] != 1 {
					t.Errorf("the log tells of the ends %v", ends)
				}
			})
		})
	}
}

// TestReadingGoesOn: a run that only reads needs no store until its end, and all of its
// rows are stored when that works again.
func TestReadingGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		ctx := as(t.Context(), "alice", "s1")
		s.look.during = func(key string) { s.kept.set(func(f *flaky) { f.down = key != "3" }) }
		var turns []scripted.Turn
		for _, key := range []string{"1", "2", "3"} {
			turns = append(turns, scripted.Turn{Calls: []llm.ToolCall{{ID: "c" + key, Name: "look", Arguments: `{"text":"` + key + `"}`}}})
		}
		service := s.service(t, cast{"payer": scripted.New(append(turns, scripted.Text("Done."))...)})
		started, err := service.Start(ctx, chat.Request{Agent: "payer", Input: "Hi"})
		if err != nil {
			t.Fatal(err)
		}
		if got := story(drain(t, started)); got[len(got)-1] != "done stop" || slices.Contains(got, "warning storage_failed") {
			t.Errorf("%q", got)
		}
		want := []string{"user Hi"}
		for _, key := range []string{"1", "2", "3"} {
			want = append(want, `tool_call {"name":"look","id":"c`+key+`","arguments":{"text":"`+key+`"}}`, "tool_response look did "+key)
		}
		if diff := cmp.Diff(append(want, "assistant Done."), s.rows(t, ctx)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestTheAnswerIsKeptForLater: an answer that cannot be stored is given, with one
// warning, and stored when the store works again, with the end of its log.
func TestTheAnswerIsKeptForLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		ctx := as(t.Context(), "alice", "s1")
		s.pay.during = func(key string) { s.kept.set(func(f *flaky) { f.down = true }) }
		service := s.service(t, cast{"payer": scripted.New(pays("1")...)})
		started, err := service.Start(ctx, chat.Request{Agent: "payer", Input: "Hi"})
		if err != nil {
			t.Fatal(err)
		}
		got := story(drain(t, started))
		if n := len(got); got[n-1] != "done stop" || got[n-4] != "warning storage_failed" {
			t.Errorf("%q", got)
		}
		synctest.Wait()
		s.kept.set(func(f *flaky) { f.down = false })
		ended, r, err := service.Open(ctx, started.RunID)
		if err != nil || r.Status != store.RunCompleted {
			t.Fatalf("%+v, %v", r, err)
		}
		want := append(slices.Clone(paidTwice[:3]), "assistant Done.")
		if diff := cmp.Diff(want, s.rows(t, ctx)); diff != "" {
			t.Error(diff)
		}
		if got := story(drain(t, ended)); got[len(got)-1] != "done stop" || !slices.Contains(got, "text Done.") {
			t.Errorf("the log is %q", got)
		}
	})
}

// TestWhatCannotBeStored: a result that the store refuses costs its row alone; a call
// that it refuses is not made, and the run fails.
func TestWhatCannotBeStored(t *testing.T) {
	for _, tc := range []struct {
		invalid string
		told    string
		want    string
		made    int
	}{
		{"", "", "done stop", 2},
		{"pay did 1", "warning storage_failed", "done stop", 2},
		{`"arguments":{"text":"2"}`, "error storage_failed", "done error", 1},
	} {
		s := newScene(t)
		ctx := as(t.Context(), "alice", "s1")
		s.kept.invalid = tc.invalid
		service := s.service(t, cast{"payer": scripted.New(pays("1", "2")...)})
		got := story(turnOf(t, service, ctx, chat.Request{Agent: "payer", Input: "Hi"}))
		n := strings.Count(strings.Join(got, "\n"), "storage_failed")
		if got[len(got)-1] != tc.want || n > 1 || tc.told != "" && !slices.Contains(got, tc.told) || n == 1 && tc.told == "" || len(s.pay.made()) != tc.made {
			t.Errorf("%q: %q, paid %q", tc.invalid, got, s.pay.made())
		}
	}
}

func turnOf(t *testing.T, s *chat.Service, ctx context.Context, req chat.Request) []event.Event {
	t.Helper()
	started, err := s.Start(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	return drain(t, started)
}
