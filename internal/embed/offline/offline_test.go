package offline_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/offline"
)

var update = flag.Bool("update", false, "write the golden files anew")

func model(t testing.TB) *offline.Model {
	t.Helper()
	m, err := offline.New(offline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// samples are texts of many kinds for the golden file.
var samples = []string{
	"p8 turns documents into agents.",
	"one one one two two three",
	"Übergrößenträger straße ÉCOLE",
	"ﬁne print, Ｆｕｌｌｗｉｄｔｈ, x²",
	"Где хранятся беседы?",
	"データベースを変更するには",
	"如何更改数据库？ use p8",
	"ฐานข้อมูลของฉัน",
	"كيف أغير قاعدة البيانات",
	"naïve café 🎉 don't",
	"a", "x y z", "42",
	"https://example.com/a/b?c=d&e=f user_name camelCase",
	strings.Repeat("0123456789abcdef", 10),
	strings.Repeat("long text ", 10_000),
	"broken \xff\xfe bytes",
}

// TestGolden: databases keep vectors, so the vectors of a model name must not change.
func TestGolden(t *testing.T) {
	m := model(t)
	var b strings.Builder
	for _, text := range samples {
		v := vector(t, m, text)
		h := sha256.New()
		_ = binary.Write(h, binary.LittleEndian, v) // a hash takes everything
		fmt.Fprintf(&b, "%.40q %x", text, h.Sum(nil)[:8])
		shown := 0
		for i, x := range v {
			if x != 0 && shown < 4 {
				fmt.Fprintf(&b, " %d:%.5f", i, x)
				shown++
			}
		}
		b.WriteByte('\n')
	}
	const file = "testdata/vectors.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the vectors of %s have changed: give the model another name.\ngot\n%s\nwant\n%s", m.Name(), b.String(), want)
	}
}

// TestNearness: texts that share words are nearer than texts that do not.
func TestNearness(t *testing.T) {
	m := model(t)
	tests := []struct{ text, near, far string }{
		{"database migration", "migrating databases", "a walk in the park"},
		{"Sarah Chen", "meeting with sarah chen about budgets", "meeting with tom about budgets"},
		{"STRASSE", "strasse", "gasse"},
		{"Größe", "GRÖSSE größe", "kleine"},
		{"ﬁle", "file", "pile"},
		{"données", "la base de données", "la base de calcul"},
		{"数据库", "如何更改数据库", "如何更改密码"},
		{"миграция базы", "миграции баз данных", "прогулка в парке"},
		{"config", "configuration", "confetti party"},
		{"state machine", "the state machine", "machine of another state"},
	}
	for _, test := range tests {
		v := vector(t, m, test.text)
		near, far := cosine(v, vector(t, m, test.near)), cosine(v, vector(t, m, test.far))
		if near <= far || near < m.MinSimilarity() {
			t.Errorf("%q: %.3f to %q, %.3f to %q", test.text, near, test.near, far, test.far)
		}
	}
}

func TestEveryVectorIsUsable(t *testing.T) {
	m := model(t)
	for _, r := range m.Embed(t.Context(), samples) {
		if r.Err != nil || len(r.Vector) != m.Dimensions() || math.Abs(cosine(r.Vector, r.Vector)-1) > 1e-5 {
			t.Errorf("%v, %d numbers", r.Err, len(r.Vector))
		}
	}
	for _, text := range []string{"", " \n", "?!…", "🎉"} {
		if _, err := m.EmbedQuery(t.Context(), text); !errors.Is(err, embed.ErrEmpty) {
			t.Errorf("%q: %v, want ErrEmpty", text, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.EmbedQuery(ctx, "text"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestDimensions(t *testing.T) {
	for n, want := range map[int]string{0: "offline:ngram-384", 64: "offline:ngram-64", 1536: "offline:ngram-1536", 63: "", 4097: "", -1: ""} {
		m, err := offline.New(offline.Options{Dimensions: n})
		switch {
		case want == "":
			if err == nil || !strings.Contains(err.Error(), "64 to 4096") {
				t.Errorf("%d: %v", n, err)
			}
		case err != nil || m.Name() != want || len(vector(t, m, "text")) != m.Dimensions():
			t.Errorf("%d: %v, %v", n, m, err)
		}
	}
}

// TestConcurrent: a vector does not depend on other texts that are embedded at the same
// time.
func TestConcurrent(t *testing.T) {
	m := model(t)
	want := m.Embed(t.Context(), samples)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range samples {
				i = len(samples) - 1 - i
				if v := vector(t, m, samples[i]); fmt.Sprint(v) != fmt.Sprint(want[i].Vector) {
					t.Errorf("%.40q has another vector", samples[i])
				}
			}
		})
	}
	wg.Wait()
}

func FuzzEmbed(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
	m := model(f)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := m.EmbedQuery(t.Context(), text)
		if err != nil {
			if !errors.Is(err, embed.ErrEmpty) {
				t.Fatal(err)
			}
			return
		}
		if d := cosine(v, v); math.Abs(d-1) > 1e-4 {
			t.Errorf("length %v", d)
		}
	})
}
