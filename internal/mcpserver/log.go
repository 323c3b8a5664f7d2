package mcpserver

import (
	"context"
	"log/slog"
)

// demoted lowers every record to debug: the SDK's log of connections does not concern
// an operator.
type demoted struct{ slog.Handler }

func demote(log *slog.Logger) *slog.Logger { return slog.New(demoted{log.Handler()}) }

// Enabled reports whether debug is enabled.
func (d demoted) Enabled(ctx context.Context, _ slog.Level) bool {
	return d.Handler.Enabled(ctx, slog.LevelDebug)
}

// Handle writes the record as debug.
func (d demoted) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return d.Handler.Handle(ctx, r)
}

// WithAttrs keeps the level.
func (d demoted) WithAttrs(attrs []slog.Attr) slog.Handler {
	return demoted{d.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the level.
func (d demoted) WithGroup(name string) slog.Handler { return demoted{d.Handler.WithGroup(name)} }
