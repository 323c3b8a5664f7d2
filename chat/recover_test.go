package chat_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// embedded is a database of the test's own.
func embedded(t testing.TB) *store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// quiet are the options of a service that resumes runs.
func quiet(db chat.Store) chat.Options {
	return chat.Options{Store: db, Attempts: 3, Logger: slog.New(slog.DiscardHandler)}
}

// kill is the death of a process as the others see it: its runs are interrupted, and
// what it still says goes nowhere.
func kill(t testing.TB, db *store.Store, s *chat.Service) {
	t.Helper()
	m := db.Maintenance()
	all, err := m.Beat(t.Context(), s.Process())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if b.Process != s.Process() {
			continue
		}
		if dead, err := m.EndProcess(t.Context(), b); err != nil || !dead {
			t.Fatal(dead, err)
		}
	}
	now, cancel := context.WithCancel(t.Context())
	cancel()
	_ = s.Close(now)
}

// resumed goes on with what was left behind.
func resumed(t testing.TB, db *store.Store, s *chat.Service) {
	t.Helper()
	if err := s.Recover(t.Context(), db.Maintenance(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ResumeInterrupted(t.Context(), db.Maintenance()); err != nil {
		t.Fatal(err)
	}
}

// awaitStored waits until the log of a run has an event.
func awaitStored(t testing.TB, db *store.Store, ctx context.Context, run string, is func(event.Event) bool) {
	t.Helper()
	for {
		pieces, err := db.RunEvents(ctx, run, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pieces {
			for e, err := range event.ReadLog(p.Data, 0) {
				if err != nil {
					t.Fatal(err)
				}
				if is(e) {
					return
				}
			}
		}
		time.Sleep(time.Millisecond)
	}
}

func saidText(text string) func(event.Event) bool {
	return func(e event.Event) bool { return e.Type == event.Text && e.Text == text }
}

// texts are what a reader has on its screen at the end, and what was taken back.
func texts(t testing.TB, turn *chat.Turn) (screen string, events []event.Event) {
	t.Helper()
	var said event.Spoken
	for e, err := range turn.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		said.Add(&e)
		events = append(events, e)
	}
	return said.String(), events
}

// TestAnInterruptedStepIsAskedForAgain: whatever agent was cut, at any depth, the text
// of its step is replaced: on the screen of a reader who saw it, for readers who come
// later, in the row.
func TestAnInterruptedStepIsAskedForAgain(t *testing.T) {
	never := make(chan struct{})
	begins := func(text string) scripted.Turn {
		return scripted.Turn{Text: []string{text, "never"}, Before: scripted.Until(1, never)}
	}
	for name, tc := range map[string]struct {
		before, after cast
		cut, want     string
		void          []string
	}{
		"the root": {
			cast{"boss": scripted.New(begins("I begin with X"))},
			cast{"boss": scripted.New(scripted.Text("I begin with X", " and end."))},
			"I begin with X", "I begin with X and end.", []string{"boss"},
		},
		"a long answer, after a step": { // more than stays in memory
			cast{"boss": scripted.New(scripted.Turn{Text: []string{"Let me see. "}, Calls: []llm.ToolCall{{ID: "a", Name: "echo", Arguments: `{"text":"a"}`}}}, begins("I begin"))},
			cast{"boss": scripted.New(scripted.Text(strings.Split(strings.Repeat(strings.Repeat("so ", 400)+"|", 400), "|")...))},
			"I begin", "Let me see. \n\n" + strings.Repeat(strings.Repeat("so ", 400), 400), []string{"boss"},
		},
		"the root, after a step": {
			cast{"boss": scripted.New(scripted.Turn{Text: []string{"Let me see. "}, Calls: []llm.ToolCall{{ID: "a", Name: "echo", Arguments: `{"text":"a"}`}}}, begins("I begin"))},
			cast{"boss": scripted.New(scripted.Text("It is Y."))},
			"I begin", "Let me see. \n\nIt is Y.", []string{"boss"},
		},
		"a child": {
			cast{"boss": scripted.New(scripted.Turn{Text: []string{"Wait. "}, Calls: []llm.ToolCall{askCall("worker", "Hi", "")}}), "worker": scripted.New(begins("I work"))},
			cast{"boss": scripted.New(scripted.Text(" Done.")), "worker": scripted.New(scripted.Text("I found it."))},
			"I work", "Wait. \n\nI found it.\n\n Done.", []string{"boss/worker"},
		},
		"a grandchild": {
			cast{
				"boss": scripted.New(asks("worker", "Hi")), "worker": scripted.New(scripted.Turn{Text: []string{"Wait. "}, Calls: []llm.ToolCall{askCall("helper", "Hi", "")}}),
				"helper": scripted.New(begins("I help")),
			},
			cast{"boss": scripted.New(scripted.Text(" Done.")), "worker": scripted.New(scripted.Text("So.")), "helper": scripted.New(scripted.Text("Deep. "))},
			"I help", "Wait. \n\nDeep. \n\nSo.\n\n Done.", []string{"boss/worker/helper"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := embedded(t)
			documents := []string{flatNamed("boss", ""), flatNamed("worker", ""), flatNamed("helper", "")}
			ctx := as(t.Context(), "alice", "s1")
			first, second := stage(t, quiet(db), tc.before, documents), stage(t, quiet(db), tc.after, documents)
			started, err := first.Start(ctx, chat.Request{Input: "Go"})
			if err != nil {
				t.Fatal(err)
			}
			awaitStored(t, db, ctx, started.RunID, saidText(tc.cut))
			// A reader at another process sees the run die and go on.
			there, _, err := second.Open(ctx, started.RunID)
			if err != nil {
				t.Fatal(err)
			}
			type seen struct {
				text   string
				events []event.Event
			}
			read := make(chan seen, 1)
			saw := make(chan struct{})
			go func() {
				var said event.Spoken
				var s seen
				for e, err := range there.Events(ctx) {
					if err != nil {
						t.Error(err)
						break
					}
					if e.Text == tc.cut && len(s.text) == 0 {
						s.text = "saw"
						close(saw)
					}
					said.Add(&e)
					s.events = append(s.events, e)
				}
				s.text = said.String()
				read <- s
			}()
			<-saw
			kill(t, db, first)
			resumed(t, db, second)
			live := <-read
			if live.text != tc.want {
				t.Errorf("the reader has %q, want %q", live.text, tc.want)
			}
			var void []string
			for _, r := range find[*event.RestartData](t, live.events).Runs {
				void = append(void, r.Agent)
			}
			if diff := cmp.Diff(tc.void, void); diff != "" {
				t.Error("the runs that were cut:", diff)
			}
			late, _, err := second.Open(ctx, started.RunID)
			if err != nil {
				t.Fatal(err)
			}
			text, events := texts(t, late)
			if text != tc.want {
				t.Errorf("a later reader has %q, want %q", text, tc.want)
			}
			for _, e := range events {
				if e.Type == event.Text && e.Text == tc.cut && !strings.HasPrefix(tc.want, tc.cut) {
					t.Errorf("a later reader is shown %q", e.Text)
				}
			}
			if last := events[len(events)-1]; last.Type != event.Done || last.Data.(*event.DoneData).Reason != event.ReasonStop {
				t.Errorf("it ends with %+v", last)
			}
			rows, err := db.Messages(ctx, "s1", store.MessageFilter{Types: []string{store.MessageAssistant}})
			if err != nil || len(rows) != 1 || *rows[0].Content != tc.want {
				t.Errorf("the row is %.2000q, %v, want %.2000q", fmt.Sprint(rows), err, tc.want)
			}
			if r, err := db.Run(ctx, started.RunID); err != nil || r.Status != store.RunCompleted || r.Attempts != 1 || r.Restarts != 1 {
				t.Errorf("%+v %v", r, err)
			}
			tc.after.done(t)
		})
	}
}

// TestARunThatKillsItsProcess: it fails in the end, and what it said is kept.
func TestARunThatKillsItsProcess(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "s1")
	never := make(chan struct{})
	deadly := func() *chat.Service {
		o := quiet(db)
		o.Attempts = 2
		o.Now = func() time.Time { return time.Now().Add(time.Hour) } // each rests long enough
		return newService(t, scripted.New(scripted.Turn{Text: []string{"Boom", " never"}, Before: scripted.Until(1, never)}), o, helper)
	}
	s := deadly()
	started, err := s.Start(ctx, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	for attempt := 1; attempt <= 3; attempt++ {
		last, err := db.Run(ctx, started.RunID)
		if err != nil {
			t.Fatal(err)
		}
		awaitStored(t, db, ctx, started.RunID, func(e event.Event) bool { return e.Text == "Boom" && e.Seq > last.LastSeq-1 })
		kill(t, db, s)
		s = deadly()
		resumed(t, db, s)
	}
	r, err := db.Run(ctx, started.RunID)
	if err != nil || r.Status != store.RunFailed || r.Reason != event.ReasonError || r.Attempts != 3 {
		t.Errorf("%+v %v", r, err)
	}
	turn, _, err := s.Open(ctx, started.RunID)
	if err != nil {
		t.Fatal(err)
	}
	text, events := texts(t, turn)
	if failure := find[*event.ErrorData](t, events); failure.Code != "interrupted_too_often" || text != "Boom" {
		t.Errorf("%q %+v", text, failure)
	}
	if diff := cmp.Diff([]string{"1 user Hi", "2 assistant Boom  error"}, transcript(t, db, ctx, "s1")); diff != "" {
		t.Error(diff)
	}
}

// TestRunsOnTheirLastAttempt are resumed one at a time, after the others.
func TestRunsOnTheirLastAttempt(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "")
	var turns []scripted.Turn
	for range 6 {
		turns = append(turns, scripted.Text("Done."))
	}
	o := quiet(db)
	o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	s := newService(t, scripted.New(turns...), o, helper)
	for i, id := range []string{"1", "2", "3", "4"} {
		own := as(t.Context(), "alice", "s"+id)
		never := make(chan struct{})
		dying := newService(t, scripted.New(scripted.Turn{Text: []string{"x"}, Before: scripted.Until(0, never)}), quiet(db), helper)
		started, err := dying.Start(own, chat.Request{Input: "Hi"})
		if err != nil {
			t.Fatal(err)
		}
		kill(t, db, dying)
		for range 2 * (i % 2) { // two of them have been tried twice more
			claimed, err := db.ClaimRun(own, started.RunID, "x", store.RunsAllowed{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.WriteRun(own, store.RunWrite{RunID: claimed.ID, Process: "x", Status: store.RunInterrupted, Attempted: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	left := func() int {
		runs, _, err := db.Runs(ctx, store.RunFilter{Statuses: []string{store.RunInterrupted}})
		if err != nil {
			t.Fatal(err)
		}
		return len(runs)
	}
	for _, want := range []int{1, 0} {
		if more, err := s.ResumeInterrupted(t.Context(), db.Maintenance()); err != nil || !more {
			t.Fatal(more, err)
		}
		if n := left(); n != want {
			t.Errorf("%d runs are left, want %d", n, want)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if more, err := s.ResumeInterrupted(t.Context(), db.Maintenance()); more || err != nil {
		t.Error(more, err)
	}
}

// TestARunThatCannotBeResumed: one whose agent has gone does not stay for ever.
func TestARunThatCannotBeResumed(t *testing.T) {
	db := embedded(t)
	ctx := identity.With(t.Context(), identity.Identity{UserID: "alice", SessionID: "s1", AgentSchemaURI: "gone"})
	never := make(chan struct{})
	gone := strings.Replace(helper, "name: helper", "name: gone", 1)
	s := newService(t, scripted.New(scripted.Turn{Text: []string{"Half", "x"}, Before: scripted.Until(1, never)}), quiet(db), helper, gone)
	started, err := s.Start(ctx, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	awaitStored(t, db, ctx, started.RunID, saidText("Half"))
	kill(t, db, s)
	o := quiet(db)
	o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	later := newService(t, scripted.New(), o, helper)
	for range 4 {
		resumed(t, db, later)
	}
	if r, err := db.Run(ctx, started.RunID); err != nil || r.Status != store.RunFailed {
		t.Errorf("%+v %v", r, err)
	}
	if diff := cmp.Diff([]string{"1 user Hi", "2 assistant Half  error"}, transcript(t, db, ctx, "s1")); diff != "" {
		t.Error(diff)
	}
}

// TestNobodyResumes: with no attempts an interrupted run waits, and its readers hear so.
func TestNobodyResumes(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "s1")
	never := make(chan struct{})
	o := quiet(db)
	o.Attempts = 0
	s := newService(t, scripted.New(scripted.Turn{Text: []string{"Half", "x"}, Before: scripted.Until(1, never)}), o, helper)
	started, err := s.Start(ctx, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	awaitStored(t, db, ctx, started.RunID, saidText("Half"))
	kill(t, db, s)
	later := newService(t, scripted.New(scripted.Text("Whole.")), o, helper)
	resumed(t, db, later)
	turn, r, err := later.Open(ctx, started.RunID)
	if err != nil || r.Status != store.RunInterrupted {
		t.Fatalf("%+v %v", r, err)
	}
	if got := story(drain(t, turn)); got[len(got)-2] != "error interrupted" {
		t.Errorf("%q", got)
	}
	again, err := later.Resume(ctx, started.RunID)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := texts(t, again); text != "Whole." {
		t.Errorf("%q", text)
	}
}

// TestAProcessThatDiesAfterItsQuestion: the run waits, can be answered, and its readers
// hear that it has paused.
func TestAProcessThatDiesAfterItsQuestion(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "s1")
	never := make(chan struct{})
	documents := []string{flatNamed("boss", ""), strings.Replace(flatNamed("worker", ""), "[ask_agent, transfer_to_agent, echo]", "[{name: echo, approval: always}]", 1), flatNamed("helper", "")}
	before := cast{
		"boss":   scripted.New(asks("worker", "Hi", "helper", "Hi")),
		"worker": scripted.New(scripted.Call("echo", `{"text":"a"}`)),
		"helper": scripted.New(scripted.Turn{Text: []string{"I help", "x"}, Before: scripted.Until(1, never)}),
	}
	s := stage(t, quiet(db), before, documents)
	started, err := s.Start(ctx, chat.Request{Input: "Go"})
	if err != nil {
		t.Fatal(err)
	}
	awaitStored(t, db, ctx, started.RunID, func(e event.Event) bool { return e.Type == event.ActionRequest })
	awaitStored(t, db, ctx, started.RunID, saidText("I help"))
	kill(t, db, s)
	after := cast{
		"boss":   scripted.New(scripted.Text("Done.")),
		"worker": scripted.New(scripted.Text("Worked. ")), "helper": scripted.New(scripted.Text("Helped. ")),
	}
	later := stage(t, quiet(db), after, documents)
	resumed(t, db, later)
	turn, r, err := later.Open(ctx, started.RunID)
	if err != nil || r.Status != store.RunWaiting || r.Reason != event.ReasonPaused {
		t.Fatalf("%+v %v", r, err)
	}
	if got := story(drain(t, turn)); got[len(got)-1] != "done paused" {
		t.Errorf("%q", got)
	}
	_, again, err := later.Decide(ctx, requests(t, later, ctx)[0].ID, store.Decision{Status: store.RequestAccepted})
	if err != nil || again == nil {
		t.Fatal(again, err)
	}
	text, events := texts(t, again)
	if last := events[len(events)-1].Data.(*event.DoneData); last.Reason != event.ReasonStop || strings.Contains(text, "I help") || !strings.HasSuffix(text, "Done.") {
		t.Errorf("%q %+v", text, last)
	}
	after.done(t)
}

// TestIdentityOfAResumedRun: a resumed run has the identity that began it, with all of
// its fields.
func TestIdentityOfAResumedRun(t *testing.T) {
	db := embedded(t)
	who := identity.Identity{UserID: "alice", Name: "Alice", Email: "alice@example.com", SessionID: "s1", ClientID: "page"}
	ctx := identity.With(t.Context(), who)
	never := make(chan struct{})
	first := newService(t, scripted.New(scripted.Turn{Text: []string{"x"}, Before: scripted.Until(0, never)}), quiet(db), helper)
	started, err := first.Start(ctx, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	kill(t, db, first)
	heard := newEcho(t)
	o := quiet(db)
	o.Tools = registry(t, heard)
	second := newService(t, scripted.New(scripted.Call("echo", `{"text":"a"}`), scripted.Text("Done.")), o, helper)
	resumed(t, db, second)
	turn, _, err := second.Open(ctx, started.RunID)
	if err != nil {
		t.Fatal(err)
	}
	drain(t, turn)
	got, _ := heard.seen.Load("call_1")
	own, ok := got.(identity.Identity)
	if own.TenantID = ""; !ok || own.UserID != who.UserID || own.Name != who.Name || own.Email != who.Email || own.ClientID != who.ClientID || own.SessionID != "s1" {
		t.Errorf("the tool was called for %+v", got)
	}
}

// TestHandOverOfAShutdown: another process takes a run that does not end in time at
// once. Readers get ErrHandedOver and read the whole there.
func TestHandOverOfAShutdown(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "s1")
	never := make(chan struct{})
	first := newService(t, scripted.New(scripted.Turn{Text: []string{"Half", "x"}, Before: scripted.Until(1, never)}), quiet(db), helper)
	started, err := first.Start(ctx, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	begun := make(chan struct{})
	var last int64
	go func() {
		for e, err := range started.Events(ctx) {
			if err != nil {
				ended <- err
				return
			}
			if last = e.Seq; e.Text == "Half" {
				close(begun)
			}
			if e.Type == event.Error || e.Type == event.Done {
				t.Errorf("the reader is told %v", e.Type)
			}
		}
		ended <- nil
	}()
	<-begun
	now, cancel := context.WithCancel(t.Context())
	cancel()
	_ = first.Close(now)
	if r, err := db.Run(ctx, started.RunID); err != nil || r.Status != store.RunInterrupted || r.Attempts != 0 {
		t.Errorf("%+v %v", r, err)
	}
	first.Leave()
	if err := <-ended; !errors.Is(err, chat.ErrHandedOver) {
		t.Errorf("the reader ends with %v", err)
	}
	second := newService(t, scripted.New(scripted.Text("Whole.")), quiet(db), helper)
	resumed(t, db, second)
	turn, _, err := second.Open(ctx, started.RunID)
	if err != nil {
		t.Fatal(err)
	}
	var said event.Spoken
	half := event.NewText("Half")
	half.RunID, half.Seq = started.RunID, last
	said.Add(&half)
	for e, err := range turn.EventsAfter(ctx, last) {
		if err != nil {
			t.Fatal(err)
		}
		said.Add(&e)
	}
	if said.String() != "Whole." {
		t.Errorf("who comes back has %q", said.String())
	}
}

// TestNumbersOfLostEvents: no number stands for two events, also where a process that
// resumed a run died before it stored any.
func TestNumbersOfLostEvents(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "s1")
	never := make(chan struct{})
	s := newService(t, scripted.New(scripted.Turn{Text: []string{"x"}, Before: scripted.Until(0, never)}), quiet(db), helper)
	started, err := s.Start(ctx, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for range 3 {
		kill(t, db, s)
		r, err := db.Run(ctx, started.RunID)
		if err != nil {
			t.Fatal(err)
		}
		before := r.LastSeq
		o := quiet(db)
		o.Now = func() time.Time { return time.Now().Add(time.Hour) }
		s = newService(t, scripted.New(scripted.Turn{Text: []string{"x"}, Before: scripted.Until(0, never)}), o, helper)
		resumed(t, db, s)
		pieces, err := db.RunEvents(ctx, started.RunID, before, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pieces {
			for e, err := range event.ReadLog(p.Data, before) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Type != event.Restart {
					continue
				}
				if e.Seq <= before+live.Lost || e.Seq <= last+live.Lost {
					t.Errorf("the restart has the number %d; readers may have %d", e.Seq, before+live.Lost)
				}
				last = e.Seq
			}
		}
	}
	if last == 0 {
		t.Error("no restart was seen")
	}
	kill(t, db, s)
}
