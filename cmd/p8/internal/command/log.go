package command

import (
	"log/slog"
	"slices"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/redact"
)

// Logger returns the log with the level and the format of the settings.
func (a *App) Logger(cfg *config.Config) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.LogLevel, ReplaceAttr: redacted(cfg.Redactor(config.RedactLogs))}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(a.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(a.Stderr, o))
}

// QuietLogger returns the log of commands that report errors themselves: it discards
// everything unless P8_LOG_LEVEL is set.
func (a *App) QuietLogger(cfg *config.Config) *slog.Logger {
	unasked := func(e config.Entry) bool { return e.Name == "P8_LOG_LEVEL" && e.Origin == "default" }
	if slices.ContainsFunc(cfg.Entries(), unasked) {
		return slog.New(slog.DiscardHandler)
	}
	return a.Logger(cfg)
}

// redacted returns what hides secrets in messages and values of a log, nil for nothing.
func redacted(r *redact.Redactor) func([]string, slog.Attr) slog.Attr {
	if r == nil {
		return nil
	}
	return func(_ []string, a slog.Attr) slog.Attr {
		switch a.Value.Kind() {
		case slog.KindString, slog.KindAny:
			// A value that is no text is logged as it is, unless its text has a secret.
			text := a.Value.String()
			if hidden := r.Text(text); hidden != text {
				a.Value = slog.StringValue(hidden)
			}
		}
		return a
	}
}
