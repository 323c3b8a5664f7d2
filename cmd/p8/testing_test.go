package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/config"
)

// testApp is an app and its settings, with a data folder of its own.
func testApp(t testing.TB, stdout, stderr io.Writer, environ ...string) (*command.App, *config.Config) {
	t.Helper()
	a := &command.App{Stdout: stdout, Stderr: stderr, Environ: append([]string{
		"P8_DATABASE_URL=sqlite:" + filepath.Join(t.TempDir(), "p8.db"), "HOME=" + t.TempDir(),
		"OLLAMA_HOST=127.0.0.1:1",
	}, environ...)}
	cfg, err := config.Load(config.Options{Environ: a.Environ})
	if err != nil {
		t.Fatal(err)
	}
	return a, cfg
}

// testParts wires the parts of a test, with the provider as OpenAI.
func testParts(t testing.TB, a *command.App, cfg *config.Config, o wiring.Options) *wiring.Parts {
	t.Helper()
	o.Log = a.QuietLogger(cfg)
	p, err := wiring.Open(context.Background(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
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
