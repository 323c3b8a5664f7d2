package openai_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
	"github.com/p8-org/p8/llm/openai"
)

// TestAnOperatorReadsTheProvidersWords: in the log and below the request of --debug,
// without the key; the error itself stays safe.
func TestAnOperatorReadsTheProvidersWords(t *testing.T) {
	var lines []string
	m := model(t, openai.Options{
		Debug: func(b []byte) { lines = append(lines, string(b)) },
		HTTPClient: wiretest.Client(func(*http.Request) (*http.Response, error) {
			return wiretest.Answer(403, `{"error":{"message":"Project `+key+` is archived"}}`), nil
		}),
	})
	_, err := wiretest.Collect(t.Context(), m, wiretest.Hello())
	var e *llm.Error
	if !errors.As(err, &e) || e.Words != "Project [removed] is archived" || strings.Contains(err.Error(), "archived") {
		t.Errorf("%+v", e)
	}
	if said := llm.Said(err); !said.Equal(slog.String("provider_said", "Project [removed] is archived")) {
		t.Errorf("the log gets %v", said)
	}
	if said := llm.Said(errors.New("x")); !said.Equal(slog.Attr{}) {
		t.Errorf("the log gets %v of another error", said)
	}
	if len(lines) != 2 || lines[1] != `{"refused":403,"provider_said":"Project [removed] is archived"}` {
		t.Errorf("--debug shows %q", lines)
	}
}
