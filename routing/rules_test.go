package routing_test

import (
	"math"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/routing"
)

// desks are agents as documents would have them.
func desks() []routing.Candidate {
	return []routing.Candidate{
		{Name: "bills", Routing: &agent.Routing{
			Keywords: []string{"invoice", "due date", "Überweisung", "发票"},
			Examples: []string{"What do I owe Nordwind?", "Which bills are open?", "Pay the electricity"},
		}},
		{Name: "travel", Routing: &agent.Routing{
			Keywords: []string{"train", "flight", "hotel"},
			Examples: []string{"How do I get to Lisbon?", "Book a table near the station"},
		}},
		{Name: "empty", Routing: &agent.Routing{}},
		{Name: "none"},
		{Name: "travel-too", Routing: &agent.Routing{Keywords: []string{"hotel"}}},
	}
}

func TestRules(t *testing.T) {
	for _, tc := range []struct {
		message, want, why string
		sure               bool
	}{
		{"Where is my invoice?", "bills", `it has the keyword "invoice"`, true},
		{"INVOICES!", "bills", `it has the keyword "invoice"`, true},
		{"When is the due date of it?", "bills", `it has the keyword "due date"`, true},
		{"The due is a date", "", "", false},
		{"uberweisung bitte", "bills", `it has the keyword "Überweisung"`, true},
		{"ÜBERWEISUNG", "bills", `it has the keyword "Überweisung"`, true},
		{"U\u0308berweisung", "bills", `it has the keyword "Überweisung"`, true},
		{"我想要发票", "bills", `it has the keyword "发票"`, true},
		{"An invoice and its due date", "bills", `it has the keywords "invoice", "due date"`, true},
		{"My train to the flight", "travel", `it has the keywords "train", "flight"`, true},
		{"A hotel", "travel", `it has the keyword "hotel"`, false}, // two have it: the first, with doubt
		{"I am in training", "", "", false},
		{"What do I owe Nordwind?", "bills", `it is like the example "What do I owe Nordwind?"`, true},
		{"Do I owe anything to Nordwind", "bills", `it is like the example "What do I owe Nordwind?"`, true},
		{"What do I do?", "", "", false},
		{"hello", "", "", false},
		{"", "", "", false},
		{" \n\t!?", "", "", false},
	} {
		d, err := routing.Rules().Classify(t.Context(), routing.Input{Message: tc.message, Agents: desks()})
		if err != nil || d.Agent != tc.want || d.Confidence >= routing.Bar != tc.sure || tc.why != "" && d.Reason != tc.why {
			t.Errorf("%q: %+v, %v", tc.message, d, err)
		}
	}
}

// TestTiesAreDecidedByOrder, and the same every time.
func TestTiesAreDecidedByOrder(t *testing.T) {
	a, b := rules("a", "tea"), rules("b", "tea")
	for range 20 {
		first, _ := routing.Rules().Classify(t.Context(), routing.Input{Message: "Tea, please", Agents: []routing.Candidate{a, b}})
		second, _ := routing.Rules().Classify(t.Context(), routing.Input{Message: "Tea, please", Agents: []routing.Candidate{b, a}})
		if first.Agent != "a" || second.Agent != "b" || first.Confidence != second.Confidence {
			t.Fatal(first, second)
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, s := range []string{
		"Where is my invoice?", "İstanbul ΣΊΣΥΦΟΣ ẞ ﬁ", "a\u0301\u0301\u0301", "\u200d\u200f\u202e", "👩‍👩‍👧 invoice", "กขค ກ", "\xff\xfeinvoice\x80", "ﷺ",
		strings.Repeat("é", 9000), "١٢٣ ①", "don't", "\x00",
	} {
		f.Add(s, "invoice", "Where is it?")
		f.Add("Where is my invoice?", s, s)
	}
	f.Fuzz(func(t *testing.T, message, keyword, example string) {
		agents := append(desks(), routing.Candidate{Name: "odd", Routing: &agent.Routing{Keywords: []string{keyword}, Examples: []string{example}}})
		in := routing.Input{Message: message, Agents: agents}
		d, err := routing.Rules().Classify(t.Context(), in)
		if err != nil || math.IsNaN(d.Confidence) || d.Confidence < 0 || d.Confidence > 1 || (d.Agent == "") != (d.Confidence == 0) {
			t.Fatalf("%q: %+v, %v", message, d, err)
		}
		if again, _ := routing.Rules().Classify(t.Context(), in); again != d {
			t.Fatalf("%q: %+v, and then %+v", message, d, again)
		}
		in.State = routing.Start("general").Activate(agents[0], "")
		s, _, err := routing.Route(t.Context(), in, routing.Rules())
		if err != nil || s.Active == "" || !routing.Read(s.Patch()).Equal(s) && strings.ToValidUTF8(s.Reason, "") == s.Reason {
			t.Fatalf("%q: %+v, %v", message, s, err)
		}
	})
}

// BenchmarkRules tells a message apart among fifty agents with ten rules each.
func BenchmarkRules(b *testing.B) {
	var agents []routing.Candidate
	for i := range 50 {
		c := desks()[i%2]
		c.Name += strings.Repeat("x", i)
		agents = append(agents, c)
	}
	in := routing.Input{Message: "Could you tell me whether the invoice of Nordwind has been paid, and when?", Agents: agents}
	in.State = routing.Start("general").Activate(agents[0], "")
	b.ReportAllocs()
	for b.Loop() {
		if !routing.Stays(in) {
			b.Fatal("it moved")
		}
	}
}
