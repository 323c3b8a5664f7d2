package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/config"
)

// testApp is an app and its settings, with a data folder of its own.
func testApp(t testing.TB, stdout, stderr io.Writer, environ ...string) (*app, *config.Config) {
	t.Helper()
	a := &app{stdout: stdout, stderr: stderr, environ: append([]string{
		"P8_DATABASE_URL=sqlite:" + filepath.Join(t.TempDir(), "p8.db"), "HOME=" + t.TempDir(),
		"OLLAMA_HOST=127.0.0.1:1",
	}, environ...)}
	cfg, err := config.Load(config.Options{Environ: a.environ})
	if err != nil {
		t.Fatal(err)
	}
	return a, cfg
}

// openParts wires the parts of a test, with the provider as OpenAI.
func openParts(t testing.TB, a *app, cfg *config.Config, o wireOptions) *parts {
	t.Helper()
	o.Log = a.quietLogger(cfg)
	p, err := a.open(context.Background(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

// useProvider are the variables that make p the provider of openai.
func useProvider(p *provider, model string) []string {
	return []string{"OPENAI_BASE_URL=" + p.URL, "OPENAI_API_KEY=sk-test", "P8_DEFAULT_MODEL=" + model, quickExit}
}

// mustContain fails the test unless every text is in s.
func mustContain(t testing.TB, s string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(s, text) {
			t.Errorf("%q is missing in:\n%s", text, s)
		}
	}
}
