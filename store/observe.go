package store

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/trace"

	"github.com/p8-org/p8/telemetry"
)

// failureOf returns err unless it is a result, about which the database did nothing wrong.
func failureOf(err error) error {
	for _, result := range []error{ErrNotFound, ErrInvalid, ErrConflict, ErrForbidden} {
		if errors.Is(err, result) {
			return nil
		}
	}
	return err
}

// observe begins the operation of a transaction. It has a span only below another one: what the
// store does by itself is of no interest in a trace.
func (s *Store) observe(ctx context.Context, name string) (context.Context, *telemetry.Op) {
	if telemetry.From(ctx) == nil {
		return ctx, nil
	}
	var op *telemetry.Op
	if trace.SpanContextFromContext(ctx).IsValid() {
		ctx, op = telemetry.Start(ctx, telemetry.Database, name)
	} else {
		op = telemetry.Measure(ctx, telemetry.Database)
	}
	op.String(telemetry.DBOperation, name)
	if s.engine.Dialect() == DialectPostgres {
		op.String(telemetry.DBSystem, "postgresql")
	} else {
		op.String(telemetry.DBSystem, "sqlite")
	}
	return ctx, op
}
