// Package providers runs agents with p8's clients of model providers against a
// third-party provider: aimock, which speaks every vendor's protocol and records the
// requests it understood. It needs no binary and no network. The vendors' own SDKs hold
// the same conversations; p8's requests and its reading of answers must agree with
// theirs.
package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
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

// tap is a client of the test's own, and what a model with this Debug sends by
// it.
func tap(t testing.TB) (c *http.Client, sent *[]string, debug func([]byte)) {
	t.Helper()
	transport, sent := &http.Transport{}, new([]string)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, sent, func(body []byte) { *sent = append(*sent, string(body)) }
}

// talk is a message to an agent, with its expected result.
type talk struct {
	message, doc, model string
	settings            llm.Settings
	retries             int
	want                string
}

// connect makes a model at the provider's address, and gives what it sends.
type connect func(t testing.TB, url, model string, retries int) (m llm.Model, sent *[]string)

// playAll plays each talk with a provider of these fixtures: to the talker and
// the usual model, where no other is named.
func playAll(t *testing.T, fixtures string, connect connect, model string, talks []talk) {
	provider := harness.Aimock(t, fixtures)
	for _, tt := range talks {
		tt.doc, tt.model = cmp.Or(tt.doc, talker), cmp.Or(tt.model, model)
		t.Run(tt.message+" "+tt.model, func(t *testing.T) {
			m, _ := connect(t, provider.URL, tt.model, tt.retries)
			got := play(t, m, tt.doc, tt.message, tt.settings, weather(t))
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if strings.Contains(got, "PROVIDER-WORDS") {
				t.Error("the provider's words are shown")
			}
		})
	}
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
