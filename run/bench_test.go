package run_test

import (
	"testing"

	"p8/llm/scripted"
	"p8/run"
	"p8/tool"
)

func benchmark(b *testing.B, turns []scripted.Turn, tools ...tool.Tool) {
	m := scripted.NewWith(scripted.Options{Repeat: true}, turns...)
	o := options(b, talker, m, tools...)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range run.Stream(b.Context(), o) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkTextRun(b *testing.B) {
	benchmark(b, []scripted.Turn{scripted.Text("Hello", " there")})
}

func BenchmarkOneToolRun(b *testing.B) {
	benchmark(b, []scripted.Turn{scripted.Call("echo", `{"text":"x"}`), scripted.Text("done")}, echo(b, "echo"))
}

// BenchmarkTextChunk shows what one more chunk of text costs.
func BenchmarkTextChunk(b *testing.B) {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = "chunk "
	}
	benchmark(b, []scripted.Turn{scripted.Text(texts...)})
}
