package models

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
)

// load is the embedded table, corrected by a file of the given text.
func load(t testing.TB, src string) (*Table, error) {
	t.Helper()
	if src == "" {
		return Load(Options{})
	}
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := Load(Options{File: file})
	return table, shorten(err, filepath.Dir(file)+string(filepath.Separator))
}

// shorten takes the folder of the test out of an error.
func shorten(err error, dir string) error {
	if err == nil {
		return nil
	}
	return text(strings.ReplaceAll(err.Error(), dir, ""))
}

type text string

func (t text) Error() string { return string(t) }

func must(t testing.TB, src string) *Table {
	t.Helper()
	table, err := load(t, src)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestNames(t *testing.T) {
	table := must(t, "")
	for name, want := range map[string]string{
		"openai:gpt-4.1":                       "openai:gpt-4.1*",
		"openai:gpt-4.1-2025-04-14":            "openai:gpt-4.1*",
		"openai:gpt-4.1-mini-2025-04-14":       "openai:gpt-4.1-mini*",
		"openai:gpt-4o-2024-05-13":             "openai:gpt-4o-2024-05-13",
		"openai:gpt-4o-mini-2024-07-18":        "openai:gpt-4o-mini*",
		"openai:gpt-5":                         "openai:gpt-5",
		"openai:gpt-5-2025-08-07":              "openai:gpt-5-2*",
		"openai:gpt-5-mini":                    "openai:gpt-5-mini*",
		"openai:gpt-5.1-chat-latest":           "openai:gpt-5.1-chat*",
		"openai:gpt-9":                         "",
		"openai-responses:gpt-5-pro":           "openai:gpt-5-pro*",
		"azure:gpt-4o-mini":                    "openai:gpt-4o-mini*",
		"azure:our-deployment":                 "",
		"o3":                                   "openai:o3",
		"gpt-4.1-nano":                         "openai:gpt-4.1-nano*",
		"OpenAI:o4-mini":                       "openai:o4-mini*",
		"anthropic:claude-sonnet-4-5-20250929": "anthropic:claude-sonnet-4-5*",
		"anthropic:claude-sonnet-4-20250514":   "anthropic:claude-sonnet-4-2*",
		"claude:claude-3-5-haiku-latest":       "anthropic:claude-3-5-haiku*",
		"claude-opus-4-5":                      "anthropic:claude-opus-4-5*",
		"claude-opus-5":                        "anthropic:claude-opus-5",
		"claude-opus-5-5":                      "anthropic:claude-opus-5-5*",
		"claude-opus-6":                        "",
		"claude-mythos-5-1":                    "anthropic:claude-mythos-5-1",
		"claude-mythos-5-2":                    "",
		"openai:gpt-5.5-2026-04-23":            "openai:gpt-5.5-20*",
		"openai:gpt-5.6-cyber":                 "",
		"openai-responses:gpt-6.1-sol":         "openai:gpt-6.1-sol*",
		"gemini-3.8-flash-tts":                 "",
		"google-gla:gemini-2.5-pro":            "gemini:gemini-2.5-pro*",
		"google:gemini-2.5-flash-lite":         "gemini:gemini-2.5-flash-lite*",
		"google-vertex:gemini-2.5-flash-001":   "gemini:gemini-2.5-flash*",
		"gemini-3.1-pro-preview":               "gemini:gemini-3.1-pro*",
		"deepseek:deepseek-v4-pro":             "deepseek:deepseek-v4-pro*",
		"ollama:qwen3:8b":                      "ollama:*",
		"offline:search":                       "offline:*",
		"nobody:x":                             "",
		"":                                     "",
		"llama3":                               "",
	} {
		if info, ok := table.Info(name); info.Name != want || ok != (want != "") {
			t.Errorf("%s is %q (%v), want %q", name, info.Name, ok, want)
		}
	}
}

func TestCost(t *testing.T) {
	table := must(t, `
as_of: 2026-02-01
models:
  - name: mine:plain
    price: {input: 2, output: 8}
  - name: mine:cached
    price: {input: 2, cached: 0, cache_write: 4, output: 8}
  - name: mine:long
    price: {input: 1, output: 1}
    long: {above: 1000, input: 3, cached: 2, output: 5}
  - name: mine:unpriced
    context: 5
`)
	for _, tt := range []struct {
		model string
		usage llm.Usage
		want  float64
	}{
		{"mine:plain", llm.Usage{Input: 1e6}, 2},
		{"mine:plain", llm.Usage{Input: 1e6, Cached: 4e5, CacheWrite: 1e5, Output: 1e6, Reasoning: 5e5}, 10},
		{"mine:cached", llm.Usage{Input: 1e6, Cached: 4e5, CacheWrite: 1e5, Output: 1e6}, 1 + 0.4 + 8},
		{"mine:cached", llm.Usage{Input: 1, Cached: 1e6}, 0}, // a provider that counts otherwise
		{"mine:long", llm.Usage{Input: 1000, Output: 1000}, 0.002},
		{"mine:long", llm.Usage{Input: 2000, Cached: 1000, Output: 1000}, 0.003 + 0.002 + 0.005},
		{"mine:unpriced", llm.Usage{Input: 1e6}, 0},
		{"nobody:x", llm.Usage{Input: 1e6}, 0},
		{"ollama:qwen3", llm.Usage{Input: 1e6, Output: 1e6}, 0},
		{"openai:gpt-4.1-2025-04-14", llm.Usage{Input: 1e6, Cached: 5e5, Output: 1e6}, 1 + 0.25 + 8},
		{"anthropic:claude-sonnet-4-5", llm.Usage{Input: 1e5, Cached: 5e4, CacheWrite: 1e4, Output: 1e4}, 0.12 + 0.015 + 0.0375 + 0.15},
		{"anthropic:claude-sonnet-4-5", llm.Usage{Input: 1e5, CacheWrite: 2e4, CacheHour: 1e4}, 0.24 + 0.0375 + 0.06}, // an hour costs twice the input
		{"gemini:gemini-2.5-pro", llm.Usage{Input: 3e5, Output: 1e4}, 0.75 + 0.15},
		{"anthropic:claude-haiku-5-5", llm.Usage{Input: 1e5, Cached: 5e4, Output: 1e4}, 0.005 + 0.0005 + 0.005},
		{"anthropic:claude-haiku-5-5", llm.Usage{Input: 2e5, Cached: 1e5, CacheWrite: 1e5, Output: 1e4}, 0.005 + 0.0625 + 0.025},
		{"gemini:gemini-flash-latest", llm.Usage{Input: 1e6}, 0}, // a name that moves has no price
	} {
		if got := table.Cost(tt.model, tt.usage); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s %+v costs %v, want %v", tt.model, tt.usage, got, tt.want)
		}
	}
	if info, _ := table.Info("mine:unpriced"); info.Priced || info.AsOf != "2026-02-01" {
		t.Errorf("%+v", info)
	}
	if info, _ := table.Info("ollama:qwen3"); !info.Priced {
		t.Error("a model of one's own has a price: nothing")
	}
}

// A row of the file says what it says; the rest stays.
func TestFileCorrectsAndExtends(t *testing.T) {
	table := must(t, `
models:
- name: "openai:gpt-4.1*"
  price: {input: 9, output: 10}
- name: openai:gpt-4.1-mini-acme
  also: ["google:gemini-2.5-pro*", azure:our-deployment]
  context: 5
  can: [tools]
`)
	old := must(t, "")
	before, _ := old.Info("openai:gpt-4.1")
	after, _ := table.Info("openai:gpt-4.1")
	before.Price, before.AsOf = Price{Input: 9, Cached: 9, CacheWrite: 9, Output: 10}, ""
	if after != before {
		t.Errorf("got %+v\nwant %+v", after, before)
	}
	mini, _ := old.Info("openai:gpt-4.1-mini")
	acme, _ := table.Info("openai:gpt-4.1-mini-acme")
	if acme.Context != 5 || acme.Price != mini.Price || acme.Output != mini.Output || acme.Images || !acme.Tools {
		t.Errorf("a new name starts from what it meant before: %+v", acme)
	}
	if got, _ := table.Info("google-gla:gemini-2.5-pro"); got.Context != 5 || got.LongAbove != 200000 {
		t.Errorf("an alias in the file: %+v", got)
	}
	if got, ok := table.Info("azure:our-deployment"); !ok || got.Priced {
		t.Errorf("a deployment of one's own: %+v", got)
	}
	if len(table.List()) != len(old.List())+2 {
		t.Errorf("%d rows, %d before", len(table.List()), len(old.List()))
	}
	long := must(t, "models:\n- name: gemini:gemini-2.5-pro*\n  price: {input: 1, output: 1}\n")
	if got, _ := long.Info("gemini:gemini-2.5-pro"); got.LongAbove != 0 {
		t.Error("the old price of long requests is left beside a new price")
	}
}

func TestWhatIsWrongIsToldWithItsPlace(t *testing.T) {
	for src, want := range map[string]string{
		"models: [":                             "mine.yaml:1:9: this is not valid YAML",
		"# nothing":                             "mine.yaml:1:1: the file is a mapping: write as_of and models below it",
		"as_of: x":                              "mine.yaml:1:8: as_of is not a day: write it as 2025-12-31",
		"as_of: 2025-01-01":                     "mine.yaml:1:1: there are no models: write a list named models",
		"modells: []":                           `mine.yaml:1:1: the file has no "modells": it knows as_of and models`,
		"models: {a: b}":                        "mine.yaml:1:9: models is a list: write each entry after a dash",
		"models:\n- a":                          "mine.yaml:2:3: a model is a mapping: write name, also, context, output, price, long and can below it",
		"models:\n- context: 5":                 "mine.yaml:2:3: this model has no name: write name: provider:model",
		"models:\n- name: gpt-4.1":              "mine.yaml:2:9: this is not the name of a model: write provider:model, such as openai:gpt-4.1*",
		"models:\n- name: 5":                    "mine.yaml:2:9: this is not the name of a model",
		"models:\n- name: a:b*c":                "mine.yaml:2:9: a star stands only at the end of a name",
		"models:\n- name: a:b\n- name: A:b":     "mine.yaml:3:9: a:b is in this file already: put the two together",
		"models:\n- name: a:b\n  contxt: 5":     `mine.yaml:3:3: a model has no "contxt": it knows name, also,`,
		"models:\n- name: a:b\n  context: many": "mine.yaml:3:12: context is not a number from 1 to 1000000000: write one",
		"models:\n- name: a:b\n  context:":      "context is not a number",
		"models:\n- name: a:b\n  price: 5":      "mine.yaml:3:10: price is a mapping: write input, cached, cache_write and output below it",
		"models:\n- name: a:b\n  price: {input: -1, output: 1}":   "mine.yaml:3:18: input is not a number from 0 to 100000: write one",
		"models:\n- name: a:b\n  price: {input: .nan, output: 1}": "mine.yaml:3:18: input is not a number",
		"models:\n- name: a:b\n  price: {input: 1}":               "mine.yaml:3:10: a price has input and output: add the one that is missing",
		"models:\n- name: a:b\n  long: {input: 1, output: 1}":     "mine.yaml:3:9: long needs the price of shorter requests beside it: add price\nmine.yaml:3:9: long does not say for which requests",
		"models:\n- name: a:b\n  can: [fly]":                      "mine.yaml:3:9: can knows images, documents, tools, reasoning and native_output: take one of them",
		"models:\n- name: a:b\n  context: 1\n  context: 2":        "mine.yaml:4:3: this is not valid YAML: mapping key \"context\" already defined",
		"models: []\n---\nmodels: []":                             "mine.yaml:3:1: a second document begins here: put all models into one list",
		"models: &a []":                                           "mine.yaml:1:9: anchors, aliases and tags are not taken: write the value out",
		"models: " + strings.Repeat("[", 1000):                    "this is nested too deep: make it flatter",
		"models:\n" + strings.Repeat("- 5\n", 100):                "mine.yaml:21:3: a model is",
	} {
		_, err := load(t, src)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q:\ngot  %v\nwant %s", src, err, want)
		}
		if err != nil && strings.Count(err.Error(), "\n") >= maxProblems {
			t.Errorf("%.60q: more than %d problems", src, maxProblems)
		}
	}
	if _, err := Load(Options{File: filepath.Join(t.TempDir(), "none.yaml")}); err == nil || !strings.Contains(err.Error(), "P8_MODELS_FILE") {
		t.Errorf("no file: %v", err)
	}
	if _, err := load(t, strings.Repeat("#", maxFile+1)); err == nil || !strings.Contains(err.Error(), "mine.yaml is larger than 512 KiB") {
		t.Errorf("a large file: %v", err)
	}
}

// The embedded table says something about every model in it.
func TestEmbeddedTable(t *testing.T) {
	all := must(t, "").List()
	if len(all) < 70 || !slices.IsSortedFunc(all, func(a, b Info) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d rows, or not sorted", len(all))
	}
	for _, i := range all {
		own := i.Price == Price{}
		switch {
		case i.AsOf == "":
			t.Errorf("%s has no day", i.Name)
		case i.Priced && own != strings.HasSuffix(i.Name, ":*"):
			t.Errorf("%s costs %+v", i.Name, i.Price)
		case i.Priced && !own && (i.Price.Cached > i.Price.Input || i.Price.CacheWrite < i.Price.Input || i.Price.Output < i.Price.Input):
			t.Errorf("%s has an odd price: %+v", i.Name, i.Price)
		case i.LongAbove > 0 && (i.Long.Input <= i.Price.Input || i.Long.Output <= i.Price.Output):
			t.Errorf("%s is cheaper for long requests", i.Name)
		case !own && (i.Context == 0 || i.Output > i.Context):
			t.Errorf("%s reads %d and writes %d", i.Name, i.Context, i.Output)
		}
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	table := must(t, "")
	for _, name := range []string{"openai:gpt-4.1-mini-2025-04-14", "google-gla:gemini-2.5-pro", "azure:gpt-4o", "claude-sonnet-4-5", "nobody:x"} {
		if n := testing.AllocsPerRun(100, func() { table.Cost(name, llm.Usage{Input: 1}); table.Info(name) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkCost(b *testing.B) {
	table := must(b, "")
	b.ReportAllocs()
	for b.Loop() {
		table.Cost("openai:gpt-4.1-mini-2025-04-14", llm.Usage{Input: 1000, Output: 100})
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		must(b, "")
	}
}

func FuzzFile(f *testing.F) {
	f.Add(embedded[len(embedded)-400:])
	for _, seed := range []string{
		"", "as_of: 2025-12-31\nmodels:\n- name: a:b*\n  also: [c:d]\n  context: 5\n  price: {input: 1, output: .inf}\n  long: {above: 5, input: 1, output: 1}\n  can: [tools]\n",
		"models:\n- {name: !!str a, price: ~}", "? a\n: b", "models: [- - -]", "a: |\n  b", "{}", "models:\n- name: |\n    a:b\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		found, err := parse("f.yaml", src)
		if err != nil && found != nil {
			t.Errorf("rows beside an error: %v", err)
		}
		table := &Table{providers: map[string]*rows{}}
		if table.add("f.yaml", src) != nil {
			return
		}
		for _, i := range table.List() {
			if c := table.Cost(i.Name, llm.Usage{Input: 1e6, Output: 1e6}); c < 0 || math.IsNaN(c) || math.IsInf(c, 0) {
				t.Errorf("%s costs %v", i.Name, c)
			}
			if _, ok := table.Info(i.Name); !ok {
				t.Errorf("%s is not found", i.Name)
			}
		}
	})
}
