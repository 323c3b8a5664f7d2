package store

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/p8-org/p8/telemetry"
)

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
