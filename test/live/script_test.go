package live_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// script is a user's message that the model of these tests plays, one step a request.
type script struct {
	Steps []step `json:"steps"`
}

// step is one answer of the model.
type step struct {
	// Text is said in so many Pieces, Pace milliseconds apart.
	Text   string `json:"text,omitempty"`
	Pieces int    `json:"pieces,omitempty"`
	Pace   int    `json:"pace,omitempty"`
	// Size is how many bytes more each piece has.
	Size  int    `json:"size,omitempty"`
	Calls []call `json:"calls,omitempty"`
	// Echo says what the user said after the script.
	Echo bool `json:"echo,omitempty"`
	// Hold names an answer that does not end until release, the first time that the
	// model gives it.
	Hold string `json:"hold,omitempty"`
}

// call is one call of a tool.
type call struct {
	Name string `json:"name"`
	Args string `json:"args"`
}

// say is a step of text.
func say(text string, pieces int, pace time.Duration) step {
	return step{Text: text, Pieces: pieces, Pace: int(pace.Milliseconds())}
}

// then is the step with calls after its text.
func (s step) then(calls ...call) step {
	s.Calls = calls
	return s
}

// do is a step of calls.
func do(calls ...call) step { return step{Calls: calls} }

// use calls a tool of the desk.
func use(name, key string) call { return call{name, object("key", key)} }

// ask has an agent play a script.
func ask(agent string, steps ...step) call {
	return call{"ask_agent", object("agent_name", agent, "input_text", act(steps...))}
}

// act is a script as a message.
func act(steps ...step) string {
	b, _ := json.Marshal(script{steps})
	return string(b)
}

// object is a JSON object of names and values.
func object(pairs ...any) string {
	fields := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	b, _ := json.Marshal(fields)
	return string(b)
}

// spoken is the text that a step says.
func (s step) spoken() string { return strings.Join(s.words(), "") }

func (s step) words() []string {
	words := make([]string, s.Pieces)
	for i := range words {
		words[i] = fmt.Sprintf("%s%d%s ", s.Text, i, strings.Repeat(".", s.Size))
	}
	return words
}

// calls numbers the calls of all models: a model that is asked again gives new ids.
var calls atomic.Int64

// held has, by its name, the channel that each held answer waits for.
var held sync.Map

// holding is the step, held under a name.
func (s step) holding(name string) step {
	s.Hold = name
	return s
}

// release lets a held answer end.
func release(name string) {
	gate, _ := held.LoadOrStore(name, make(chan struct{}))
	close(gate.(chan struct{}))
}

// play is the model.
func play(x harness.Exchange) harness.Reply {
	var s script
	at, heard := 0, ""
	for _, m := range x.Body.Messages {
		switch {
		case m.Role == "user" && strings.HasPrefix(m.Text(), `{"steps"`):
			s, at, heard = script{}, 0, ""
			_ = json.Unmarshal([]byte(m.Text()), &s)
		case m.Role == "user":
			heard += m.Text()
		case m.Role == "assistant":
			at++
		}
	}
	if at >= len(s.Steps) {
		return harness.Reply{Text: []string{"the script is over"}}
	}
	now := s.Steps[at]
	reply := harness.Reply{Text: now.words(), Pace: time.Duration(now.Pace) * time.Millisecond}
	if now.Hold != "" {
		if gate, before := held.LoadOrStore(now.Hold, make(chan struct{})); !before {
			reply.Hold = gate.(chan struct{})
		}
	}
	if now.Echo {
		reply.Text = append(reply.Text, heard)
	}
	for _, c := range now.Calls {
		reply.Calls = append(reply.Calls, harness.Call{ID: fmt.Sprintf("call_%d", calls.Add(1)), Name: c.Name, Arguments: c.Args})
	}
	return reply
}
