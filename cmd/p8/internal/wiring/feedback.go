package wiring

import (
	"context"
	"errors"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/feedback"
	"github.com/p8-org/p8/internal/phoenix"
	"github.com/p8-org/p8/telemetry"
)

// openFeedback builds what takes feedback and sends it on.
func (p *Parts) openFeedback(cfg *config.Config) (err error) {
	o := feedback.Options{Store: p.Store, Queue: p.Work, Clean: cfg.SpanRedactor().Text, Result: evaluated, Logger: p.Log}
	if cfg.PhoenixURL != "" {
		client, err := phoenix.New(phoenix.Options{BaseURL: cfg.PhoenixURL, APIKey: cfg.PhoenixKey})
		if err != nil {
			return err
		}
		o.Annotator = client
	}
	if p.feedback, err = feedback.New(o); err != nil {
		return err
	}
	p.Work.kinds[feedback.Kind] = p.feedback.Worker()
	return nil
}

// Feedback returns what takes feedback.
func (p *Parts) Feedback() (*feedback.Service, error) {
	if p.feedback == nil {
		return nil, errors.New("feedback is stored in a database, and P8_DATABASE_URL=none stores nothing")
	}
	return p.feedback, nil
}

// evaluated records a rating as an evaluation in the trace of the request that rates, with a
// link to the span of the answer. It is not in the answer's trace: whether that was sampled is not
// known.
func evaluated(ctx context.Context, e feedback.Evaluation) {
	if e.TraceID == "" {
		return
	}
	_, op := telemetry.Start(ctx, telemetry.Evaluation, e.Name)
	op.Link(e.TraceID, e.SpanID)
	op.String(telemetry.EvaluationName, e.Name)
	if e.Score != nil {
		op.Float(telemetry.EvaluationScore, *e.Score)
	}
	if e.Label != "" {
		op.String(telemetry.EvaluationLabel, e.Label)
	}
	op.End(nil)
}
