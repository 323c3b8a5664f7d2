package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/tooltest"
	"github.com/p8-org/p8/tool"
)

// question returns the question of a call of the named tool, "" for none.
func question(t *testing.T, tools []tool.Tool, name, args string) string {
	t.Helper()
	for _, made := range tools {
		if made.Spec().Name != name {
			continue
		}
		if g, ok := made.(tool.Guarded); ok {
			if q := g.Approval(tool.Call{Name: name, Arguments: json.RawMessage(args)}); q != nil {
				if q.Kind != event.RequestApproval || q.Schema != nil {
					t.Errorf("the question is %+v", q)
				}
				return q.Message
			}
		}
		return ""
	}
	t.Fatalf("there is no tool %s among %s", name, toolNames(tools))
	return ""
}

func TestApprovalOfADocument(t *testing.T) {
	crm := &shelf{tools: []tool.Tool{named(t, "send", "crm"), named(t, "delete_all", "crm")}, resources: map[string]string{"notes://one": "x"}}
	b := box(t, shelves{"crm": crm}, "search", "send_mail", "send", "quiet")
	got := resolved(t, b, `
tools:
  - search
  - {name: quiet, approval: never}
  - {name: send_mail, approval: always}
  - {name: send, approval: [{arguments: {to: "@", amount: "^[0-9]{4,}"}}, {arguments: {mail.to: eve}}]}
  - {name: send, server: crm, approval: always, approval_message: "Write to {to} about {subject}?"}
  - {name: delete_all, server: crm, approval: [{name: "delete*"}]}
  - {name: note, uri: "notes://one", server: crm, approval: always}
`)
	if len(got.Missing) > 0 {
		t.Fatal(messages(got.Missing))
	}
	for _, c := range []struct{ name, args, want string }{
		{"search", `{}`, ""},
		{"quiet", `{}`, ""},
		{"send_mail", `{"to":"bob@example.com"}`, "Allow x to call send_mail (to: bob@example.com)?"},
		{"send_mail", `{}`, "Allow x to call send_mail?"},
		{"send", `{"to":"bob@example.com","amount":20}`, ""},
		{"send", `{"to":"bob@example.com","amount":20000}`, "Allow x to call send (to: bob@example.com, amount: 20000)?"},
		{"send", `{"mail":{"to":"eve"}}`, `Allow x to call send (mail: "{\"to\":\"eve\"}")?`},
		{"crm_send", `{"to":"bob","subject":"Hello you"}`, `Write to bob about "Hello you"?`},
		{"crm_send", `{}`, `Write to – about –?`},
		{"delete_all", `{}`, "Allow x to call delete_all?"},
		{"note", `{}`, "Allow x to call note?"},
	} {
		if q := question(t, got.Tools, c.name, c.args); q != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.name, c.args, q, c.want)
		}
	}
}

// A chained tool has the policy of the tool with its name.
func TestApprovalOfAChainedTool(t *testing.T) {
	b := box(t, shelves{"crm": {tools: []tool.Tool{named(t, "send", "crm")}}}, "save")
	const structured = "structured_output: true\nproperties: {a: {type: string}}\n"
	for lines, want := range map[string]string{
		"chained_tool: save\n": "",
		"chained_tool: save\ntools: [{name: save, approval: always}]\n":                  "Allow x to call save (a: b)?",
		"chained_tool: save\ntools: [{name: save, approval: never}]\n":                   "",
		"chained_tool: crm/send\ntools: [{name: send, server: crm, approval: always}]\n": "Allow x to call send (a: b)?",
		"chained_tool: send\ntools: [{name: send, server: crm, approval: always}]\n":     "Allow x to call send (a: b)?",
	} {
		got := resolved(t, b, structured+lines)
		if q := question(t, []tool.Tool{got.Chained}, got.Chained.Spec().Name, `{"a":"b"}`); q != want {
			t.Errorf("%s got %q", lines, q)
		}
	}
}

func TestApprovalQuestions(t *testing.T) {
	b := box(t, nil, "post")
	got := resolved(t, b, "tools: [{name: post, approval: always}]\n")
	for args, want := range map[string]string{
		`{"to":"bob)? Yes, allow it ("}`:                 `(to: "bob)? Yes, allow it (")`,
		`{"to":"a\u202eb\u0007","b":"x\ny"}`:             `(to: "a\u202eb\a", b: "x\ny")`,
		`{"a b":1,"c":true,"d":null,"e":1e6}`:            `("a b": 1, c: true, d: null, e: 1000000)`,
		`{"password":"x","api_key":"y","apiKey":"z"}`:    `(password: •••, api_key: •••, apiKey: •••)`,
		`{"max_tokens":100,"pin":1234,"tokens":["a"]}`:   `(max_tokens: 100, pin: •••, tokens: •••)`,
		`{"h":{"Authorization":"x","n":1}}`:              `(h: "{\"Authorization\":\"•••\",\"n\":1}")`,
		`{"h":"Authorization: Bearer abcdefghijklmnop"}`: `(h: "Authorization: •••")`,
		`{"x":"sk-abcdefghijklmnop"}`:                    `(x: •••)`,
		`{"secretary":"ann","pinned":"y"}`:               `(secretary: ann, pinned: y)`,
		`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7}`:    `(a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, and 1 more)`,
		`[]`: ``,
	} {
		if want = strings.TrimSuffix("Allow x to call post "+want, " ") + "?"; question(t, got.Tools, "post", args) != want {
			t.Errorf("%s:\n got %s\nwant %s", args, question(t, got.Tools, "post", args), want)
		}
	}
	long := `{"` + strings.Repeat("é", 500) + `":"` + strings.Repeat("ü", 5000) + `"}`
	if q := question(t, got.Tools, "post", long); utf8.RuneCountInString(q) > 200 {
		t.Errorf("the question has %d characters", utf8.RuneCountInString(q))
	}
}

func FuzzApprovalQuestion(f *testing.F) {
	f.Add(`{"to":"bob"}`)
	f.Add(`{"a":{"token":"x"},"b":[1e999]}`)
	f.Add(`{"a`)
	f.Fuzz(func(t *testing.T, args string) {
		got := resolved(t, box(t, nil, "post"), "tools: [{name: post, approval: always}]\n")
		q := question(t, got.Tools, "post", args)
		if !utf8.ValidString(q) || strings.ContainsFunc(q, func(r rune) bool { return r < ' ' }) || utf8.RuneCountInString(q) > 601 {
			t.Errorf("%q asks %q", args, q)
		}
	})
}

// timed is a tool with its own timeout and approval.
type timed struct{ *tooltest.Child }

func (timed) Timeout(tool.Call) time.Duration { return time.Hour }
func (timed) Approval(tool.Call) *tool.Question {
	return &tool.Question{Kind: event.RequestApproval, Message: "own"}
}

// plainTimed is a timed tool without events.
type plainTimed struct{ tool.Tool }

func (plainTimed) Timeout(tool.Call) time.Duration { return time.Minute }

// ofClient is a tool that the client brought.
type ofClient struct{ tool.Tool }

func (ofClient) RunsAtClient() {}

// A note, annotations or another name keep all abilities of a tool.
func TestWrappersKeepWhatAToolCanDo(t *testing.T) {
	child := timed{&tooltest.Child{Name: "ask_agent", Events: []event.Event{event.NewText("a")}}}
	for name, own := range map[string]tool.Tool{
		"child": child, "timed": plainTimed{named(t, "slow", "here")}, "client": ofClient{named(t, "theirs", "there")}, "plain": named(t, "p", "here"),
	} {
		annotated, err := tool.Annotate(own, tool.Annotations{Title: "Title"})
		if err != nil {
			t.Fatal(err)
		}
		got := tool.WithNote(annotated, "note")
		if !strings.HasSuffix(got.Spec().Description, "note") || tool.AnnotationsOf(got).Title != "Title" || tool.OriginalName(got) != own.Spec().Name {
			t.Errorf("%s: %+v", name, got.Spec())
		}
		s, streams := got.(tool.Streamer)
		long, hasTime := got.(tool.Timed)
		_, client := got.(tool.Client)
		g, _ := got.(tool.Guarded)
		if streams != (name == "child") || hasTime != (name == "child" || name == "timed") || client != (name == "client") || (g.Approval(tool.Call{}) != nil) != (name == "child") {
			t.Errorf("%s became a %T", name, got)
		}
		if hasTime && long.Timeout(tool.Call{}) < time.Minute {
			t.Errorf("%s has another time", name)
		}
		if streams {
			heard := ""
			if _, err := s.Stream(context.Background(), tool.Call{}, func(e event.Event) bool { heard += e.Text; return true }); err != nil || heard != "a" {
				t.Errorf("%q %v", heard, err)
			}
		}
		if name == "child" && tool.Validate(t.Context(), got, json.RawMessage(`{"anything":1}`)) != nil {
			t.Error("the tool's own validation is lost")
		}
	}
}
