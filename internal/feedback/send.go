package feedback

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/phoenix"
	"github.com/p8-org/p8/store"
)

// Kind are the jobs that send feedback on.
const Kind = "feedback"

// Name is what the annotation, and the evaluation, of feedback are called.
const Name = "user_feedback"

const (
	// attempts bounds the tries; spans arrive in Phoenix seconds after their answer, and a
	// server that is away comes back.
	attempts = 8
	// delay lets a person who rates and then comments do both.
	delay = 2 * time.Second
	// timeout bounds an attempt: it holds a worker that other jobs want.
	timeout = 3 * time.Second
	// again is after the end of a job that runs now.
	again = 3 * timeout
	// keep bounds how long feedback waits for a server that is away.
	keep = 24 * time.Hour
)

// Evaluation is a rating as the result of an evaluation.
type Evaluation struct {
	TraceID, SpanID    string
	Name               string
	Score              *float64
	Label, Explanation string
}

// args are the arguments of a job.
type args struct {
	Tenant string `json:"tenant"`
	User   string `json:"user,omitempty"`
	ID     string `json:"id"`
}

// later has the row sent on. A row that cannot be is kept all the same.
//
// A row has at most two jobs, however often it changes: one, and one more in case the first has
// read the row already. A job sends what is stored when it runs.
func (s *Service) later(ctx context.Context, who identity.Identity, x *store.Feedback) {
	if x.SpanID == "" || s.o.Annotator == nil {
		return
	}
	key := who.TenantID + "/" + who.UserID + "/" + x.ID
	for _, o := range []jobs.EnqueueOptions{
		{UniqueKey: key, RunAt: time.Now().Add(delay)},
		{UniqueKey: key + "/again", RunAt: time.Now().Add(again)},
	} {
		is, err := s.o.Queue.Enqueue(context.WithoutCancel(ctx), Kind, args{who.TenantID, who.UserID, x.ID}, o)
		if err != nil {
			s.o.Logger.WarnContext(ctx, "feedback is not sent on", "feedback", x.ID, "error", err)
		}
		if err != nil || !is.Duplicate {
			return
		}
	}
}

// Worker runs the jobs, for [jobs.Queue.Register]: one at a time, after all others that are due,
// and seldom while Phoenix fails.
func (s *Service) Worker() jobs.Worker {
	return jobs.Worker{Timeout: timeout, MaxAttempts: attempts, Last: true, Run: func(ctx context.Context, raw json.RawMessage) error {
		var a args
		if err := json.Unmarshal(raw, &a); err != nil || a.ID == "" {
			return errors.New("the arguments are not those of feedback")
		}
		if s.o.Annotator == nil {
			return nil // it was configured when the job was made
		}
		if wait := s.gate.enter(time.Now()); wait > 0 {
			return jobs.Again(wait)
		}
		err := errors.New("the job panicked")
		defer func() { s.gate.leave(time.Now(), away(err)) }()
		err = s.send(identity.With(ctx, identity.Identity{TenantID: a.Tenant, UserID: a.User}), a.ID)
		return err
	}}
}

// send sends a row on. It may run twice: an annotation replaces the one before.
func (s *Service) send(ctx context.Context, id string) error {
	x, err := s.o.Store.Feedback().Get(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil // it was deleted
	case err != nil:
		return err
	case time.Since(x.UpdatedAt) > keep:
		s.o.Logger.WarnContext(ctx, "feedback is not sent on: Phoenix was away for too long", "feedback", x.ID)
		return nil
	}
	e := s.evaluation(&x)
	err = s.o.Annotator.AnnotateSpans(ctx, phoenix.Annotation{
		SpanID: e.SpanID, Name: e.Name, AnnotatorKind: phoenix.Human, Identifier: x.ID,
		Result:   phoenix.Result{Score: e.Score, Label: e.Label, Explanation: e.Explanation},
		Metadata: s.metadata(&x),
	})
	if refused := (*phoenix.StatusError)(nil); errors.As(err, &refused) && hopeless(refused.Status) {
		s.o.Logger.WarnContext(ctx, "Phoenix refuses feedback", "feedback", x.ID, "error", err)
		return nil
	}
	return err
}

// evaluation is a row as the result of an evaluation, without what must not leave p8.
func (s *Service) evaluation(x *store.Feedback) Evaluation {
	e := Evaluation{TraceID: x.TraceID, SpanID: x.SpanID, Name: Name, Score: Score(x.Rating), Explanation: s.o.Clean(x.Comment)}
	if len(x.Categories) > 0 {
		e.Label = s.o.Clean(x.Categories[0])
	}
	return e
}

// away reports whether other rows would fail, too. A span that is missing is about one row.
func away(err error) bool {
	answered := (*phoenix.StatusError)(nil)
	return err != nil && !(errors.As(err, &answered) && answered.Status == http.StatusNotFound)
}

// hopeless reports whether another try will be refused, too. 404 is a span that may arrive.
func hopeless(status int) bool {
	switch status {
	case http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusForbidden:
		return false
	}
	return status >= 400 && status < 500
}

func (s *Service) metadata(x *store.Feedback) map[string]any {
	m := map[string]any{"session_id": s.o.Clean(x.SessionID), "trace_id": x.TraceID}
	if x.MessageID != "" {
		m["message_id"] = x.MessageID
	}
	if x.Rating != 0 {
		m["rating"] = x.Rating
	}
	if len(x.Categories) > 0 {
		list := make([]string, len(x.Categories))
		for i, c := range x.Categories {
			list[i] = s.o.Clean(c)
		}
		m["categories"] = list
	}
	return m
}

// Score returns a rating as a number from 0 to 1: -1 is 0 and 1 is 1, as thumbs, and 2 to 5 are
// stars. 0 is no rating.
func Score(rating int) *float64 {
	score := 0.0
	switch {
	case rating == 0:
		return nil
	case rating == 1:
		score = 1
	case rating > 1:
		score = float64(rating-1) / 4
	}
	return &score
}
