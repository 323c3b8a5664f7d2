package command

import (
	"log/slog"
	"slices"

	"github.com/p8-org/p8/internal/config"
)

// Logger is the log as the settings want it.
func (a *App) Logger(cfg *config.Config) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(a.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(a.Stderr, o))
}

// QuietLogger is that of verbs for people, who get one line for an error: it
// says nothing unless a level was asked for.
func (a *App) QuietLogger(cfg *config.Config) *slog.Logger {
	unasked := func(e config.Entry) bool { return e.Name == "P8_LOG_LEVEL" && e.Origin == "default" }
	if slices.ContainsFunc(cfg.Entries(), unasked) {
		return slog.New(slog.DiscardHandler)
	}
	return a.Logger(cfg)
}
