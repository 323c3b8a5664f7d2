package dream_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// keeper wraps save_moments.
type keeper struct {
	tool.Tool
	before, after func(ctx context.Context)
	calls         *int
	// loses: the process dies before it gets the tool's answer.
	loses bool
}

// Annotations are those of the wrapped tool: they decide whether an interrupted call is
// repeated.
func (x keeper) Annotations() tool.Annotations { return tool.AnnotationsOf(x.Tool) }

func (x keeper) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	*x.calls++
	if x.before != nil {
		x.before(ctx)
	}
	res, err := x.Tool.Call(ctx, c)
	if x.after != nil {
		x.after(ctx)
	}
	if x.loses && ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	return res, err
}

// TestCrash: a process dies at some point of a dream. The next process resumes the dream:
// the model is asked once, and one dream is stored.
func TestCrash(t *testing.T) {
	// dead is a model that never answers.
	asked := make(chan struct{}, 1)
	dead := scripted.Turn{Text: []string{"…"}, Before: func(ctx context.Context, _ int) error {
		asked <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}}
	for _, tc := range []struct {
		name string
		// first and second are the answers of the two processes' models.
		first, second []scripted.Turn
		// dies ends the process: when the model is asked, or before or after the chained
		// tool.
		at    string
		calls int
	}{
		{"while the model speaks", []scripted.Turn{dead}, []scripted.Turn{answer("late-trains", "project-alpha"), profile("Ann.")}, "model", 1},
		{"between the answer and its chained tool", []scripted.Turn{answer("late-trains", "project-alpha")}, []scripted.Turn{profile("Ann.")}, "before", 2},
		{"after the chained tool", []scripted.Turn{answer("late-trains", "project-alpha")}, []scripted.Turn{profile("Ann.")}, "after", 1},
		{"when the chained tool has done it and not told", []scripted.Turn{answer("late-trains", "project-alpha")}, []scripted.Turn{profile("Ann.")}, "lost", 2},
		{"while the profile is made", []scripted.Turn{answer("late-trains", "project-alpha"), dead}, []scripted.Turn{profile("Ann.")}, "model", 1},
	} {
		for _, sameWindow := range []bool{false, true} {
			t.Run(tc.name, func(t *testing.T) {
				k := onSQLite(t)
				ann := as(t.Context(), "ann")
				k.live(ann)
				dies := make(chan struct{})
				die := func(ctx context.Context) {
					close(dies)
					<-ctx.Done()
				}
				calls := 0
				x := keeper{calls: &calls}
				switch tc.at {
				case "before":
					x.before = die
				case "after", "lost":
					x.after, x.loses = die, tc.at == "lost"
				}
				k.wrap = func(saver tool.Tool) tool.Tool { y := x; y.Tool = saver; return y }
				k.process(tc.first...)

				ctx, cancel := context.WithCancel(ann)
				type ended struct {
					res dream.Result
					err error
				}
				done := make(chan ended, 1)
				go func() {
					res, err := k.Dream(ctx, dream.Request{})
					done <- ended{res, err}
				}()
				select {
				case <-dies:
				case <-asked:
				}
				// The process is asked to stop, and does not finish in time.
				cancel()
				late, stop := context.WithCancel(t.Context())
				stop()
				_ = k.chat.Close(late)
				if first := <-done; first.err == nil {
					t.Fatalf("%+v", first.res)
				}
				k.model.AssertDone(t)

				x.before, x.after = nil, nil
				k.process(tc.second...)
				req := dream.Request{}
				list, _, err := k.store.Sessions(ann, store.SessionFilter{Mode: dream.Mode})
				must(t, err)
				if sameWindow { // as a job does that is run again
					req.Until = windowOf(t, &list[0])
				}
				res := k.dreams(ann, req)
				k.model.AssertDone(t)
				if res.Status != dream.StatusCompleted || res.Profile.Status != dream.StatusCompleted || res.Phase2.MomentsSaved != 1 ||
					!res.Until.Equal(windowOf(t, &list[0])) || calls != tc.calls {
					t.Errorf("%d calls, %+v", calls, res)
				}
				if got := k.kept(ann); !slices.Equal(got, []string{"Late Trains"}) {
					t.Errorf("%q", got)
				}
				o, err := k.store.Ontologies().ByName(ann, "Project Alpha")
				must(t, err)
				if want := []store.Edge{{Target: "Late Trains", Relation: "dreamed_from", Weight: 0.8, Reason: "both are late"}}; !slices.Equal(o.GraphEdges, want) {
					t.Errorf("%+v", o.GraphEdges)
				}
				if list, _, err = k.store.Sessions(ann, store.SessionFilter{Mode: dream.Mode}); err != nil || len(list) != 2 {
					t.Errorf("%d sessions, %v", len(list), err)
				}
				if res := k.dreams(ann, dream.Request{}); res.Status != dream.StatusSkippedNoData {
					t.Errorf("%+v", res)
				}
			})
		}
	}
}

// TestDeadProcess: a process was killed. The next dream waits until that process counts as
// dead, and resumes its run.
func TestDeadProcess(t *testing.T) {
	k := onSQLite(t)
	ann := as(t.Context(), "ann")
	k.live(ann)
	asked, never := make(chan struct{}), make(chan struct{})
	dead := answer("late-trains", "project-alpha")
	dead.Before = func(ctx context.Context, _ int) error {
		close(asked)
		<-never // it ignores its context
		return errors.New("dead")
	}
	k.process(dead)
	killed, kill := context.WithCancel(ann)
	gone := make(chan struct{})
	first := k.Service
	go func() {
		defer close(gone)
		_, _ = first.Dream(killed, dream.Request{})
	}()
	<-asked
	kill()
	<-gone
	k.process(answer("late-trains", "project-alpha"), profile("Ann."))
	done := make(chan dream.Result, 1)
	go func() {
		res, err := k.Dream(ann, dream.Request{})
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	var res dream.Result
	for over := false; !over; {
		select {
		case <-look.C: // like a server
			must(t, k.chat.Recover(t.Context(), k.store.Maintenance(), time.Now().Add(time.Hour)))
		case res = <-done:
			over = true
		}
	}
	close(never)
	if res.Status != dream.StatusCompleted || res.Phase2.MomentsSaved != 1 {
		t.Errorf("%+v", res)
	}
	if got := k.kept(ann); !slices.Equal(got, []string{"Late Trains"}) {
		t.Errorf("%q", got)
	}
	k.model.AssertDone(t)
}

// TestTheStoreFails while the dream is stored: the dream is reported as failed, and the
// next dream repeats the window.
func TestTheStoreFails(t *testing.T) {
	k := onSQLite(t)
	ann := as(t.Context(), "ann")
	k.live(ann)
	fails := true
	k.wrap = func(saver tool.Tool) tool.Tool { return failing{saver, &fails} }
	k.process(answer("late-trains", "standup"), profile("Ann."), answer("late-trains", "standup"))
	res := k.dreams(ann, dream.Request{})
	if res.Status != dream.StatusFailed || !strings.Contains(res.Phase2.Error, "the dreams could not be kept: the disk is full") {
		t.Errorf("%+v", res)
	}
	fails = false
	res = k.dreams(ann, dream.Request{})
	if res.Status != dream.StatusCompleted || res.Phase2.MomentsSaved != 1 {
		t.Errorf("%+v", res)
	}
}

type failing struct {
	tool.Tool
	fails *bool
}

func (x failing) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	if *x.fails {
		return tool.Result{}, &tool.Error{Message: "the disk is full"}
	}
	return x.Tool.Call(ctx, c)
}

// windowOf returns the end of the window of a dreaming session.
func windowOf(t *testing.T, s *store.Session) time.Time {
	t.Helper()
	var said struct {
		Dream struct{ Until time.Time }
	}
	must(t, json.Unmarshal(s.Metadata, &said))
	return said.Dream.Until
}
