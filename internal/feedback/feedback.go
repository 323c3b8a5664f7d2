// Package feedback keeps what people say about answers, and sends it on to where the traces
// are: to Phoenix as an annotation, and as the result of an evaluation.
//
// A person rates an answer once; a second rating changes the first. Only who may read a session
// may rate its answers, and what is annotated is the span that p8 stored with the answer. Sending
// on is a durable job, which waits for a span that arrives late: nobody who rates waits for it.
package feedback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/phoenix"
	"github.com/p8-org/p8/store"
)

// Store has the rows. Implemented by *store.Store.
type Store interface {
	Session(ctx context.Context, id string) (store.Session, error)
	Message(ctx context.Context, id string) (store.Message, error)
	TracedMessage(ctx context.Context, traceID string) (string, error)
	ListFeedback(ctx context.Context, f store.FeedbackFilter) (page []store.Feedback, next string, err error)
	Feedback() store.Repository[store.Feedback]
}

// Queue runs jobs. Implemented by *jobs.Queue.
type Queue interface {
	Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error)
}

// Annotator keeps what is said about spans. Implemented by *phoenix.Client.
type Annotator interface {
	AnnotateSpans(ctx context.Context, list ...phoenix.Annotation) error
}

// Options configure a Service. Store is required.
type Options struct {
	Store Store
	// Queue is needed if there is an Annotator.
	Queue     Queue
	Annotator Annotator
	// Clean hides what must not leave p8, in each text that is sent on; nil hides nothing.
	Clean func(text string) string
	// Result reports each change of a rating as the result of an evaluation; nil reports none.
	Result func(ctx context.Context, e Evaluation)
	Logger *slog.Logger
}

// Service takes feedback.
type Service struct {
	o    Options
	gate gate
}

// New makes a Service.
func New(o Options) (*Service, error) {
	if o.Store == nil || o.Queue == nil && o.Annotator != nil {
		return nil, errors.New("feedback: a Service needs a store, and a queue to send feedback on")
	}
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Clean == nil {
		o.Clean = func(text string) string { return text }
	}
	return &Service{o: o}, nil
}

// The bounds of feedback.
const (
	MaxCategories = 20
	MaxCategory   = 64
	MaxComment    = 10_000
)

// InvalidError is feedback that cannot be taken; Field is the field that is wrong, by its name
// in JSON.
type InvalidError struct{ Field, Message string }

func (e *InvalidError) Error() string { return e.Message }

func invalid(field, format string, args ...any) error {
	return &InvalidError{field, fmt.Sprintf(format, args...)}
}

// check cleans the fields that the person chose.
func check(x *store.Feedback, rated bool) error {
	x.Comment = strings.TrimSpace(x.Comment)
	switch {
	case rated && x.Rating != -1 && (x.Rating < 1 || x.Rating > 5):
		return invalid("rating", "rating is %d; it is -1 (bad) or 1 (good), or 1 to 5", x.Rating)
	case !rated && x.Comment == "" && len(x.Categories) == 0:
		return invalid("rating", "there is no rating, no comment and no categories; send at least one of them")
	case len([]rune(x.Comment)) > MaxComment:
		return invalid("comment", "comment has more than %d characters", MaxComment)
	case len(x.Categories) > MaxCategories:
		return invalid("categories", "categories has %d entries; at most %d are allowed", len(x.Categories), MaxCategories)
	case x.SessionID == "" && x.MessageID == "" && x.TraceID == "":
		return invalid("message_id", "what is rated is missing: name a message_id, a session_id or a trace_id")
	}
	for i, c := range x.Categories {
		c = strings.TrimSpace(c)
		if c == "" || len([]rune(c)) > MaxCategory {
			return invalid("categories", "a category has 1 to %d characters", MaxCategory)
		}
		x.Categories[i] = c
	}
	return nil
}

var (
	traceForm = regexp.MustCompile(`^[0-9a-f]{32}$`)
	spanForm  = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// Rate stores the caller's feedback on a message, on the answer of a trace, or on a session as a
// whole. created is false if it replaces earlier feedback of the caller. rated is false for a
// comment without a rating. A session, message or trace that the caller may not read is
// store.ErrNotFound.
func (s *Service) Rate(ctx context.Context, x store.Feedback, rated bool) (_ store.Feedback, created bool, err error) {
	who, err := store.Writer(ctx)
	if err == nil {
		err = check(&x, rated)
	}
	if err == nil {
		err = s.locate(ctx, &x)
	}
	if err != nil {
		return x, false, err
	}
	x.ID = rowID(who, &x)
	rows := s.o.Store.Feedback()
	before, err := rows.Get(ctx, x.ID)
	if created = errors.Is(err, store.ErrNotFound); err != nil && !created {
		return x, false, err
	}
	if err := rows.Put(ctx, &x); err != nil {
		return x, false, err
	}
	if s.o.Result != nil && (created || !same(&before, &x)) {
		s.o.Result(ctx, s.evaluation(&x))
	}
	s.later(ctx, who, &x)
	return x, created, nil
}

// same reports whether a person says the same again.
func same(a, b *store.Feedback) bool {
	return a.Rating == b.Rating && a.Comment == b.Comment && slices.Equal(a.Categories, b.Categories)
}

// locate finds what is rated, and sets the ids to those that are stored: a caller cannot choose
// a span.
func (s *Service) locate(ctx context.Context, x *store.Feedback) (err error) {
	x.TraceID, x.SpanID = strings.ToLower(x.TraceID), strings.ToLower(x.SpanID)
	switch {
	case x.TraceID != "" && !traceForm.MatchString(x.TraceID):
		return invalid("trace_id", "trace_id is not 32 hexadecimal digits")
	case x.SpanID != "" && !spanForm.MatchString(x.SpanID):
		return invalid("span_id", "span_id is not 16 hexadecimal digits")
	case x.SpanID != "" && x.MessageID == "" && x.TraceID == "":
		return invalid("span_id", "a session as a whole has no span; leave span_id out, or name the message_id of an answer")
	}
	if x.MessageID == "" && x.TraceID != "" {
		if x.MessageID, err = s.o.Store.TracedMessage(ctx, x.TraceID); err != nil {
			return err
		}
	}
	if x.MessageID == "" {
		_, err = s.o.Store.Session(ctx, x.SessionID)
		return err
	}
	m, err := s.o.Store.Message(ctx, x.MessageID)
	switch {
	case err != nil:
		return err
	case x.SessionID != "" && x.SessionID != m.SessionID:
		return invalid("session_id", "the message is of another session; leave session_id out")
	}
	switch {
	case x.TraceID != "" && x.TraceID != m.TraceID:
		return invalid("trace_id", "the message is of another trace; leave trace_id out")
	case x.SpanID != "" && x.SpanID != m.SpanID:
		return invalid("span_id", "the message is of another span; leave span_id out")
	}
	x.SessionID, x.TraceID, x.SpanID = m.SessionID, m.TraceID, m.SpanID
	return nil
}

// rowID returns the id of the caller's row about a message or a session: there is one.
func rowID(who identity.Identity, x *store.Feedback) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("p8 feedback\n"+who.TenantID+"\n"+who.UserID+"\n"+x.SessionID+"\n"+x.MessageID)).String()
}

// List lists feedback: the caller's own, or the tenant's for an admin.
func (s *Service) List(ctx context.Context, f store.FeedbackFilter) ([]store.Feedback, string, error) {
	return s.o.Store.ListFeedback(ctx, f)
}

// Delete deletes the caller's feedback.
func (s *Service) Delete(ctx context.Context, id string) error {
	return s.o.Store.Feedback().Delete(ctx, id)
}
