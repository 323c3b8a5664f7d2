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
func (s *Service) later(ctx context.Context, who identity.Identity, x *store.Feedback) {
	if x.SpanID == "" || s.o.Annotator == nil && s.o.Result == nil {
		return
	}
	_, err := s.o.Queue.Enqueue(context.WithoutCancel(ctx), Kind, args{who.TenantID, who.UserID, x.ID}, jobs.EnqueueOptions{RunAt: time.Now().Add(delay)})
	if err != nil {
		s.o.Logger.WarnContext(ctx, "feedback is not sent on", "feedback", x.ID, "error", err)
	}
}

// Worker runs the jobs, for [jobs.Queue.Register].
func (s *Service) Worker() jobs.Worker {
	return jobs.Worker{Timeout: time.Minute, MaxAttempts: attempts, Run: func(ctx context.Context, raw json.RawMessage) error {
		var a args
		if err := json.Unmarshal(raw, &a); err != nil || a.ID == "" {
			return errors.New("the arguments are not those of feedback")
		}
		x, err := s.o.Store.Feedback().Get(identity.With(ctx, identity.Identity{TenantID: a.Tenant, UserID: a.User}), a.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil // it was deleted
		}
		if err == nil {
			err = s.send(ctx, &x)
		}
		return err
	}}
}

// send sends a row on. It may run twice: an annotation replaces the one before.
func (s *Service) send(ctx context.Context, x *store.Feedback) error {
	e := Evaluation{TraceID: x.TraceID, SpanID: x.SpanID, Name: Name, Score: Score(x.Rating), Explanation: x.Comment}
	if len(x.Categories) > 0 {
		e.Label = x.Categories[0]
	}
	if s.o.Annotator != nil {
		err := s.o.Annotator.AnnotateSpans(ctx, phoenix.Annotation{
			SpanID: e.SpanID, Name: e.Name, AnnotatorKind: phoenix.Human, Identifier: x.ID,
			Result:   phoenix.Result{Score: e.Score, Label: e.Label, Explanation: e.Explanation},
			Metadata: metadata(x),
		})
		if refused := (*phoenix.StatusError)(nil); errors.As(err, &refused) && hopeless(refused.Status) {
			s.o.Logger.WarnContext(ctx, "Phoenix refuses feedback", "feedback", x.ID, "error", err)
		} else if err != nil {
			return err
		}
	}
	if s.o.Result != nil {
		s.o.Result(ctx, e)
	}
	return nil
}

// hopeless reports whether another try will be refused, too. 404 is a span that may arrive.
func hopeless(status int) bool {
	switch status {
	case http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusForbidden:
		return false
	}
	return status >= 400 && status < 500
}

func metadata(x *store.Feedback) map[string]any {
	m := map[string]any{"session_id": x.SessionID, "trace_id": x.TraceID}
	if x.MessageID != "" {
		m["message_id"] = x.MessageID
	}
	if x.Rating != 0 {
		m["rating"] = x.Rating
	}
	if len(x.Categories) > 0 {
		m["categories"] = x.Categories
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
