package command

import (
	"errors"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/config"
)

func TestLogHasNoSecrets(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		cfg, err := config.Load(config.Options{Environ: []string{"P8_DATA_DIR=" + t.TempDir(), "P8_REDACT=personal", "P8_LOG_FORMAT=" + format}})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		a := &App{Stderr: &out}
		a.Logger(cfg).With("user", "sarah@example.com").WithGroup("g").Warn("mail to ole@example.com failed", "error", errors.New("no +47 123 45 678"), "n", 12)
		if got := out.String(); strings.Contains(got, "@") || strings.Contains(got, "+47") || !strings.Contains(got, "[email]") || !strings.Contains(got, "12") {
			t.Errorf("%s: %s", format, got)
		}
	}
}
