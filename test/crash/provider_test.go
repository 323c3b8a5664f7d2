package crash

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// pace is the time between two chunks: slow enough that a kill falls between
// any two of them.
const pace = 4 * time.Millisecond

// newProvider is a model that calls a tool and then answers slowly. It repeats the
// question, so that every answer is unique.
func newProvider(t *testing.T) *harness.Fake {
	return harness.NewFake(t, func(x harness.Exchange) harness.Reply {
		asked, answered := x.Question()
		if answered {
			text := "What you asked was: " + asked + " — Ω, \"quoted\" and\na new line."
			return harness.Reply{Text: strings.SplitAfter(text, " "), Pace: pace}
		}
		arguments, _ := json.Marshal(map[string]any{"type": "note", "payload": map[string]string{"about": asked}})
		return harness.Reply{Calls: []harness.Call{{ID: "call_" + asked, Name: "action", Arguments: string(arguments)}}, Pace: pace}
	})
}
