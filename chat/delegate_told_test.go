package chat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/tool/builtin"
)

// TestObservationsOfAChild: what the asked agent observes describes the answer where the
// asking one observes nothing, also after a pause.
func TestObservationsOfAChild(t *testing.T) {
	observe := func(payload string) scripted.Turn {
		return scripted.Call("action", `{"type":"observation","payload":`+payload+`}`)
	}
	action, err := builtin.NewAction()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		before []scripted.Turn // of the boss
		want   event.MetadataData
	}{
		{"alone", nil, event.MetadataData{Confidence: new(0.9), Sources: []string{"a", "b"}, Flags: []string{"old"}}},
		{"beside the boss's", []scripted.Turn{observe(`{"confidence":0.2,"sources":["mine"]}`)},
			event.MetadataData{Confidence: new(0.2), Sources: []string{"mine"}, Flags: []string{"old"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			models := cast{
				"boss":   scripted.New(slices.Concat(tc.before, []scripted.Turn{asks("worker", "Hi"), scripted.Text("Done.")})...),
				"worker": scripted.New(observe(`{"confidence":0.5,"sources":["a"]}`), observe(`{"confidence":0.9,"sources":["b"],"flags":["old"]}`), scripted.Text("Yes.")),
			}
			documents := []string{strings.Replace(flatNamed("boss", ""), "echo", "action", 1), strings.Replace(flatNamed("worker", ""), "echo", "action", 1)}
			s := stage(t, chat.Options{Store: newStore(t)}, models, documents, action)
			got := find[*event.MetadataData](t, turn(t, s, as(t.Context(), "alice", "s1"), "Go"))
			told := event.MetadataData{Confidence: got.Confidence, Sources: got.Sources, Flags: got.Flags}
			if diff := cmp.Diff(tc.want, told); diff != "" {
				t.Error(diff)
			}
			models.done(t)
		})
	}
}

// TestInstructionsReachAskedAgents: what the client adds to a turn holds for every agent
// that answers in it.
func TestInstructionsReachAskedAgents(t *testing.T) {
	for _, document := range []string{flatNamed("worker", ""), nestedNamed("worker", "")} {
		models := cast{"boss": scripted.New(asks("worker", "Hi"), scripted.Text("Done.")), "worker": scripted.New(scripted.Text("Oui."))}
		s := stage(t, chat.Options{Store: newStore(t)}, models, []string{flatNamed("boss", ""), document})
		started, err := s.Start(as(t.Context(), "alice", "s1"), chat.Request{Input: "Go", Instruction: "Answer in French."})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, started)
		sent := models["worker"].(*scripted.Model).Requests()[0].Messages
		if !slices.ContainsFunc(sent, func(m llm.Message) bool {
			return m.Role == llm.System && strings.HasSuffix(m.Content, "Answer in French.")
		}) {
			t.Errorf("the worker was sent %+v", sent)
		}
	}
}

// TestTheModelIsToldOfTheAgents: if its document lists none, within a bound.
func TestTheModelIsToldOfTheAgents(t *testing.T) {
	for _, tc := range []struct {
		name, boss string
		many       int
		want       string
	}{
		{"none listed", "", 0, "The agents are:\n- shy: You are shy."},
		{"listed", "agents: [shy]", 3, "The agents are:\n- shy"},
		{"many", "", 60, "\nand 11 more."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			documents := []string{flatNamed("boss", tc.boss), flatNamed("shy", ""), flatNamed("hidden", "routing_enabled: false")}
			for i := range tc.many {
				documents = append(documents, flatNamed(fmt.Sprintf("agent-%02d", i), ""))
			}
			models := cast{"boss": scripted.New(scripted.Text("Hi."))}
			s := stage(t, chat.Options{}, models, documents)
			turn(t, s, as(t.Context(), "alice", ""), "Go")
			tools := models["boss"].(*scripted.Model).Requests()[0].Tools
			for _, tool := range tools[:2] { // ask_agent and transfer_to_agent
				if !strings.HasSuffix(tool.Description, tc.want) || strings.Count(tool.Description, "\n- ") > 50 {
					t.Errorf("%s: %s", tool.Name, tool.Description)
				}
			}
		})
	}
}
