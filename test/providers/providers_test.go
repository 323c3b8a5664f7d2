// Package providers runs agents with p8's clients of model providers against a
// provider that nobody here wrote: aimock, which speaks every vendor's wire and
// keeps a journal of what it understood. No binary, no network: what is tested is
// that a client and the run above it agree with somebody else's idea of the wire.
package providers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"p8/agent"
	"p8/event"
	"p8/llm"
	"p8/run"
	"p8/tool"
)

// talker just talks; answerer has to give an answer of a form.
const (
	talker = `
name: talker
description: You talk about cities.
`
	answerer = `
name: answerer
description: You answer.
structured_output: true
properties:
  city: {type: string}
  degrees: {type: number, minimum: -90}
required: [city, degrees]
`
)

// weather is a typed tool.
func weather(t testing.TB) tool.Tool {
	t.Helper()
	type in struct {
		City string `json:"city"`
	}
	w, err := tool.New("weather", "Tells the weather of a city.", func(_ context.Context, in in) (any, error) {
		return map[string]any{"city": in.City, "degrees": len(in.City)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// play runs an agent and writes down what happened: text and reasoning joined,
// every call that was made, warnings and the end.
func play(t testing.TB, m llm.Model, doc, message string, settings llm.Settings, tools ...tool.Tool) string {
	t.Helper()
	d, err := agent.Parse("test.yaml", []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var last event.Type
	for e, err := range run.Stream(t.Context(), run.Options{
		Agent: a, Model: m, Tools: tools, RunID: "r", Settings: settings, Logger: slog.New(slog.DiscardHandler),
		Messages: []llm.Message{{Role: llm.User, Content: message}},
	}) {
		var failed *llm.Error
		switch {
		case errors.As(err, &failed):
			fmt.Fprintf(&b, "\nerror %s %d", failed.Kind, failed.Status)
			continue
		case err != nil:
			fmt.Fprintf(&b, "\nerror %v", err)
			continue
		case e.Type == last && e.Data == nil:
			b.WriteString(e.Text)
			continue
		}
		last = e.Type
		switch data := e.Data.(type) {
		case nil:
			fmt.Fprintf(&b, "\n%s %s", e.Type, e.Text)
		case *event.ToolCallData:
			// Calls of one step end in any order, but are begun in theirs.
			if data.Status == event.ToolExecuting {
				fmt.Fprintf(&b, "\ncall %s %s", data.Name, data.Arguments)
			}
		case *event.WarningData:
			fmt.Fprintf(&b, "\nwarning %s %s", data.Code, data.Message)
		case *event.DoneData:
			fmt.Fprintf(&b, "\ndone %s %s", data.Reason, data.Output)
		}
	}
	return strings.TrimSpace(b.String())
}
