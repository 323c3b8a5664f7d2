package run_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// deaf is a tool that ignores the end of its context for a while.
type deaf struct {
	tool.Base
	sleep time.Duration
}

func (d deaf) Call(context.Context, tool.Call) (tool.Result, error) {
	time.Sleep(d.sleep)
	return tool.Result{Content: "late"}, nil
}

func TestToolTimeout(t *testing.T) {
	for _, tc := range []struct {
		name, args string
		slow       func(*testing.T) tool.Tool
	}{
		{"waits", `{"text":"wait"}`, func(t *testing.T) tool.Tool { return echo(t, "echo") }},
		{"ignores its context", "{}", func(t *testing.T) tool.Tool { return deaf{mustBase(t, "echo"), 10 * time.Second} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := scripted.New(scripted.Call("echo", tc.args), scripted.Text("never mind"))
				o := options(t, talker, m, tc.slow(t))
				o.ToolTimeout = time.Second
				start := time.Now()
				if _, err := collect(run.Stream(t.Context(), o)); err != nil {
					t.Fatal(err)
				}
				m.AssertDone(t)
				took := time.Since(start)
				time.Sleep(20 * time.Second) // until the deaf tool has ended too
				if took > 4*time.Second {
					t.Errorf("the run took %s", took)
				}
				answer := m.Requests()[1].Messages[3].Content
				if !strings.Contains(answer, "did not answer within 1s") {
					t.Errorf("the model was told %s", answer)
				}
			})
		})
	}
}

func TestWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := scripted.New(scripted.Turn{
			Text: []string{"a", "b"}, Before: scripted.Until(1, nil),
		})
		o := options(t, talker, m)
		o.Timeout = time.Minute
		got, err := collect(run.Stream(t.Context(), o))
		if err != nil {
			t.Fatal(err)
		}
		if end := got[len(got)-1]; !strings.HasSuffix(end, "done length time_limit") {
			t.Errorf("the run ended with %q", end)
		}
	})
}

func mustBase(t *testing.T, name string) tool.Base {
	t.Helper()
	b, err := tool.NewBase(llm.ToolSpec{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
