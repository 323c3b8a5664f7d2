package models_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/models"
)

func TestNew(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "sekret", "OLLAMA_HOST": "0.0.0.0:9", "VLLM_BASE_URL": "http://gpu/v1"}
	tests := []struct {
		o          models.Options
		env        map[string]string
		want       string // the name, "" for none
		dimensions int
		err        string
	}{
		{o: models.Options{}, want: "offline:ngram-384", dimensions: 384},
		{o: models.Options{Model: " Offline "}, want: "offline:ngram-384", dimensions: 384},
		{o: models.Options{Model: "offline", Dimensions: 1536}, want: "offline:ngram-1536", dimensions: 1536},
		{o: models.Options{Model: "offline:ngram-512"}, want: "offline:ngram-512", dimensions: 512},
		{o: models.Options{Model: "offline:bert"}, err: "offline:ngram-N"},
		{o: models.Options{Model: "offline:ngram-9"}, err: "64 to 4096"},
		{o: models.Options{Model: "none"}, want: ""},
		{o: models.Options{Model: "openai:text-embedding-3-large"}, env: env, want: "openai:text-embedding-3-large", dimensions: 3072},
		{o: models.Options{Model: "text-embedding-3-small", Dimensions: 256}, env: env, want: "openai:text-embedding-3-small@256", dimensions: 256},
		{o: models.Options{Model: "openai:m"}, err: "set P8_EMBEDDING_API_KEY or P8_OPENAI_API_KEY"},
		{o: models.Options{Model: "openai:"}, env: env, err: "name the model too"},
		{o: models.Options{Model: "openai"}, env: env, err: "name the model too"},
		{o: models.Options{Model: "ollama:nomic-embed-text"}, want: "ollama:nomic-embed-text"},
		{o: models.Options{Model: "vllm:BAAI/bge-m3"}, env: env, want: "vllm:BAAI/bge-m3"},
		{o: models.Options{Model: "vllm:m"}, err: "set P8_EMBEDDING_BASE_URL or VLLM_BASE_URL"},
		{o: models.Options{Model: "mine:m", BaseURL: "http://localhost:1/v1"}, want: "mine:m"},
		{o: models.Options{Model: "mine:m"}, err: `the provider "mine" is unknown`},
		{o: models.Options{Model: "word2vec"}, err: "give offline, none, or provider:model"},
		{o: models.Options{Model: "openai:\x00"}, env: env, err: "printable"},
		{o: models.Options{Model: "openai:m", BaseURL: "ftp://x"}, env: env, err: "not an http or https URL"},
		{o: models.Options{Model: "openai:m", APIKey: "sek ret"}, err: "characters that no key has"},
	}
	for _, test := range tests {
		test.o.Getenv = func(name string) string { return test.env[name] }
		m, err := models.New(test.o)
		var e *embed.Error
		switch {
		case test.err != "":
			if !errors.As(err, &e) || e.Kind != embed.NoModel || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "sek") || m != nil {
				t.Errorf("%q: %v, want %q", test.o.Model, err, test.err)
			}
		case err != nil:
			t.Errorf("%q: %v", test.o.Model, err)
		case test.want == "":
			if m != nil {
				t.Errorf("%q: %v", test.o.Model, m.Name())
			}
		case m.Name() != test.want || m.Dimensions() != test.dimensions:
			t.Errorf("%q: %s with %d dimensions, want %s with %d", test.o.Model, m.Name(), m.Dimensions(), test.want, test.dimensions)
		}
	}
}

func TestMinSimilarity(t *testing.T) {
	for _, name := range []string{"offline", "ollama:all-minilm"} {
		own, err := models.New(models.Options{Model: name})
		if err != nil {
			t.Fatal(err)
		}
		set, err := models.New(models.Options{Model: name, MinSimilarity: 0.77})
		if err != nil {
			t.Fatal(err)
		}
		if own.MinSimilarity() <= 0 || set.MinSimilarity() != 0.77 || set.Name() != own.Name() {
			t.Errorf("%s: %v, then %v", name, own.MinSimilarity(), set.MinSimilarity())
		}
	}
}

// TestKeysStayAtHome: a provider's key is not sent to another base URL.
func TestKeysStayAtHome(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		_, _ = w.Write([]byte(`{"data":[{"embedding":[1,2]}]}`)) // the client reads it
	}))
	defer s.Close()
	env := map[string]string{"OPENAI_API_KEY": "provider", "OLLAMA_HOST": s.URL}
	for _, o := range []models.Options{
		{Model: "openai:m", BaseURL: s.URL + "/v1"},
		{Model: "openai:m", BaseURL: s.URL + "/v1", APIKey: "own"},
		{Model: "ollama:m"},
	} {
		o.Getenv, o.HTTPClient = func(name string) string { return env[name] }, s.Client()
		m, err := models.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.EmbedQuery(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	}
	if want := "|Bearer own|"; strings.Join(got, "|") != want {
		t.Errorf("sent %q, want %q", strings.Join(got, "|"), want)
	}
}
