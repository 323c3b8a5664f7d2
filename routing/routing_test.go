package routing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/routing"
)

// rules is a candidate with keywords.
func rules(name string, keywords ...string) routing.Candidate {
	return routing.Candidate{Name: name, Routing: &agent.Routing{Keywords: keywords}}
}

// counting returns a given decision, and counts its calls.
type counting struct {
	routing.Decision
	err   error
	asked int
	saw   routing.Input
}

func (c *counting) Classify(_ context.Context, in routing.Input) (routing.Decision, error) {
	c.asked++
	c.saw = in
	return c.Decision, c.err
}

func TestRoute(t *testing.T) {
	agents := []routing.Candidate{rules("bills", "invoice", "due date"), rules("travel", "train"), {Name: "desk", MaxTurns: 3}}
	start := routing.Start("general")
	bills := start.Activate(agents[0], "")
	used := bills
	used.Turns = used.MaxTurns
	failed := errors.New("down")
	gone := start.Activate(routing.Candidate{Name: "gone"}, "")
	for _, tc := range []struct {
		name    string
		s       routing.State
		message string
		says    routing.Decision
		err     error
		want    string
		state   string
		asked   int
	}{
		{"it begins", start, "Hello", routing.Decision{Agent: "desk"}, nil, "desk", "executing", 1},
		{"a state of none", routing.State{Fallback: "general", Auto: true}, "Hello", routing.Decision{Agent: "desk"}, nil, "desk", "executing", 1},
		{"under another spelling", start, "Hello", routing.Decision{Agent: "Desk"}, nil, "desk", "executing", 1},
		{"nobody fits", start, "Hello", routing.Decision{}, nil, "general", "idle", 1},
		{"the fallback fits", start, "Hello", routing.Decision{Agent: "general"}, nil, "general", "executing", 1},
		{"somebody who is not there", start, "Hello", routing.Decision{Agent: "gone"}, nil, "general", "idle", 1},
		{"the classifier fails", start, "Hello", routing.Decision{}, failed, "general", "idle", 1},
		{"it fails and guesses", start, "Hello", routing.Decision{Agent: "desk"}, failed, "desk", "executing", 1},
		{"it goes on", bills, "And then?", routing.Decision{Agent: "desk"}, nil, "bills", "executing", 0},
		{"its own matter", bills, "The invoice of the train", routing.Decision{Agent: "desk"}, nil, "bills", "executing", 0},
		{"another matter", bills, "I need a train", routing.Decision{Agent: "travel"}, nil, "travel", "executing", 1},
		{"it only looked like one", bills, "I need a train", routing.Decision{Agent: "bills"}, nil, "bills", "executing", 1},
		{"nobody's matter", bills, "I need a train", routing.Decision{}, nil, "bills", "executing", 1},
		{"another matter, and it fails", bills, "I need a train", routing.Decision{}, failed, "bills", "executing", 1},
		{"its turns are used up", used, "And then?", routing.Decision{Agent: "bills"}, nil, "bills", "executing", 1},
		{"they are, and nobody fits", used, "And then?", routing.Decision{}, nil, "general", "idle", 1},
		{"looked at anew", used.AfterTurn("bills"), "And then?", routing.Decision{Agent: "desk"}, nil, "desk", "executing", 1},
		{"it is done", bills.Done(), "The next invoice", routing.Decision{Agent: "bills"}, nil, "bills", "executing", 1},
		{"it gave up", bills.Escalate("desk", ""), "A train", routing.Decision{Agent: "bills"}, nil, "desk", "executing", 0},
		{"it gave up to the fallback", bills.Escalate("", ""), "Well?", routing.Decision{Agent: "bills"}, nil, "general", "executing", 0},
		{"it gave up to nobody", start.Escalate("", ""), "Well?", routing.Decision{Agent: "bills"}, nil, "bills", "executing", 1},
		{"it gave up to somebody who is gone", bills.Escalate("gone", ""), "Well?", routing.Decision{}, nil, "general", "idle", 1},
		{"the agent is gone", gone, "Well?", routing.Decision{Agent: "desk"}, nil, "desk", "executing", 1},
	} {
		c := &counting{Decision: tc.says, err: tc.err}
		s, d, err := routing.Route(t.Context(), routing.Input{Message: tc.message, State: tc.s, Agents: agents}, c)
		if s.Active != tc.want || d.Agent != tc.want || s.State != tc.state || c.asked != tc.asked || !errors.Is(err, tc.err) || s.Fallback != "general" {
			t.Errorf("%s: %+v, %+v, %v, asked %d times", tc.name, s, d, err, c.asked)
		}
		if s.State == routing.Idle && !routing.Read(s.Patch()).Equal(s) {
			t.Errorf("%s: the state cannot be used: %+v", tc.name, s)
		}
	}
}

// TestRoutingIsLazy: a session of many turns is classified at its beginning and when the
// turns of its agent are used up.
func TestRoutingIsLazy(t *testing.T) {
	agents := []routing.Candidate{{Name: "desk", MaxTurns: 10}}
	c := &counting{Decision: routing.Decision{Agent: "desk", Confidence: 1}}
	s := routing.Start("general")
	for range 100 {
		next, d, err := routing.Route(t.Context(), routing.Input{Message: "Go on", State: s, Agents: agents}, c)
		if err != nil || d.Agent != "desk" {
			t.Fatal(d, err)
		}
		s = next.AfterTurn("desk")
	}
	if c.asked != 10 {
		t.Errorf("100 turns, 10 of them at a time, were classified %d times", c.asked)
	}
}

func TestChain(t *testing.T) {
	sure, unsure := &counting{Decision: routing.Decision{Agent: "a", Confidence: 0.9}}, &counting{Decision: routing.Decision{Agent: "b", Confidence: 0.4}}
	none := &counting{Decision: routing.Decision{Confidence: 0.9, Reason: "a greeting"}}
	silent, broken := &counting{}, &counting{err: errors.New("down")}
	for _, tc := range []struct {
		name  string
		chain []routing.Classifier
		want  string
		fails bool
	}{
		{"the first is sure", []routing.Classifier{sure, broken}, "a", false},
		{"the second is", []routing.Classifier{unsure, sure}, "a", false},
		{"nobody is", []routing.Classifier{silent, unsure, silent}, "b", false},
		{"the first fails", []routing.Classifier{broken, sure}, "a", true},
		{"the second fails", []routing.Classifier{unsure, broken}, "b", true},
		{"surely nobody", []routing.Classifier{unsure, none}, "", false},
		{"nothing to say", []routing.Classifier{silent}, "", false},
	} {
		d, err := routing.Chain(tc.chain[0], tc.chain[1:]...).Classify(t.Context(), routing.Input{})
		if d.Agent != tc.want || (err != nil) != tc.fails {
			t.Errorf("%s: %+v, %v", tc.name, d, err)
		}
	}
}
