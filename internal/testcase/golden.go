package testcase

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/replay"
)

// transcript returns the events of a conversation as text that is the same for each play of
// a recording: the pieces of a text are one, what belongs to a call is below the call, so
// that the order of parallel calls does not matter, and ids, times and progress are left out.
func transcript(turns []seen, clean func(string) string) string {
	var b strings.Builder
	for i, s := range turns {
		fmt.Fprintf(&b, "turn %d\n", i+1)
		switch d := s.turn.Decision; {
		case d == nil:
			write(&b, 1, "user: "+s.turn.Say)
		case d.Accept:
			write(&b, 1, "user accepts "+string(d.Content))
		default:
			write(&b, 1, "user declines")
		}
		s := script{runs: map[string]*line{}, calls: map[string]*line{}}
		for _, e := range turns[i].events {
			s.add(e)
		}
		s.root.sortActions()
		s.root.print(&b, 0)
	}
	return replay.Unnamed(clean(b.String()))
}

// line is a line of a transcript, with the lines below it.
type line struct {
	text string
	// kind of a text that goes on with the next event of this kind.
	kind  event.Type
	below []*line
}

func (l *line) print(b *strings.Builder, depth int) {
	if depth > 0 {
		write(b, depth, l.text)
	}
	for _, x := range l.below {
		x.print(b, depth+1)
	}
}

// write writes a text of several lines below its first.
func write(b *strings.Builder, depth int, text string) {
	pad := strings.Repeat("  ", depth)
	for i, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i > 0 {
			l = "  " + l
		}
		b.WriteString(strings.TrimRight(pad+l, " ") + "\n")
	}
}

// script makes the lines of a turn.
type script struct {
	root line
	// runs has the line of each delegated run, calls that of each call.
	runs, calls map[string]*line
}

// of returns the line below which the events of a run are.
func (s *script) of(run string) *line {
	if l := s.runs[run]; l != nil {
		return l
	}
	return &s.root
}

func (s *script) add(e event.Event) {
	run := s.of(e.RunID)
	put := func(text string) *line {
		l := &line{text: strings.TrimRight(text, " ")}
		run.below = append(run.below, l)
		return l
	}
	switch d := e.Data.(type) {
	case nil:
		s.speak(run, e)
	case *event.ToolCallData:
		s.call(e, d, put)
	case *event.ChildRunData:
		s.child(e, d)
	case *event.ProgressData, *event.ToolArgumentsData, *event.RestartData:
	case *event.ActionData:
		put("action " + d.ActionType + " " + string(d.Payload))
	case *event.ActionRequestData:
		put("asks the user for " + cmp.Or(d.Kind, "a card") + ": " + d.Message)
	case *event.ModelCallData:
		put("model " + d.Model)
	case *event.UsageData:
		put("usage: " + count(d.Requests, "request") + ", " + count(d.ToolCalls, "tool call"))
	case *event.MetadataData:
		put("metadata " + described(d))
	case *event.DoneData:
		put("done " + compact(d))
	default:
		put(e.Type.String() + " " + compact(d))
	}
}

// speak adds a piece of a text to the text before it.
func (s *script) speak(run *line, e event.Event) {
	n := len(run.below) - 1
	if n < 0 || run.below[n].kind != e.Type {
		run.below = append(run.below, &line{kind: e.Type, text: e.Type.String() + ": "})
		n++
	}
	run.below[n].text += e.Text
}

// call adds a stage of a call: the result is below the line of the call.
func (s *script) call(e event.Event, d *event.ToolCallData, put func(string) *line) {
	if d.Structured {
		put("answer of " + d.Name + " " + pretty(d.Result))
		return
	}
	key := e.RunID + " " + d.ID
	l := s.calls[key]
	switch {
	case d.Status == event.ToolStarted:
		return
	case l == nil:
		l = put("call " + d.Name + " " + string(d.Arguments))
		s.calls[key] = l
	}
	if d.Status == event.ToolCompleted || d.Status == event.ToolFailed {
		l.below = append(l.below, &line{text: string(d.Status) + " " + pretty(d.Result) + d.ErrorMessage})
	}
}

// pretty returns long JSON in lines.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) <= 100 || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// child adds a delegated run below its call.
func (s *script) child(e event.Event, d *event.ChildRunData) {
	if d.Status != event.ChildStarted {
		l := s.of(e.RunID)
		l.below = append(l.below, &line{text: d.Status + " " + d.ErrorMessage})
		return
	}
	l := &line{text: "agent " + e.Agent + ": " + d.Input}
	s.runs[e.RunID] = l
	above := s.calls[d.ParentRunID+" "+d.ToolCallID]
	if above == nil {
		above = s.of(d.ParentRunID)
	}
	above.below = append(above.below, l)
}

// described returns metadata without what differs from play to play, and without what
// limits are for: tokens and money.
func described(d *event.MetadataData) string {
	m := *d
	m.MessageID, m.InReplyTo, m.SessionID, m.LatencyMS, m.TraceID, m.SpanID = "", "", "", 0, "", ""
	m.TokenCount, m.CostUSD = 0, 0
	raw, err := json.Marshal(&m)
	if err != nil {
		return ""
	}
	return string(raw)
}

// sortActions orders neighbouring actions by their text: those of parallel calls come in any
// order.
func (l *line) sortActions() {
	for i := 0; i < len(l.below); {
		j := i
		for j < len(l.below) && strings.HasPrefix(l.below[j].text, "action ") {
			j++
		}
		slices.SortStableFunc(l.below[i:j], func(a, b *line) int { return strings.Compare(a.text, b.text) })
		i = j + 1
	}
	for _, b := range l.below {
		b.sortActions()
	}
}
