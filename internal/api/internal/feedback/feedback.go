// Package feedback serves what people say about answers, in the words of REM and REMLight:
// rating, categories, comment.
package feedback

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/feedback"
	"github.com/p8-org/p8/store"
)

// Feedback takes and lists what people say. Implemented by *feedback.Service.
type Feedback interface {
	// Rate fails with a *feedback.InvalidError for a wrong field.
	Rate(ctx context.Context, x store.Feedback, rated bool) (_ store.Feedback, created bool, err error)
	List(ctx context.Context, f store.FeedbackFilter) (page []store.Feedback, next string, err error)
	Delete(ctx context.Context, id string) error
}

type handlers struct {
	api      *rest.API
	feedback Feedback
}

// Routes adds /feedback. A nil Feedback makes it answer that the server has none.
func Routes(api *rest.API, f Feedback) {
	h := &handlers{api, f}
	rest.Register(api, rest.Resource("list-feedback", http.MethodGet, "/feedback", "What people said about answers, the newest first: your own, or your tenant's for admins", "feedback"), h.list)
	rest.Register(api, rest.Resource("delete-feedback", http.MethodDelete, "/feedback/{id}", "Delete feedback of yours", "feedback"), h.delete)
	op := rest.Resource("put-feedback", http.MethodPost, "/feedback", "Rate an answer or a session", "feedback")
	op.Description = "One rating a person and message: a second one replaces the first. What is rated is a message_id, the trace_id of an answer, or a session_id for the session as a whole."
	api.Sends(&op, "put-feedback", body{})
	rest.Answers(&op, map[string]string{
		"201": "The feedback.", "200": "The feedback, in place of an earlier one.", "404": "No such message, session or trace.", "422": "The body is wrong; param names the field.",
	})
	api.Route(op, h.put)
}

type (
	listInput struct {
		Limit     int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor    string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		SessionID string `query:"session_id" maxLength:"128" doc:"Only feedback on this session."`
		MessageID string `query:"message_id" maxLength:"128" doc:"Only feedback on this message."`
		User      string `query:"user" maxLength:"128" doc:"Only feedback of this user, by e-mail address or id."`
		Least     int    `query:"min_rating" minimum:"-1" maximum:"5" default:"0" doc:"Only ratings from this one on."`
		Most      int    `query:"max_rating" minimum:"-1" maximum:"5" default:"0" doc:"Only ratings up to this one."`
		Since     string `query:"since" maxLength:"64" doc:"Only feedback from this time on: a time with its offset, or a day."`
		Before    string `query:"before" maxLength:"64" doc:"Only feedback before this time."`
	}
	deleteInput struct {
		ID string `path:"id" maxLength:"128" doc:"The feedback's id."`
	}
	// body is the body of POST /feedback.
	body struct {
		SessionID  string   `json:"session_id,omitempty" doc:"The session."`
		MessageID  string   `json:"message_id,omitempty" doc:"The answer that is rated: message_id of its metadata."`
		TraceID    string   `json:"trace_id,omitempty" doc:"The trace of the answer, in place of its message_id; 32 hexadecimal digits."`
		SpanID     string   `json:"span_id,omitempty" doc:"The span of the answer, which p8 knows: another one is refused."`
		Rating     *int     `json:"rating,omitempty" doc:"-1 (bad) or 1 (good), or 1 to 5 stars. Without one it is a comment."`
		Categories []string `json:"categories,omitempty" doc:"What is good or bad, in a word each, such as helpful, inaccurate or too_verbose; the first is the label in Phoenix."`
		Comment    string   `json:"comment,omitempty" doc:"A comment."`
	}
)

// Example is a body that is right.
func (*body) Example() string { return `{"message_id":"…","rating":1,"categories":["helpful"]}` }

func (h *handlers) put(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var b body
	if p := h.api.JSON(w, r, &b); p != nil {
		return 0, nil, p
	}
	if h.feedback == nil {
		return 0, nil, h.api.Missing("feedback")
	}
	for _, id := range []struct{ name, value string }{{"session_id", b.SessionID}, {"message_id", b.MessageID}, {"trace_id", b.TraceID}, {"span_id", b.SpanID}} {
		if p := field.Identifier(id.name, id.value); p != nil {
			return 0, nil, p
		}
	}
	x := store.Feedback{SessionID: b.SessionID, MessageID: b.MessageID, TraceID: b.TraceID, SpanID: b.SpanID, Categories: b.Categories, Comment: b.Comment}
	if b.Rating != nil {
		x.Rating = *b.Rating
	}
	x, created, err := h.feedback.Rate(r.Context(), x, b.Rating != nil)
	if wrong := (*feedback.InvalidError)(nil); errors.As(err, &wrong) {
		return 0, nil, problem.Invalid(wrong.Field, "%s", wrong.Message)
	}
	if err != nil {
		return 0, nil, h.api.About(r.Context(), rated(&b), err)
	}
	if created {
		return http.StatusCreated, x, nil
	}
	return http.StatusOK, x, nil
}

// rated names what a body rates.
func rated(b *body) string {
	switch {
	case b.MessageID != "":
		return "message"
	case b.TraceID != "":
		return "trace"
	}
	return "session"
}

func (h *handlers) list(ctx context.Context, in *listInput) (*rest.List[store.Feedback], error) {
	if h.feedback == nil {
		return nil, h.api.Missing("feedback")
	}
	f := store.FeedbackFilter{
		SessionID: in.SessionID, MessageID: in.MessageID, UserID: in.User, Least: in.Least, Most: in.Most, Limit: in.Limit, Cursor: in.Cursor,
	}
	if strings.Contains(f.UserID, "@") {
		f.UserID = identity.UserID(f.UserID)
	}
	var p *problem.Problem
	if f.Since, p = field.Time("since", in.Since); p != nil {
		return nil, p
	}
	if f.Before, p = field.Time("before", in.Before); p != nil {
		return nil, p
	}
	rows, next, err := h.feedback.List(ctx, f)
	if err != nil {
		return nil, h.api.About(ctx, "feedback", err)
	}
	q := rest.Query("session_id", in.SessionID, "message_id", in.MessageID, "user", in.User, "since", in.Since, "before", in.Before,
		"min_rating", number(in.Least), "max_rating", number(in.Most))
	return rest.NewList(rows, q, in.Limit, next), nil
}

// number is a bound of the rating as a parameter, "" for none.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func (h *handlers) delete(ctx context.Context, in *deleteInput) (*struct{}, error) {
	if h.feedback == nil {
		return nil, h.api.Missing("feedback")
	}
	if err := h.feedback.Delete(ctx, in.ID); err != nil {
		return nil, h.api.About(ctx, "feedback", err)
	}
	return nil, nil
}
