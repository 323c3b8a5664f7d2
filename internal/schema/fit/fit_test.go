package fit_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/p8-org/p8/internal/schema/fit"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/strictapi"
)

// wires are the targets, each with a check of the provider's rules.
var wires = []struct {
	name   string
	target func() *fit.Target
	judge  func([]byte) error
}{
	{"openai", fit.OpenAI, strictapi.OpenAI},
	{"compatible", fit.Compatible, nil},
	{"anthropic", fit.Anthropic, strictapi.Anthropic},
	{"gemini", fit.Gemini, strictapi.Gemini},
	{"gemini-openapi", fit.GeminiOpenAPI, strictapi.GeminiOpenAPI},
}

// TestFit compares the fitted schemas of testdata for every provider. No provider refuses
// its own.
func TestFit(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no schemas", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			schema := strings.TrimSpace(string(archive.Files[0].Data))
			got := &txtar.Archive{Comment: archive.Comment, Files: archive.Files[:1]}
			for _, w := range wires {
				fitted, lost := w.target().Fit([]byte(schema))
				if w.judge != nil {
					if err := w.judge(fitted); err != nil {
						t.Errorf("%s refuses it: %v", w.name, err)
					}
				}
				text := string(fitted) + "\n"
				if string(fitted) == schema {
					text = "unchanged\n"
				}
				for _, l := range lost {
					text += fmt.Sprintf("lost %d /%s %s\n", l.Kind, strings.Join(l.Path, "/"), l.Keyword)
				}
				got.Files = append(got.Files, txtar.File{Name: w.name, Data: []byte(text)})
			}
			if golden.Update() {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); d != "" {
				t.Error(d)
			}
		})
	}
}

// hostile are schemas that grow, nest or refer without end.
func hostile() map[string]string {
	var doubling strings.Builder
	doubling.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range 20 {
		n, next := string(rune('a'+i))+"0", string(rune('a'+i+1))+"0"
		doubling.WriteString(`"` + n + `":{"type":"object","properties":{"l":{"$ref":"#/$defs/` + next + `"},"r":{"$ref":"#/$defs/` + next + `"}}},`)
	}
	doubling.WriteString(`"u0":{"type":"string"}}}`)
	var long, wide strings.Builder
	long.WriteString(`{"type":"object","properties":{`)
	wide.WriteString(`{"type":"object","properties":{`)
	for i := range 1000 {
		fmt.Fprintf(&long, `"p%d":{"$ref":"#/x/long"},`, i)
	}
	for i := range 6000 {
		fmt.Fprintf(&wide, `"p%d":{"type":"array"},`, i)
	}
	long.WriteString(`"z":{}},"x":{"long":{"type":"string","description":"` + strings.Repeat("x", 100_000) + `"}}}`)
	wide.WriteString(`"z":{}}}`)
	return map[string]string{
		"references that double":  doubling.String(),
		"a long target":           long.String(),
		"many properties":         wide.String(),
		"deep arrays":             strings.Repeat(`{"type":"array","items":`, 45) + `{}` + strings.Repeat(`}`, 45),
		"deeper than can be read": strings.Repeat(`{"type":"array","items":`, 100_000) + `{}` + strings.Repeat(`}`, 100_000),
		"deep lists":              `{"enum":` + strings.Repeat(`[`, 90) + strings.Repeat(`]`, 90) + `}`,
	}
}

func TestHostile(t *testing.T) {
	for name, schema := range hostile() {
		t.Run(name, func(t *testing.T) {
			for _, w := range wires {
				fitted, lost := w.target().Fit([]byte(schema))
				if len(fitted) > 3<<20 || !json.Valid(fitted) || len(lost) > 100 {
					t.Errorf("%s: %d bytes, %d losses", w.name, len(fitted), len(lost))
				}
				if w.judge != nil {
					if err := w.judge(fitted); err != nil {
						t.Errorf("%s refuses it: %v", w.name, err)
					}
				}
			}
		})
	}
}

// FuzzFit: the result is a JSON object for any schema.
func FuzzFit(f *testing.F) {
	f.Add(`{"$ref":"#","$defs":{"a":{"$ref":"#/$defs/a"}},"allOf":[{"$ref":"#"}]}`)
	f.Add(`{"type":["null"],"anyOf":[{"type":"null"}],"enum":[null,{}],"items":true,"required":[1],"properties":[]}`)
	f.Add(`{"type":"object"}0`)
	f.Add(`{"type":["array","string"],"items":[true,false],"additionalItems":false,"additionalProperties":[]}`)
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		if archive, err := txtar.ParseFile(file); err == nil {
			f.Add(string(archive.Files[0].Data))
		}
	}
	f.Fuzz(func(t *testing.T, schema string) {
		for _, w := range wires {
			got, _ := w.target().Fit([]byte(schema))
			if len(got) == 0 || !json.Valid(got) || strings.TrimSpace(string(got))[0] != '{' {
				t.Fatalf("%s: %q became %q", w.name, schema, got)
			}
		}
	})
}

// TestFitter: a schema is fitted once, also by concurrent calls, and a kept one costs
// nothing.
func TestFitter(t *testing.T) {
	f := fit.NewFitter(fit.OpenAI())
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"array"}}}`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 200 {
				f.Fit(json.RawMessage(fmt.Sprintf(`{"title":"%d %s"}`, i, strings.Repeat("x", 20_000))))
				if got := string(f.Fit(schema)); got != `{"type":"object","properties":{"a":{"type":"array","items":{}}}}` {
					t.Errorf("got %s", got)
				}
			}
		})
	}
	all.Wait()
	if n := testing.AllocsPerRun(10, func() { f.Fit(schema) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCheck(t *testing.T) {
	gaps := fit.Check([]byte(`{"type":"object","properties":{"a b":{"type":"string"},"list":{"type":"array","uniqueItems":true}},"anyOf":[{}]}`))
	var got []string
	for _, g := range gaps {
		got = append(got, fmt.Sprint(g.Kind, " /", strings.Join(g.Path, "/"), " ", g.Keyword, " ", g.Providers))
	}
	want := []string{
		"0 /properties/list items [OpenAI Gemini]", "2 / anyOf [OpenAI Anthropic]",
		"3 /properties/a b a b [Anthropic]", "1 /properties/list uniqueItems [Gemini]",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func BenchmarkFit(b *testing.B) {
	schema := []byte(`{"type":"object","properties":{"query":{"type":"string","description":"What to look for."},"limit":{"type":"integer","minimum":1,"maximum":100,"default":10},"kind":{"enum":["a","b"]}},"required":["query"],"additionalProperties":false}`)
	target := fit.Gemini()
	b.ReportAllocs()
	for b.Loop() {
		target.Fit(schema)
	}
}
