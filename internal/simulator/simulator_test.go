package simulator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/simulator"
	"github.com/p8-org/p8/internal/testkit/golden"
)

// quick are options for a run that takes no time and repeats exactly.
func quick(o simulator.Options) simulator.Options {
	o.Delay = -1
	if o.NewID == nil {
		n := 0
		o.NewID = func() string { n++; return fmt.Sprintf("id%06d", n) }
	}
	o.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	return o
}

func play(t testing.TB, agent, prompt string, o simulator.Options) []event.Event {
	t.Helper()
	var events []event.Event
	for e, err := range simulator.Events(t.Context(), agent, prompt, o) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if len(events) == 0 || events[len(events)-1].Type != event.Done {
		t.Fatalf("the last of %d events is not done", len(events))
	}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has the number %d", i+1, e.Seq)
		}
	}
	return events
}

func lines(t testing.TB, events []event.Event) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

func text(events []event.Event) string {
	var b strings.Builder
	for _, e := range events {
		if e.Type == event.Text && !strings.Contains(e.Agent, "/") {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

func TestSequences(t *testing.T) {
	for name, c := range map[string]struct {
		agent, prompt string
		o             simulator.Options
	}{
		"full":             {simulator.Agent, "demo", simulator.Options{}},
		"full_children":    {simulator.Agent, "demo", simulator.Options{Children: true, RunID: "root"}},
		"minimal":          {simulator.Agent, "", simulator.Options{Demo: simulator.DemoMinimal}},
		"error":            {simulator.Agent, "", simulator.Options{Demo: simulator.DemoError}},
		"light_all":        {simulator.LightAgent, "hello", simulator.Options{}},
		"light_help":       {simulator.LightAgent, "help", simulator.Options{}},
		"light_text":       {simulator.LightAgent, "text", simulator.Options{}},
		"light_tools":      {simulator.LightAgent, "show me TOOLS", simulator.Options{}},
		"light_actions":    {simulator.LightAgent, "actions", simulator.Options{}},
		"light_structured": {simulator.LightAgent, "structured", simulator.Options{}},
		"light_children":   {simulator.LightAgent, "children", simulator.Options{}},
		"light_error":      {simulator.LightAgent, "error", simulator.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			golden.Compare(t, "testdata/"+name+".jsonl", lines(t, play(t, c.agent, c.prompt, quick(c.o))))
		})
	}
}

// shape names the kinds of events of the root agent, with consecutive text or reasoning
// once.
func shape(events []event.Event) string {
	var kinds []string
	for _, e := range events {
		kind := e.Type.String()
		switch d := e.Data.(type) {
		case *event.ProgressData:
			kind = fmt.Sprintf("progress %d/%d %s", d.Step, d.TotalSteps, d.Status)
		case *event.ToolCallData:
			kind = d.Name + " " + string(d.Status)
		case *event.DoneData:
			kind = "done " + d.Reason
		}
		if e.Type == event.Text && len(kinds) > 0 && kinds[len(kinds)-1] == kind {
			continue
		}
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, "\n")
}

func TestFullSequenceIsREMs(t *testing.T) {
	want := `reasoning
reasoning
reasoning
reasoning
progress 1/4 in_progress
search_knowledge started
search_knowledge executing
search_knowledge completed
format_response started
format_response executing
format_response completed
progress 2/4 in_progress
text
progress 3/4 in_progress
metadata
progress 4/4 in_progress
action_request
progress 1/4 completed
progress 2/4 completed
progress 3/4 completed
progress 4/4 completed
done stop`
	if got := shape(play(t, simulator.Agent, "demo", quick(simulator.Options{}))); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestLightCategoriesCombine(t *testing.T) {
	all := play(t, simulator.LightAgent, "", quick(simulator.Options{}))
	for _, prompt := range []string{"test all", "what is this", "test all, and error"} {
		if got := play(t, simulator.LightAgent, prompt, quick(simulator.Options{})); shape(got) != shape(all) {
			t.Errorf("%q plays\n%s", prompt, shape(got))
		}
	}
	for _, prompt := range []string{"HELP", "help me", "I need help"} {
		if got := shape(play(t, simulator.LightAgent, prompt, quick(simulator.Options{}))); got != "progress 1/1 in_progress\ntext\ndone stop" {
			t.Errorf("%q plays\n%s", prompt, got)
		}
	}
	got := shape(play(t, simulator.LightAgent, "tools, error", quick(simulator.Options{})))
	want := `progress 1/4 in_progress
progress 2/4 in_progress
search started
search executing
search completed
action started
action executing
action completed
progress 3/4 in_progress
text
progress 4/4 failed
error
done error`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestSwitches: each switch has the same effect as a field, a parameter and a word of the
// prompt, and changes only its part.
func TestSwitches(t *testing.T) {
	count := func(events []event.Event, typ event.Type) (n int) {
		for _, e := range events {
			if e.Type == typ {
				n++
			}
		}
		return n
	}
	whole := play(t, simulator.Agent, "demo", quick(simulator.Options{}))
	for name, c := range map[string]struct {
		o     simulator.Options
		value string
		gone  event.Type
	}{
		"include_reasoning":  {simulator.Options{NoReasoning: true}, "false", event.Reasoning},
		"include_progress":   {simulator.Options{NoProgress: true}, "false", event.Progress},
		"include_tool_calls": {simulator.Options{NoToolCalls: true}, "0", event.ToolCall},
		"include_actions":    {simulator.Options{NoActions: true}, "FALSE", event.ActionRequest},
		"include_metadata":   {simulator.Options{NoMetadata: true}, "f", event.Metadata},
		"include_children":   {simulator.Options{Children: true}, "true", 0},
		"demo":               {simulator.Options{Demo: simulator.DemoMinimal}, "minimal", 0},
		"seed":               {simulator.Options{Seed: "s"}, "s", 0},
	} {
		t.Run(name, func(t *testing.T) {
			field := play(t, simulator.Agent, "demo", quick(c.o))
			parsed, err := simulator.ParseOptions(map[string]string{name: c.value, "protocol": "ag-ui"})
			if err != nil {
				t.Fatal(err)
			}
			if got := play(t, simulator.Agent, "demo", quick(parsed)); lines(t, got) != lines(t, field) {
				t.Errorf("the parameter plays\n%s", shape(got))
			}
			if got := play(t, simulator.Agent, name+"="+c.value+" demo", quick(simulator.Options{})); lines(t, got) != lines(t, field) {
				t.Errorf("the word plays\n%s", shape(got))
			}
			if c.gone == 0 {
				return
			}
			if count(field, c.gone) != 0 || text(field) != text(whole) {
				t.Errorf("got\n%s", shape(field))
			}
			if want := len(whole) - count(whole, c.gone); len(field) != want {
				t.Errorf("%d events, want %d", len(field), want)
			}
		})
	}
	for _, name := range []string{"include_progress", "include_tool_calls", "include_actions"} {
		t.Run("light "+name, func(t *testing.T) {
			got := shape(play(t, simulator.LightAgent, name+"=false", quick(simulator.Options{})))
			part := map[string]string{"include_progress": "progress 1/4", "include_tool_calls": "search", "include_actions": "action\n"}[name]
			if strings.Contains(got, part) {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

func TestDemos(t *testing.T) {
	o := quick(simulator.Options{})
	if got := text(play(t, simulator.Agent, "minimal demo", o)); got != "Hello from the simulator!" {
		t.Errorf("minimal demo says %q", got)
	}
	if got := text(play(t, simulator.LightAgent, "demo=minimal  Hello   world", o)); got != "Hello world" {
		t.Errorf("the minimal demo says %q", got)
	}
	for prompt, words := range map[string]int{
		"error": 10, "error_after_words=3 Error Demo": 3, "demo=error error_after_words=0": 0, "demo=error error_after_words=120": 120,
	} {
		events := play(t, simulator.Agent, prompt, o)
		failure, ok := events[len(events)-2].Data.(*event.ErrorData)
		if got := len(strings.Fields(text(events))); got != words || !ok || failure.Details["words_sent"] != words {
			t.Errorf("%q says %d words, want %d; then %+v", prompt, got, words, failure)
		}
	}
	if got := shape(play(t, simulator.Agent, "error handling, please", o)); strings.Contains(got, "done error") {
		t.Errorf("a prompt about errors is no error demo:\n%s", got)
	}
}

func TestWrongValues(t *testing.T) {
	for name, c := range map[string]struct{ value, want string }{
		"delay_ms":          {"fast", `delay_ms is "fast"; use a number of milliseconds from 0 to 10000`},
		"include_progress":  {"maybe", `include_progress is "maybe"; use true or false`},
		"demo":              {"maximal", `demo is "maximal"; use minimal or error`},
		"error_after_words": {"1001", `error_after_words is "1001"; use a number of words from 0 to 1000`},
		"seed":              {strings.Repeat("é", 65), `seed is "` + strings.Repeat("é", 40) + `…"; use 1 to 128 characters`},
	} {
		_, err := simulator.ParseOptions(map[string]string{name: c.value})
		var wrong *simulator.OptionError
		if !errors.As(err, &wrong) || err.Error() != c.want || wrong.Name != name {
			t.Errorf("%s: %v", name, err)
		}
		for _, err := range simulator.Events(t.Context(), simulator.Agent, "demo "+name+"="+c.value, simulator.Options{}) {
			if err == nil || err.Error() != c.want {
				t.Errorf("in a prompt: %v", err)
			}
		}
		for _, input := range []struct {
			prompt  string
			options map[string]string
		}{{"demo", map[string]string{name: c.value}}, {name + "=" + c.value, nil}} {
			var events []event.Event
			for e, err := range simulator.Script(simulator.Agent)(t.Context(), input.prompt, input.options) {
				if err != nil {
					t.Fatal(err)
				}
				events = append(events, e)
			}
			if shape(events) != "error\ndone error" || events[0].Data.(*event.ErrorData).Message != c.want {
				t.Errorf("the script plays\n%s", lines(t, events))
			}
		}
	}
}

func TestScriptPlaysTheSame(t *testing.T) {
	want := play(t, simulator.LightAgent, "text seed=x", simulator.Options{Delay: -1})
	var got []event.Event
	for e, err := range simulator.Script(simulator.LightAgent)(t.Context(), "text", map[string]string{"delay_ms": "0", "seed": "x"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if lines(t, got) != lines(t, want) {
		t.Errorf("got\n%s", lines(t, got))
	}
}

func TestSeed(t *testing.T) {
	o := simulator.Options{Delay: -1, Seed: "a"}
	first := lines(t, play(t, simulator.Agent, "", o))
	if lines(t, play(t, simulator.Agent, "", o)) != first {
		t.Error("the same seed gives other ids")
	}
	o.Seed = "b"
	if lines(t, play(t, simulator.Agent, "", o)) == first {
		t.Error("another seed gives the same ids")
	}
	o.Seed = ""
	one := lines(t, play(t, simulator.Agent, "", o))
	if other := lines(t, play(t, simulator.Agent, "", o)); one == other {
		t.Error("without a seed the ids are the same")
	}
}

func TestOptionNames(t *testing.T) {
	names := simulator.OptionNames()
	if len(names) != 10 || !slices.Contains(names, "include_children") {
		t.Errorf("%q", names)
	}
	help := text(play(t, simulator.LightAgent, "help", quick(simulator.Options{})))
	for _, name := range []string{"delay_ms", "include_children", "seed", "error_after_words"} {
		if !strings.Contains(help, name) {
			t.Errorf("the help does not name %s", name)
		}
	}
}

func TestDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			prompt string
			o      simulator.Options
			want   time.Duration
		}{
			{"demo=minimal one two three", simulator.Options{}, 3 * 30 * time.Millisecond},
			{"demo=minimal one two three", simulator.Options{Delay: time.Second}, 3 * time.Second},
			{"demo=minimal delay_ms=0 one two three", simulator.Options{}, 0},
			{"demo=error", simulator.Options{}, 10 * 50 * time.Millisecond},
		} {
			start := time.Now()
			play(t, simulator.Agent, c.prompt, c.o)
			if got := time.Since(start); got != c.want {
				t.Errorf("%q took %v, want %v", c.prompt, got, c.want)
			}
		}
		// A tool takes three delays, the last steps half of one each.
		at := map[string]time.Duration{}
		start := time.Now()
		for e := range simulator.Events(t.Context(), simulator.Agent, "", simulator.Options{Delay: time.Second}) {
			if d, ok := e.Data.(*event.ToolCallData); ok {
				at[d.Name+" "+string(d.Status)] = time.Since(start)
			}
			if d, ok := e.Data.(*event.ProgressData); ok && d.Status == "completed" {
				at[fmt.Sprint(d.Step)] = time.Since(start)
			}
		}
		if d := at["search_knowledge completed"] - at["search_knowledge started"]; d != 3*time.Second {
			t.Errorf("the tool took %v", d)
		}
		if d := at["4"] - at["1"]; d != 1500*time.Millisecond {
			t.Errorf("the last steps took %v", d)
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start, n, last := time.Now(), 0, error(nil)
		for _, err := range simulator.Events(ctx, simulator.Agent, "", simulator.Options{Delay: time.Minute}) {
			n, last = n+1, err
		}
		if n != 2 || !errors.Is(last, context.DeadlineExceeded) || time.Since(start) != 5*time.Second {
			t.Errorf("%d events in %v, then %v", n, time.Since(start), last)
		}
	})
}

func TestReaderThatLeaves(t *testing.T) {
	n := 0
	for range simulator.Events(t.Context(), simulator.Agent, "include_children=true", quick(simulator.Options{})) {
		if n++; n == 30 {
			break
		}
	}
	if n != 30 {
		t.Errorf("%d events", n)
	}
}

func FuzzPrompt(f *testing.F) {
	for _, prompt := range []string{"", "help", "test all", "demo=minimal x", "demo=error error_after_words=2", "delay_ms=-1", "seed= tools", "\xff=\x00"} {
		f.Add(prompt)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		for _, agent := range simulator.Agents() {
			var last event.Event
			var failed error
			words := strings.NewReplacer("delay_ms=", "").Replace(prompt)
			for e, err := range simulator.Events(t.Context(), agent, words, quick(simulator.Options{})) {
				last, failed = e, err
			}
			if wrong := new(simulator.OptionError); failed != nil && !errors.As(failed, &wrong) || failed == nil && last.Type != event.Done {
				t.Errorf("%q ends with %v, %v", prompt, last.Type, failed)
			}
		}
	})
}
