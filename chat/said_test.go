package chat_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
)

// notes is a log for tests.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(b)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// TestTheLogHasTheProvidersWords: of a run, and of an agent that was asked. Clients and
// models keep the safe sentence.
func TestTheLogHasTheProvidersWords(t *testing.T) {
	refused := func(words string) scripted.Turn {
		return scripted.Fail(&llm.Error{Kind: llm.BadRequest, Model: "s:x", Words: words})
	}
	models := cast{
		"boss":   scripted.New(asks("worker", "How?"), refused("boss said no")),
		"worker": scripted.New(refused("worker said no")),
	}
	log := new(notes)
	s := stage(t, chat.Options{Store: newStore(t), Logger: slog.New(slog.NewTextHandler(log, nil))}, models, []string{flatNamed("boss", ""), flatNamed("worker", "")})
	events := turn(t, s, as(t.Context(), "alice", "s1"), "Go")
	for _, want := range []string{`provider_said="worker said no"`, `provider_said="boss said no"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	raw, err := json.Marshal(events)
	if err != nil || bytes.Contains(raw, []byte("said no")) {
		t.Errorf("a client reads %s, %v", raw, err)
	}
	for _, m := range models["boss"].(*scripted.Model).Requests()[1].Messages {
		if strings.Contains(m.Content, "said no") {
			t.Errorf("a model reads %s", m.Content)
		}
	}
}
