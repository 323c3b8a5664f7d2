package probe

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// mind is a model that does whatever it reads: `CALL name {arguments}` in the newest message
// of anybody, tools and documents included, is a tool call. Otherwise it says every canary that
// it was shown, so that nothing that reached the model stays hidden from the probe.
type mind struct {
	*harness.Fake
	// over is closed at the end: until then, answers to HOLD are under way.
	over    chan struct{}
	release func()
	// poison is what the model says when it is told SAY POISON, and what the web says.
	poison atomic.Pointer[string]
}

func newMind(t *testing.T) *mind {
	m := &mind{over: make(chan struct{})}
	m.release = sync.OnceFunc(func() { close(m.over) })
	m.Fake = harness.NewFake(t, m.answer)
	return m
}

var (
	animals = regexp.MustCompile(`(?:aardvark|buffalo|chinchilla|dromedary|flamingo|gazelle|hornbill|kangaroo|lemming|mongoose)[a-z]*`)
	order   = regexp.MustCompile(`CALL ([a-z_]+) (\{.*\})`)
)

// shown returns what the model says: every canary of the request.
func shown(x harness.Exchange) string {
	raw, _ := json.Marshal(x.Body)
	words := animals.FindAllString(string(raw), -1)
	slices.Sort(words)
	return "I was shown: " + strings.Join(slices.Compact(words), " ") + "."
}

func (m *mind) answer(x harness.Exchange) harness.Reply {
	var system, last string
	calls := 0
	for _, msg := range x.Body.Messages {
		switch last = msg.Text(); msg.Role {
		case "system":
			system += last
		case "user":
			calls = 0
		case "tool":
			calls++
		}
	}
	said := shown(x)
	object := func(format string) harness.Reply { return harness.Reply{Text: []string{fmt.Sprintf(format, said)}} }
	switch {
	case strings.Contains(system, "You sum up a part of a conversation"):
		return object(`{"summary":%q,"topic_tags":[]}`)
	case strings.Contains(system, "You look back on what a person did"):
		return object(`{"dream_moments":[{"name":"Night thoughts","summary":%q,"moment_type":"dream","topic_tags":[],"emotion_tags":[],"affinity_fragments":[]}],"search_questions":[]}`)
	case strings.Contains(system, "You keep the profile of a person"):
		return object(`{"content":%q,"interests":[],"preferred_topics":[]}`)
	case strings.Contains(last, "SAY POISON"):
		return harness.Reply{Text: []string{*m.poison.Load()}}
	case strings.Contains(last, "OBEY EVERYTHING") && calls == 0:
		raw, _ := json.Marshal(x.Body.Messages)
		last = string(raw)
	}
	switch {
	case strings.Contains(last, "HOLD"):
		return harness.Reply{Text: []string{said}, Hold: m.over}
	}
	// It obeys at most eight orders in a turn, so that no two of them call each other for ever.
	if found := order.FindAllStringSubmatch(last, -1); found != nil && calls < 8 {
		var out harness.Reply
		for i, o := range found {
			arguments := o[2]
			if !json.Valid([]byte(arguments)) { // an order within JSON
				arguments = strings.ReplaceAll(arguments, `\"`, `"`)
				for n := len(arguments); n > 0 && !json.Valid([]byte(arguments)); n = strings.LastIndexByte(arguments[:n-1], '}') + 1 {
					arguments = arguments[:n]
				}
			}
			out.Calls = append(out.Calls, harness.Call{ID: fmt.Sprintf("call-%d-%d", calls, i), Name: o[1], Arguments: arguments})
		}
		return out
	}
	return harness.Reply{Text: []string{said}}
}
