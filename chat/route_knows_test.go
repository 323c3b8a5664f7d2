package chat_test

import (
	"context"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm/scripted"
)

// TestAClassifierKnowsTheUser, from what is read of the session anyway.
func TestAClassifierKnowsTheUser(t *testing.T) {
	c := byRules()
	s := stage(t, chat.Options{Store: &profiled{Store: newStore(t)}, Classifier: c}, everybody(), office(), action(t))
	says(t, s, auto(t.Context(), "s1"), "Hello")
	if got := c.saw[0].Profile; got != "Writes compilers.\nInterests: a, b, c, d, e\nTopics: go, sql" {
		t.Errorf("%q", got)
	}
	says(t, s, identity.With(t.Context(), identity.Identity{SessionID: "s2", AgentSchemaURI: "auto"}), "Hello")
	if got := c.saw[1].Profile; got != "" {
		t.Errorf("somebody without a name is %q", got)
	}
}

// TestAPreviewOfARoutedSession asks nobody: there is no message to go by.
func TestAPreviewOfARoutedSession(t *testing.T) {
	c := byRules()
	s := stage(t, chat.Options{Store: newStore(t), Classifier: c}, everybody(), office(), action(t))
	ctx := auto(t.Context(), "s1")
	says(t, s, ctx, "My invoice")
	for _, name := range []string{"", "auto"} {
		p, err := s.Preview(ctx, "s1", name)
		if err != nil || p.Agent != "bills" || c.asked != 1 {
			t.Errorf("%q: %s, asked %d times, %v", name, p.Agent, c.asked, err)
		}
	}
}

// unlisted is a catalog that finds agents and lists none.
type unlisted struct{ found chat.Catalog }

func (u unlisted) Agent(ctx context.Context, name string) (*agent.Agent, error) {
	return u.found.Agent(ctx, name)
}

// TestACatalogThatListsNothing: those that the fallback's document lists are known.
func TestACatalogThatListsNothing(t *testing.T) {
	documents := office()
	documents[0] = desk("general", "agents: [bills, shy, nobody]")
	all := map[string]*agent.Agent{}
	for _, text := range documents {
		d, err := agent.Parse("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if all[d.Key()], err = agent.Compile(d); err != nil {
			t.Fatal(err)
		}
	}
	models := everybody()
	models["general"] = repeats("General.")
	s, err := chat.New(chat.Options{Catalog: unlisted{fixedCatalog(all)}, Models: models, Store: newStore(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := auto(t.Context(), "s1")
	for _, tc := range []struct{ message, want string }{{"A train", "general"}, {"The secret", "general"}, {"My invoice", "bills"}, {"And now?", "bills"}} {
		if got := says(t, s, ctx, tc.message); got != tc.want {
			t.Errorf("%s: %s answers, want %s", tc.message, got, tc.want)
		}
	}
}

type fixedCatalog map[string]*agent.Agent

func (f fixedCatalog) Agent(_ context.Context, name string) (*agent.Agent, error) {
	if a := f[name]; a != nil {
		return a, nil
	}
	return nil, &catalog.NotFoundError{Name: name}
}

// TestAHandedOverSessionIsGivenBack by an agent that says it is done; the agent that
// clients ask for answers the next message.
func TestAHandedOverSessionIsGivenBack(t *testing.T) {
	for _, said := range []string{`{"type":"complete"}`, `{"type":"escalate","payload":{"reason":"I cannot.","agent":"travel"}}`} {
		models := everybody()
		models["desk"] = scripted.New(scripted.Call("transfer_to_agent", `{"agent_name":"bare"}`), scripted.Text("Welcome back."))
		models["bare"] = scripted.New(scripted.Text("I am here."), scripted.Call("action", said), scripted.Text("Done."))
		kept := newStore(t)
		s := stage(t, chat.Options{Store: kept}, models, office(), action(t))
		ctx := identity.With(t.Context(), identity.Identity{UserID: "alice", SessionID: "s1", AgentSchemaURI: "desk"})
		var who []string
		for _, message := range []string{"Go", "And?", "Thanks"} {
			who = append(who, says(t, s, ctx, message))
		}
		if got := strings.Join(who, " "); got != "desk bare desk" || !stateOf(t, kept, ctx, "s1").None() {
			t.Errorf("%s: %s", said, got)
		}
	}
}
