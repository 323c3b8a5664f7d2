package store

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/p8-org/p8/telemetry"
)

// observe begins the operation of a transaction, if the context has an operation that it is
// below: what the store does by itself is of no interest.
func (s *Store) observe(ctx context.Context, name string) (context.Context, *telemetry.Op) {
	if telemetry.From(ctx) == nil || !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, nil
	}
	ctx, op := telemetry.Start(ctx, telemetry.Database, name)
	op.String(telemetry.DBOperation, name)
	if s.engine.Dialect() == DialectPostgres {
		op.String(telemetry.DBSystem, "postgresql")
	} else {
		op.String(telemetry.DBSystem, "sqlite")
	}
	return ctx, op
}
