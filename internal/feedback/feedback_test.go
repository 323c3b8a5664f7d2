package feedback_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/feedback"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/phoenix"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/store"
)

// queue keeps the arguments of jobs; none of them ends.
type queue struct {
	mu   sync.Mutex
	keys []string
	jobs []json.RawMessage
}

func (q *queue) Enqueue(_ context.Context, _ string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if slices.Contains(q.keys, o.UniqueKey) {
		return jobs.Receipt{Duplicate: true}, nil
	}
	q.keys = append(q.keys, o.UniqueKey)
	raw, err := json.Marshal(args)
	q.jobs = append(q.jobs, raw)
	return jobs.Receipt{}, err
}

// annotator keeps annotations, or fails.
type annotator struct {
	list   []phoenix.Annotation
	err    error
	during func()
}

func (a *annotator) AnnotateSpans(_ context.Context, list ...phoenix.Annotation) error {
	if a.during != nil {
		a.during()
	}
	if a.err == nil {
		a.list = append(a.list, list...)
	}
	return a.err
}

func as(t *testing.T, user string) context.Context {
	return identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: user})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a service with a session of ann's and a traced answer in it.
func world(t *testing.T) (*feedback.Service, *queue, *annotator, *[]feedback.Evaluation, *store.Message) {
	t.Helper()
	s := database.Open(t)
	text := "Hello."
	m := &store.Message{Type: store.MessageAssistant, Content: &text, TraceID: strings.Repeat("a", 32), SpanID: strings.Repeat("b", 16)}
	must(t, s.BeginTurn(as(t, "ann"), store.Session{ID: "s1"}, m))
	q, a, results := new(queue), new(annotator), new([]feedback.Evaluation)
	var mu sync.Mutex
	f, err := feedback.New(feedback.Options{Store: s, Queue: q, Annotator: a, Clean: func(s string) string { return strings.ReplaceAll(s, "SECRET", "***") }, Result: func(_ context.Context, e feedback.Evaluation) {
		mu.Lock()
		defer mu.Unlock()
		*results = append(*results, e)
	}})
	must(t, err)
	return f, q, a, results, m
}

func TestRateOnce(t *testing.T) {
	f, q, a, results, m := world(t)
	ann := as(t, "ann")
	first, created, err := f.Rate(ann, store.Feedback{MessageID: m.ID, Rating: -1, Comment: " wrong "}, true)
	must(t, err)
	if !created || first.SessionID != "s1" || first.SpanID != m.SpanID || first.Comment != "wrong" || first.UserID != "ann" {
		t.Errorf("%v %+v", created, first)
	}
	second, created, err := f.Rate(ann, store.Feedback{TraceID: m.TraceID, Rating: 4, Categories: []string{"helpful", "accurate"}}, true)
	must(t, err)
	if created || second.ID != first.ID || !second.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("%v %+v", created, second)
	}
	list, _, err := f.List(ann, store.FeedbackFilter{})
	must(t, err)
	if len(list) != 1 || list[0].Rating != 4 || list[0].Comment != "" {
		t.Errorf("%+v", list)
	}
	// However often the row changes, it has two jobs; they send what is stored by then.
	for range 3 {
		_, _, err = f.Rate(ann, store.Feedback{TraceID: strings.ToUpper(m.TraceID), SpanID: m.SpanID, Rating: 4, Categories: []string{"helpful", "accurate"}}, true)
		must(t, err)
	}
	for _, raw := range q.jobs {
		must(t, f.Worker().Run(t.Context(), raw))
	}
	got, err := json.Marshal(a.list)
	must(t, err)
	one := fmt.Sprintf(`{"span_id":%q,"name":"user_feedback","annotator_kind":"HUMAN","result":{"score":0.75,"label":"helpful"},`+
		`"metadata":{"categories":["helpful","accurate"],"message_id":%q,"rating":4,"session_id":"s1","trace_id":%q},"identifier":%q}`, m.SpanID, m.ID, m.TraceID, first.ID)
	if want := "[" + one + "," + one + "]"; string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	// Each change is one evaluation, whatever becomes of the jobs.
	if len(*results) != 2 || (*results)[1].Label != "helpful" || *(*results)[1].Score != 0.75 {
		t.Errorf("%+v", *results)
	}
	must(t, f.Delete(ann, first.ID))
	must(t, f.Worker().Run(t.Context(), q.jobs[0])) // nothing is left to send
	if len(a.list) != 2 {
		t.Error("deleted feedback was sent on")
	}
}

// TestAtOnce: a person who rates in two windows at once has one rating.
func TestAtOnce(t *testing.T) {
	f, _, _, _, m := world(t)
	var all sync.WaitGroup
	for rating := 1; rating <= 5; rating++ {
		all.Go(func() {
			if _, _, err := f.Rate(as(t, "ann"), store.Feedback{MessageID: m.ID, Rating: rating}, true); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, _, err := f.List(as(t, "ann"), store.FeedbackFilter{})
	must(t, err)
	if len(list) != 1 {
		t.Errorf("%+v", list)
	}
}

func TestOnlyReadersRate(t *testing.T) {
	f, q, _, _, m := world(t)
	for _, x := range []store.Feedback{{MessageID: m.ID}, {SessionID: "s1"}, {TraceID: m.TraceID}} {
		x.Rating = 1
		for _, who := range []context.Context{as(t, "bob"), as(t, ""), identity.With(t.Context(), identity.Identity{TenantID: "other", UserID: "ann"})} {
			if _, _, err := f.Rate(who, x, true); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%+v: %v", x, err)
			}
		}
	}
	reader := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "ann", KeyID: "k", Role: identity.RoleReader})
	if _, _, err := f.Rate(reader, store.Feedback{MessageID: m.ID, Rating: 1}, true); !errors.Is(err, store.ErrForbidden) {
		t.Error(err)
	}
	if len(q.jobs) > 0 {
		t.Error("refused feedback was sent on")
	}
	// Others do not see it, an admin does.
	_, _, err := f.Rate(as(t, "ann"), store.Feedback{SessionID: "s1", Comment: "fine"}, false)
	must(t, err)
	for role, want := range map[identity.Role]int{identity.RoleMember: 0, identity.RoleAdmin: 1} {
		list, _, err := f.List(identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "bob", KeyID: "k", Role: role}), store.FeedbackFilter{})
		if must(t, err); len(list) != want {
			t.Errorf("%s sees %+v", role, list)
		}
	}
}

func TestInvalid(t *testing.T) {
	f, _, _, _, m := world(t)
	for _, c := range []struct {
		field string
		x     store.Feedback
		rated bool
	}{
		{"rating", store.Feedback{MessageID: m.ID}, true},
		{"rating", store.Feedback{MessageID: m.ID, Rating: 6}, true},
		{"rating", store.Feedback{MessageID: m.ID, Rating: -2}, true},
		{"rating", store.Feedback{MessageID: m.ID, Comment: "  "}, false},
		{"message_id", store.Feedback{Rating: 1}, true},
		{"session_id", store.Feedback{MessageID: m.ID, SessionID: "s2", Rating: 1}, true},
		{"trace_id", store.Feedback{MessageID: m.ID, TraceID: "x", Rating: 1}, true},
		{"trace_id", store.Feedback{MessageID: m.ID, TraceID: strings.Repeat("c", 32), Rating: 1}, true},
		{"span_id", store.Feedback{MessageID: m.ID, SpanID: m.SpanID + "b", Rating: 1}, true},
		{"span_id", store.Feedback{MessageID: m.ID, SpanID: strings.Repeat("c", 16), Rating: 1}, true},
		{"span_id", store.Feedback{TraceID: m.TraceID, SpanID: strings.Repeat("c", 16), Rating: 1}, true},
		{"span_id", store.Feedback{SessionID: "s1", SpanID: m.SpanID, Rating: 1}, true},
		{"comment", store.Feedback{MessageID: m.ID, Comment: strings.Repeat("x", feedback.MaxComment+1)}, false},
		{"categories", store.Feedback{MessageID: m.ID, Categories: []string{" "}}, false},
		{"categories", store.Feedback{MessageID: m.ID, Categories: slices.Repeat([]string{"x"}, feedback.MaxCategories+1)}, false},
	} {
		var wrong *feedback.InvalidError
		if _, _, err := f.Rate(as(t, "ann"), c.x, c.rated); !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%+v: %v", c.x, err)
		}
	}
}

// TestPhoenixFails: a span that has not arrived, or a server that is away, is asked again;
// feedback that it will never take is dropped.
func TestPhoenixFails(t *testing.T) {
	for status, again := range map[int]bool{404: true, 401: true, 422: false, 503: true} {
		f, q, a, results, m := world(t)
		a.err = &phoenix.StatusError{Status: status}
		_, _, err := f.Rate(as(t, "ann"), store.Feedback{MessageID: m.ID, Rating: 1}, true)
		must(t, err)
		if err := f.Worker().Run(t.Context(), q.jobs[0]); (err != nil) != again {
			t.Errorf("%d: %v", status, err)
		}
		if len(*results) != 1 {
			t.Errorf("%d: %d results", status, len(*results))
		}
		// A server that fails is left alone; one that answers about a span is not.
		a.err = nil
		err = f.Worker().Run(t.Context(), q.jobs[0])
		if _, paused := jobs.AgainAfter(err); paused != (again && status != 404) {
			t.Errorf("%d: then %v", status, err)
		}
	}
}

// TestOneAtATime: a slow Phoenix holds one worker.
func TestOneAtATime(t *testing.T) {
	f, q, a, _, m := world(t)
	_, _, err := f.Rate(as(t, "ann"), store.Feedback{MessageID: m.ID, Rating: 1}, true)
	must(t, err)
	a.during = func() {
		if _, waits := jobs.AgainAfter(f.Worker().Run(t.Context(), q.jobs[0])); !waits {
			t.Error("two jobs run at once")
		}
	}
	must(t, f.Worker().Run(t.Context(), q.jobs[0]))
	if len(a.list) != 1 {
		t.Errorf("%+v", a.list)
	}
}

// TestClean: no text leaves p8 before it is cleaned.
func TestClean(t *testing.T) {
	f, q, a, results, m := world(t)
	_, _, err := f.Rate(as(t, "ann"), store.Feedback{MessageID: m.ID, Comment: "ask SECRET", Categories: []string{"SECRET", "a SECRET"}}, false)
	must(t, err)
	must(t, f.Worker().Run(t.Context(), q.jobs[0]))
	for _, sent := range []any{a.list, *results} {
		if got, err := json.Marshal(sent); err != nil || strings.Contains(string(got), "SECRET") || !strings.Contains(string(got), "ask ***") {
			t.Errorf("%s, %v", got, err)
		}
	}
}

func TestScore(t *testing.T) {
	for rating, want := range map[int]float64{-1: 0, 1: 1, 2: 0.25, 3: 0.5, 5: 1} {
		if got := feedback.Score(rating); got == nil || *got != want {
			t.Errorf("%d is %v, want %v", rating, got, want)
		}
	}
	if feedback.Score(0) != nil {
		t.Error("no rating has a score")
	}
}
