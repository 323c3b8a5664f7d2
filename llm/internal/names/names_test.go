package names_test

import (
	"testing"

	"github.com/p8-org/p8/llm/internal/names"
)

func TestOllamaURL(t *testing.T) {
	for host, want := range map[string]string{
		"":                          "http://127.0.0.1:11434",
		"0.0.0.0":                   "http://127.0.0.1:11434",
		"0.0.0.0:8080":              "http://127.0.0.1:8080",
		":8080":                     "http://127.0.0.1:8080",
		"gpu":                       "http://gpu:11434",
		"gpu:1":                     "http://gpu:1",
		"[::]:11434":                "http://127.0.0.1:11434",
		"[fe80::1]":                 "http://[fe80::1]:11434",
		"http://gpu:11434/":         "http://gpu:11434",
		"https://ollama.example":    "https://ollama.example",
		"https://example.com/a/b/ ": "https://example.com/a/b",
	} {
		if got := names.OllamaURL(host); got != want {
			t.Errorf("OllamaURL(%q) = %q, want %q", host, got, want)
		}
	}
}
