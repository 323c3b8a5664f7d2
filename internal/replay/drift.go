package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/p8-org/p8/internal/diff"
	"github.com/p8-org/p8/llm"
)

// Drift is something that the conversation asked for and that is not on the cassette.
type Drift struct {
	// Who asked: an agent, or a tool with its server.
	Who string
	// Changes are what is different from the recording.
	Changes []Change
}

// Change is one difference.
type Change struct {
	// What is the prompt, a tool, the messages, the settings, and so on.
	What string
	// Diff has the lines that differ, with - for the recording and + for now.
	Diff string
}

// around is how many equal lines a diff shows around a change.
const around = 2

// find returns the recorded exchange for a request and marks it as played. If none is like
// it, it is the most similar one that is left, and a drift; nil if none is left.
func (t *Tape) find(now Request) *Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	key, best, score := now.key(), -1, -1
	for i := range t.cassette.Exchanges {
		if t.used.exchanges[i] {
			continue
		}
		x := &t.cassette.Exchanges[i]
		if x.key() == key {
			t.used.exchanges[i] = true
			return x
		}
		if s := similar(x.Request, now); s > score {
			best, score = i, s
		}
	}
	who := "the agent " + now.Agent
	if now.Agent == "" {
		who = "the model " + now.Model
	}
	if best < 0 {
		t.drift(Drift{who, []Change{{"a request more than the recording has", added(render(now.Messages))}}})
		return nil
	}
	x := &t.cassette.Exchanges[best]
	t.used.exchanges[best] = true
	t.drift(Drift{who, compare(x.Request, now)})
	x.Request = now // see Accept
	return x
}

// drift keeps a drift without the changes that an earlier one has.
func (t *Tape) drift(d Drift) {
	var news []Change
	for _, c := range d.Changes {
		known := false
		for _, before := range t.drifts {
			for _, b := range before.Changes {
				known = known || before.Who == d.Who && b == c
			}
		}
		if !known {
			news = append(news, c)
		}
	}
	t.drifts = append(t.drifts, Drift{d.Who, news})
}

// similar says how similar a recorded request is; -1 for one of another agent.
func similar(x, now Request) int {
	if x.Agent != now.Agent {
		return -1
	}
	score := 0
	for i := range min(len(x.Messages), len(now.Messages)) {
		if reflect.DeepEqual(x.Messages[i], now.Messages[i]) {
			score += 2
		}
	}
	if len(x.Messages) == len(now.Messages) {
		score++
	}
	return score
}

// Drifts returns what differed from the recording so far, and what the recording has and
// nobody asked for.
func (t *Tape) Drifts() []Drift {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.playing {
		return nil
	}
	out := append([]Drift(nil), t.drifts...)
	for i, x := range t.cassette.Exchanges {
		if !t.used.exchanges[i] {
			out = append(out, Drift{"the agent " + x.Agent, []Change{{"a recorded request that was not made", removed(render(x.Messages))}}})
		}
	}
	for i, c := range t.cassette.Calls {
		if !t.used.calls[i] {
			out = append(out, Drift{c.who(), []Change{{"a recorded call that was not made", removed(string(c.Arguments))}}})
		}
	}
	return out
}

// Accept returns the cassette with the requests of now in the place of the recorded ones,
// whose answers stay, and without what nobody asked for. It fails if something was asked
// for that has no answer.
func (t *Tape) Accept() (*Cassette, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.drifts {
		for _, c := range d.Changes {
			if strings.Contains(c.What, "more than the recording has") {
				return nil, fmt.Errorf("%s made %s: record it again with --record", d.Who, c.What)
			}
		}
	}
	c := *t.cassette
	c.Exchanges, c.Calls = nil, nil
	for i, x := range t.cassette.Exchanges {
		if t.used.exchanges[i] {
			c.Exchanges = append(c.Exchanges, x)
		}
	}
	for i, call := range t.cassette.Calls {
		if t.used.calls[i] {
			c.Calls = append(c.Calls, call)
		}
	}
	return &c, nil
}

// compare returns what is different between a recorded request and one of now.
func compare(then, now Request) []Change {
	var out []Change
	add := func(what, a, b string) {
		if a != b {
			out = append(out, Change{what, diff.Lines(ended(a), ended(b), around)})
		}
	}
	add("the model", then.Model, now.Model)
	a, b := system(then), system(now)
	add("the prompt", a, b)
	add("the messages", render(rest(then)), render(rest(now)))
	tools(then.Tools, now.Tools, add)
	add("the schema of the answer", indent(then.Output), indent(now.Output))
	add("the choice of tools", then.ToolChoice, now.ToolChoice)
	x, _ := json.Marshal(then.Settings)
	y, _ := json.Marshal(now.Settings)
	add("the settings", indent(x), indent(y))
	if out == nil { // a field that is not listed here
		add("the request", then.key(), now.key())
	}
	return out
}

// tools compares tools by their names.
func tools(then, now []Tool, add func(what, a, b string)) {
	text := func(list []Tool, name string) string {
		for _, t := range list {
			if t.Name == name {
				return t.Description + "\n" + indent(t.Parameters)
			}
		}
		return ""
	}
	seen := map[string]bool{}
	for _, t := range append(append([]Tool(nil), then...), now...) {
		if seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		a, b := text(then, t.Name), text(now, t.Name)
		switch {
		case a == "":
			add("a new tool, "+t.Name, a, b)
		case b == "":
			add("the tool "+t.Name+", which is gone", a, b)
		default:
			add("the tool "+t.Name, a, b)
		}
	}
}

// system returns the prompt, which is the first message.
func system(r Request) string {
	if len(r.Messages) > 0 && r.Messages[0].Role == llm.System {
		return r.Messages[0].Content
	}
	return ""
}

func rest(r Request) []Message {
	if len(r.Messages) > 0 && r.Messages[0].Role == llm.System {
		return r.Messages[1:]
	}
	return r.Messages
}

// render returns messages as lines for a person.
func render(messages []Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "[%s", m.Role)
		if m.Name != "" {
			b.WriteString(" " + m.Name)
		}
		b.WriteString("]\n")
		if m.Content != "" {
			b.WriteString(m.Content + "\n")
		}
		if len(m.Data) > 0 {
			b.WriteString(indent(m.Data) + "\n")
		}
		for _, p := range m.Parts {
			b.WriteString(p + "\n")
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "calls %s %s\n", c.Name, c.Arguments)
		}
	}
	return b.String()
}

func indent(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func ended(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func added(s string) string { return diff.Lines("", ended(s), 0) }

func removed(s string) string { return diff.Lines(ended(s), "", 0) }
