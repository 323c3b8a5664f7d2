package run_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
)

type weather struct {
	City    string  `json:"city"`
	Degrees float64 `json:"degrees"`
}

const right = `{"city":"Oslo","degrees":-3}`

// say is a turn that answers in the given mode.
func say(mode, json string) scripted.Turn {
	if mode == run.ModeNative {
		return scripted.Text(json)
	}
	return scripted.Call("final_result", json)
}

func TestStructuredAnswer(t *testing.T) {
	for _, mode := range []string{run.ModeNative, run.ModeTool} {
		t.Run(mode, func(t *testing.T) {
			m := scripted.NewWith(scripted.Options{Capabilities: llm.Capabilities{NativeOutput: mode == run.ModeNative}},
				scripted.Call("echo", `{"text":"x"}`), say(mode, right))
			o := options(t, answerer, m, echo(t, "echo"))
			got, err := run.As[weather](run.Stream(t.Context(), o))
			if err != nil || got != (weather{"Oslo", -3}) {
				t.Fatal(got, err)
			}
			m.AssertDone(t)
			req := m.Requests()[0]
			if native := req.Output != nil; native != (mode == run.ModeNative) || len(req.Tools) == 2 == native {
				t.Errorf("output %v, %d tools", req.Output, len(req.Tools))
			}
		})
	}
}

func TestStructuredAnswerIsNeverShownAsACall(t *testing.T) {
	m := scripted.New(say(run.ModeTool, right))
	got, err := collect(run.Stream(t.Context(), options(t, answerer, m)))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(got, "\n")
	if strings.Contains(all, "final_result") || !strings.Contains(all, "text "+right) || !strings.HasSuffix(all, "done stop "+right) {
		t.Error(all)
	}
}

func TestWrongAnswersGoBackWithEveryError(t *testing.T) {
	for _, mode := range []string{run.ModeNative, run.ModeTool} {
		t.Run(mode, func(t *testing.T) {
			m := scripted.New(say(mode, `{"degrees":-100}`), say(mode, "gibberish"), say(mode, right))
			o := options(t, answerer, m)
			o.StructuredMode = mode
			if _, err := run.As[weather](run.Stream(t.Context(), o)); err != nil {
				t.Fatal(err)
			}
			m.AssertDone(t)
			msgs := m.Requests()[1].Messages
			back := msgs[len(msgs)-1].Content
			if !strings.Contains(back, "city") || !strings.Contains(back, "degrees") {
				t.Errorf("the model was told: %s", back)
			}
		})
	}
}

func TestAnswersThatStayWrongFail(t *testing.T) {
	m := scripted.New(say(run.ModeTool, "{}"), say(run.ModeTool, "{}"), say(run.ModeTool, `{"city":1,"degrees":1}`))
	_, err := run.As[weather](run.Stream(t.Context(), options(t, answerer, m)))
	var wrong *run.OutputError
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "city") {
		t.Fatal(err)
	}
	m.AssertDone(t)
}

func TestOutputSaysWhichLimitEndedTheRun(t *testing.T) {
	m := scripted.New(scripted.Call("echo", `{"text":"x"}`))
	o := options(t, answerer+"limits: {request_limit: 1}\n", m, echo(t, "echo"))
	_, err := run.Output(run.Stream(t.Context(), o))
	if !errors.Is(err, run.ErrNoOutput) || !strings.Contains(err.Error(), "request_limit") {
		t.Error(err)
	}
}
