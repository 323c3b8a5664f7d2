package llm_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
)

// played is a scripted model with a name and abilities of its own.
type played struct {
	*scripted.Model
	name string
	able llm.Capabilities
}

func (p played) Name() string                   { return p.name }
func (p played) Capabilities() llm.Capabilities { return p.able }

func play(name string, turns ...scripted.Turn) played {
	return played{scripted.New(turns...), name, llm.Capabilities{NativeOutput: true}}
}

// told is what a stream yields, a word a chunk.
func told(ctx context.Context, m llm.Model, req *llm.Request) (words []string, err error) {
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			return words, err
		}
		switch c.Kind {
		case llm.ChunkText, llm.ChunkReasoning:
			words = append(words, c.Text)
		case llm.ChunkToolCall:
			words = append(words, "call "+c.Name)
		case llm.ChunkWarning:
			words = append(words, "warning "+c.Name)
		case llm.ChunkModel:
			words = append(words, "model "+c.Name+": "+c.Text)
		case llm.ChunkUsage:
			words = append(words, "usage")
		}
	}
	return words, nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestFallback(t *testing.T) {
	limited := &llm.Error{Kind: llm.RateLimit, Model: "one:a", Status: 429, Hint: "wait"}
	refused := &llm.Error{Kind: llm.BadRequest, Model: "one:a"}
	warning := llm.Chunk{Kind: llm.ChunkWarning, Name: "setting_dropped"}
	usage := llm.Chunk{Kind: llm.ChunkUsage, Usage: llm.Usage{Input: 7}}
	took := "model two:b: the model one:a is rate limited (status 429)"
	tests := []struct {
		name       string
		first      scripted.Turn
		second     []scripted.Turn
		want       []string
		err        error
		answeredBy string
	}{
		{"the first answers", scripted.Text("hello"), nil, []string{"hello"}, nil, "one:a"},
		{"limited", scripted.Fail(limited), []scripted.Turn{scripted.Text("hello")}, []string{took, "hello"}, nil, "two:b"},
		{"unavailable", scripted.Fail(&llm.Error{Kind: llm.Unavailable, Model: "one:a"}), []scripted.Turn{scripted.Text("hello")},
			[]string{"model two:b: the model one:a is unavailable", "hello"}, nil, "two:b"},
		{"timeout", scripted.Fail(&llm.Error{Kind: llm.Timeout, Model: "one:a"}), []scripted.Turn{scripted.Text("hello")},
			[]string{"model two:b: the model one:a did not answer in time", "hello"}, nil, "two:b"},
		{"refused", scripted.Fail(refused), nil, nil, refused, "one:a"},
		{"after text", scripted.Turn{Text: []string{"hel"}, Err: limited}, nil, []string{"hel"}, limited, "one:a"},
		{"after reasoning", scripted.Turn{Reasoning: []string{"hm"}, Err: limited}, nil, []string{"hm"}, limited, "one:a"},
		{"after a call", scripted.Turn{Calls: []llm.ToolCall{{Name: "search"}}, Err: limited}, nil, []string{"call search"}, limited, "one:a"},
		{"warning of the one that failed", scripted.Turn{Chunks: []llm.Chunk{warning}, Err: limited}, []scripted.Turn{scripted.Text("hello")}, []string{took, "hello"}, nil, "two:b"},
		{"usage of the one that failed", scripted.Turn{Chunks: []llm.Chunk{warning, usage}, Err: limited}, []scripted.Turn{scripted.Text("hello")}, []string{"usage", took, "hello"}, nil, "two:b"},
		{"warning of the one that answers", scripted.Fail(limited), []scripted.Turn{{Chunks: []llm.Chunk{warning, {Kind: llm.ChunkText, Text: "hello"}}}}, []string{took, "warning setting_dropped", "hello"}, nil, "two:b"},
		{"warning of the one that is refused", scripted.Turn{Chunks: []llm.Chunk{warning}, Err: refused}, nil, []string{"warning setting_dropped"}, refused, "one:a"},
		{"both fail", scripted.Fail(limited), []scripted.Turn{scripted.Fail(down)}, []string{took}, down, "two:b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := play("one:a", tt.first), play("two:b", tt.second...)
			m := llm.NewFallback(llm.FallbackOptions{Models: []llm.Model{a, b}, Logger: quiet()})
			got, err := told(t.Context(), m, &llm.Request{})
			if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
				t.Errorf("got %q, %v\nwant %q, %v", got, err, tt.want, tt.err)
			}
			if m.Name() != tt.answeredBy {
				t.Errorf("%s answers, want %s", m.Name(), tt.answeredBy)
			}
			a.AssertDone(t)
			b.AssertDone(t)
		})
	}
}

func TestFallbackStaysWithWhoeverTookOver(t *testing.T) {
	a, b, c := play("one:a", scripted.Fail(down)), play("two:b", scripted.Text("1"), scripted.Fail(down)), play("three:c", scripted.Text("2"), scripted.Text("3"))
	m := llm.NewFallback(llm.FallbackOptions{Models: []llm.Model{a, b, c}, Logger: quiet()})
	for _, want := range []string{"two:b", "three:c", "three:c"} {
		if _, err := told(t.Context(), m, &llm.Request{}); err != nil || m.Name() != want {
			t.Fatalf("%s answered, %v; want %s", m.Name(), err, want)
		}
	}
	for _, p := range []played{a, b, c} {
		p.AssertDone(t)
	}
}

func TestFallbackAsksAllButTheLastOnce(t *testing.T) {
	a, b := play("one:a", scripted.Fail(down)), play("two:b", scripted.Text("hello"))
	m := llm.NewFallback(llm.FallbackOptions{Models: []llm.Model{a, b}, Logger: quiet()})
	req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hi"}}}
	if _, err := told(t.Context(), m, req); err != nil {
		t.Fatal(err)
	}
	if !a.Requests()[0].Once || b.Requests()[0].Once || req.Once || a.Requests()[0].Messages[0].Content != "hi" {
		t.Errorf("once: %v, %v; the caller's %v", a.Requests()[0].Once, b.Requests()[0].Once, req.Once)
	}
}

func TestFallbackLeavesTheCallersEndAlone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	turn := scripted.Fail(&llm.Error{Kind: llm.Timeout})
	turn.Check = func(*llm.Request) error { cancel(); return nil }
	a, b := play("one:a", turn), play("two:b")
	_, err := told(ctx, llm.NewFallback(llm.FallbackOptions{Models: []llm.Model{a, b}, Logger: quiet()}), &llm.Request{})
	if err == nil {
		t.Error("no error")
	}
	b.AssertDone(t)
}

func TestFallbackEndsWithItsReader(t *testing.T) {
	warning := llm.Chunk{Kind: llm.ChunkWarning}
	for name, turns := range map[string][2]scripted.Turn{
		"at the change":  {scripted.Fail(down), scripted.Text("never")},
		"at the warning": {{Chunks: []llm.Chunk{warning, warning}, Text: []string{"never"}}, {}},
		"at the text":    {scripted.Text("one", "two"), {}},
	} {
		a, b := play("one:a", turns[0]), play("two:b", turns[1])
		got := 0
		for range llm.NewFallback(llm.FallbackOptions{Models: []llm.Model{a, b}, Logger: quiet()}).Stream(t.Context(), &llm.Request{}) {
			got++
			break
		}
		if got != 1 || len(b.Requests()) != 0 {
			t.Errorf("%s: %d chunks, the second model was asked %d times", name, got, len(b.Requests()))
		}
	}
}

func TestFallbackCanDoWhatAllCan(t *testing.T) {
	var all llm.Capabilities
	v := reflect.ValueOf(&all).Elem()
	all.Takes = llm.TakesSeed
	abilities := v.NumField() - 1 // the last one, Takes, is the first model's
	for i := range abilities {
		v.Field(i).SetBool(true)
	}
	able := func(caps ...llm.Capabilities) llm.Capabilities {
		var o llm.FallbackOptions
		for _, c := range caps {
			o.Models = append(o.Models, played{name: "x:y", able: c})
		}
		return llm.NewFallback(o).Capabilities()
	}
	if got := able(all, all); got != all {
		t.Errorf("two that can do everything: %+v", got)
	}
	if got := able(all, llm.Capabilities{Takes: llm.TakesVerbosity}); got.Takes != llm.TakesSeed {
		t.Errorf("another model's settings: %+v", got)
	}
	for i := range abilities {
		less := all
		reflect.ValueOf(&less).Elem().Field(i).SetBool(false)
		if able(all, less) != less || able(less, all) != less {
			t.Errorf("%s is not what both can", v.Type().Field(i).Name)
		}
	}
}

func TestFallbackOfOneOrNone(t *testing.T) {
	one := play("one:a")
	if m := llm.NewFallback(llm.FallbackOptions{Models: []llm.Model{one}}); m != llm.Model(one) {
		t.Error("one model is wrapped")
	}
	m := llm.NewFallback(llm.FallbackOptions{})
	var e *llm.Error
	if _, err := told(t.Context(), m, &llm.Request{}); !errors.As(err, &e) || e.Kind != llm.NoModel {
		t.Errorf("no model: %v", err)
	}
}

func TestFallbackLogs(t *testing.T) {
	var log bytes.Buffer
	m := llm.NewFallback(llm.FallbackOptions{
		Models: []llm.Model{play("one:a", scripted.Fail(down)), play("two:b", scripted.Text("x"))},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if _, err := told(t.Context(), m, &llm.Request{}); err != nil || !strings.Contains(log.String(), "from=one:a to=two:b kind=provider_unavailable status=503") {
		t.Errorf("%v, %s", err, log.String())
	}
}
