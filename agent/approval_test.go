package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
)

func TestApprovalAsks(t *testing.T) {
	rule := func(name string, pairs ...string) *agent.Approval {
		r := agent.ApprovalRule{Name: name}
		for i := 0; i < len(pairs); i += 2 {
			if r.Arguments == nil {
				r.Arguments = map[string]string{}
			}
			r.Arguments[pairs[i]] = pairs[i+1]
		}
		return &agent.Approval{Rules: []agent.ApprovalRule{r}}
	}
	for name, c := range map[string]struct {
		approval *agent.Approval
		args     string
		want     bool
	}{
		"nobody says":             {nil, `{}`, false},
		"never":                   {&agent.Approval{}, `{}`, false},
		"always":                  {&agent.Approval{Always: true}, ``, true},
		"name":                    {rule("send_*"), `{}`, true},
		"other name":              {rule("read_*"), `{}`, false},
		"own name with a slash":   {rule("mail*"), `{}`, true},
		"anywhere in the value":   {rule("", "to", "example"), `{"to":"bob@example.com"}`, true},
		"anchored":                {rule("", "to", "^example"), `{"to":"bob@example.com"}`, false},
		"all conditions":          {rule("", "to", "bob", "cc", "."), `{"to":"bob"}`, false},
		"name and arguments":      {rule("read_*", "to", "bob"), `{"to":"bob"}`, false},
		"nested":                  {rule("", "mail.to", "bob"), `{"mail":{"to":"bob"}}`, true},
		"a dot in the name":       {rule("", "mail.to", "bob"), `{"mail.to":"bob"}`, true},
		"nested and not there":    {rule("", "mail.to", "bob"), `{"mail":"to bob"}`, false},
		"list":                    {rule("", "to", `"bob"`), `{"to":["eve","bob"]}`, true},
		"boolean":                 {rule("", "force", "^true$"), `{"force":true}`, true},
		"number":                  {rule("", "amount", "^[0-9]{4,}$"), `{"amount":1000}`, true},
		"number with exponent":    {rule("", "amount", "^[0-9]{4,}$"), `{"amount":1e6}`, true},
		"large whole number":      {rule("", "id", "^9007199254740993$"), `{"id":9007199254740993}`, true},
		"null is left out":        {rule("", "to", ""), `{"to":null}`, false},
		"any value":               {rule("", "to", ""), `{"to":""}`, true},
		"another case":            {rule("", "to", "bob"), `{"To":"bob"}`, true},
		"no object":               {rule("", "to", "bob"), `[]`, true},
		"what is not a pattern":   {rule("", "to", "(?<"), `{"to":"x"}`, true},
		"no arguments":            {rule("", "to", "bob"), ``, false},
		"characters of web pages": {rule("", "x", "<b>"), `{"x":{"y":"<b>"}}`, true},
	} {
		if got := c.approval.Asks(json.RawMessage(c.args), "send_mail", "mail/send"); got != c.want {
			t.Errorf("%s: asks %v", name, got)
		}
	}
	two := &agent.Approval{Rules: []agent.ApprovalRule{{Name: "x"}, {Name: "send_mail"}}}
	if !two.Asks(nil, "send_mail") {
		t.Error("one rule of two is not enough")
	}
}

// Approvals are kept when a document is written and read again, in both dialects.
func TestApprovalRoundTrip(t *testing.T) {
	want := []agent.ToolRef{
		{Name: "a", Approval: &agent.Approval{Always: true}, ApprovalMessage: "Send to {to}?"},
		{Name: "b", Approval: &agent.Approval{}},
		{Name: "c", Approval: &agent.Approval{Rules: []agent.ApprovalRule{{Name: "c*"}, {Arguments: map[string]string{"to": "@", "a.b": "x"}}}}},
		{Name: "d"},
	}
	for _, dialect := range []agent.Dialect{agent.Flat, agent.Nested} {
		built, err := agent.New(agent.Fields{Dialect: dialect, Name: "x", Description: "d", Tools: want})
		if err != nil {
			t.Fatal(err)
		}
		yaml, err := built.MarshalYAML()
		if err != nil {
			t.Fatal(err)
		}
		read := parse(t, "x.yaml", yaml)
		if diff := cmp.Diff(want, read.Tools); diff != "" || read.Dialect != dialect || len(read.Warnings) > 0 {
			t.Errorf("%s: %v\n%s", dialect, read.Warnings, diff)
		}
	}
}

func FuzzApprovalAsks(f *testing.F) {
	f.Add("mail.to", "bob", `{"mail":{"to":"bob"}}`, "send_*")
	f.Add("a", "(", `{"a":1e999}`, "[")
	f.Fuzz(func(t *testing.T, at, pattern, args, name string) {
		always := &agent.Approval{Always: true}
		never := &agent.Approval{}
		rules := &agent.Approval{Rules: []agent.ApprovalRule{{Name: name, Arguments: map[string]string{at: pattern}}}}
		rules.Asks(json.RawMessage(args), name)
		if !always.Asks(json.RawMessage(args), name) || never.Asks(json.RawMessage(args), name) {
			t.Error("always or never is not")
		}
	})
}
