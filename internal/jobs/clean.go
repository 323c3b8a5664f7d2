package jobs

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxError is the longest stored error, in bytes.
const maxError = 500

// credentials match the passwords of URLs, bearer tokens and keys, which must not be
// stored with a worker's error.
var credentials = regexp.MustCompile(`(?i)(://[^/\s:@]*:)[^@\s]+(@)|(\bbearer\s+)[^\s"',]+|((?:password|passwd|secret|token|api[_-]?key)["']?\s*[=:]\s*["']?)[^\s"'&,;]+|\b(sk-)[a-z0-9_-]{8,}`)

// clean is an error's text as it may be stored and shown: one line, short,
// without credentials.
func clean(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)), " ")
	text = credentials.ReplaceAllString(text, "$1$3$4$5********$2")
	if len(text) <= maxError {
		return text
	}
	end := maxError
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// quiet logs River's errors only. The runner logs the failures of jobs.
func quiet(l *slog.Logger) *slog.Logger { return slog.New(errorsOnly{l.Handler()}) }

type errorsOnly struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h errorsOnly) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError && h.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler. It drops the errors of jobs that Close cancels.
func (h errorsOnly) Handle(ctx context.Context, r slog.Record) error {
	stopped := strings.Contains(r.Message, context.Canceled.Error())
	r.Attrs(func(a slog.Attr) bool {
		stopped = stopped || strings.Contains(a.Value.String(), context.Canceled.Error())
		return !stopped
	})
	if stopped {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h errorsOnly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return errorsOnly{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h errorsOnly) WithGroup(name string) slog.Handler { return errorsOnly{h.Handler.WithGroup(name)} }
