package memory_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// The agents of p8 that ask the model, as their prompts begin.
const (
	sumsUp   = "moment-builder"
	dreamer  = "dreaming-agent"
	profiler = "user-model"
	titler   = "title-writer"
	talker   = "talker" // the agent that talks to a user
)

// mind is the model of these tests. It plays what p8's own agents want, and says the
// same to everybody else.
type mind struct {
	*harness.Fake
	// dream is the dreaming agent's answer.
	dream string
	// came gets the agent of each request that is held, sent that of each that is
	// answered thereafter.
	came, sent chan string

	mu    sync.Mutex
	asked map[string]int
	held  map[string]chan struct{}
}

func newMind(t *testing.T) *mind {
	t.Helper()
	m := &mind{came: make(chan string, 64), sent: make(chan string, 64), asked: map[string]int{}, held: map[string]chan struct{}{}}
	m.Fake = harness.NewFake(t, m.answer)
	t.Cleanup(func() {
		for _, agent := range []string{sumsUp, dreamer, profiler, talker} {
			m.release(agent)
		}
	})
	return m
}

// hold keeps the answers of an agent back until release.
func (m *mind) hold(agent string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held[agent] = make(chan struct{})
}

func (m *mind) release(agent string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if gate := m.held[agent]; gate != nil {
		close(gate)
		delete(m.held, agent)
	}
}

// times is how often an agent asked.
func (m *mind) times(agent string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[agent]
}

// asks is the agent of a request.
func asks(x harness.Exchange) string {
	for _, msg := range x.Body.Messages {
		if msg.Role != "system" {
			continue
		}
		for _, is := range []struct{ agent, words string }{
			{sumsUp, "You sum up a part of a conversation"}, {dreamer, "You look back on what a person did"}, {profiler, "You keep the profile of a person"},
			{titler, "You write the title of a conversation"},
		} {
			if strings.Contains(msg.Text(), is.words) {
				return is.agent
			}
		}
		break
	}
	return talker
}

// unsayable in a conversation makes the model unable to sum it up.
const unsayable = "unsayable"

// modelSummary is how summaries of the model begin.
const modelSummary = "The model says: "

// modelTitle is each title of the model.
const modelTitle = "Walks along the sea"

func (m *mind) answer(x harness.Exchange) harness.Reply {
	agent := asks(x)
	m.mu.Lock()
	m.asked[agent]++
	gate, dream := m.held[agent], m.dream
	m.mu.Unlock()
	if gate != nil {
		m.came <- agent
		<-gate
	}
	text, sent := "", func() {}
	if gate != nil {
		sent = func() { m.sent <- agent }
	}
	switch question, _ := x.Question(); agent {
	case sumsUp:
		text = object("summary", fmt.Sprintf("%s%d characters were said.", modelSummary, len(question)), "topic_tags", []string{"gardens"})
		if says(x, unsayable) { // also when it is asked again for a better answer
			text = "no"
		}
	case dreamer:
		text = strings.ReplaceAll(dream, "SECRET", secretOf(x))
	case profiler:
		text = object("content", "Somebody who walks.", "interests", []string{"gardens"}, "preferred_topics", []string{"bridges"})
	case titler:
		text = object("title", `"`+modelTitle+`"`)
	default:
		text = "That is worth a thought, and another walk along the sea."
	}
	return harness.Reply{Text: []string{text}, Sent: sent}
}

// secretOf is the word in a request that only one user has.
func secretOf(x harness.Exchange) string {
	for _, secret := range []string{"aardvark", "buffalo", "chinchilla"} {
		if says(x, secret) {
			return secret
		}
	}
	return ""
}

// says reports whether a message of a request holds the words.
func says(x harness.Exchange, words string) bool {
	return slices.ContainsFunc(x.Body.Messages, func(m harness.ProviderMessage) bool { return strings.Contains(m.Text(), words) })
}

// object is a JSON object, a name and a value in turn.
func object(pairs ...any) string {
	fields := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	b, _ := json.Marshal(fields)
	return string(b)
}

// moment is a moment as it is shown.
type moment struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Type     string   `json:"moment_type"`
	Summary  string   `json:"summary"`
	Previous []string `json:"previous_moment_keys"`
	Metadata struct {
		Index    int   `json:"chunk_index"`
		First    int64 `json:"first_seq"`
		Last     int64 `json:"last_seq"`
		Messages int   `json:"message_count"`
	} `json:"metadata"`
}

// moments returns a user's moments of a type, or all of a session.
func moments(t *testing.T, s *harness.Server, who person, kind, session string) (list []moment) {
	t.Helper()
	path := "/moments?limit=500&moment_type=" + kind
	if session != "" {
		path += "&session_id=" + session
	}
	get(t, s, who, path, &list)
	return list
}
