package testcase

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/replay"
	"github.com/p8-org/p8/store"
)

// seen is what happened in one turn.
type seen struct {
	turn   Turn
	events []event.Event
	result chat.Result
	// used is what this turn used: the result of a run that goes on counts its beginning, too.
	used event.UsageData
	took time.Duration
}

// talk goes through the turns of a case. It ends with the first turn that cannot begin.
func (c *Case) talk(ctx context.Context, w World, tape *replay.Tape) ([]seen, error) {
	var all []seen
	var open []event.ActionRequestData
	for i, t := range c.Turns {
		req := chat.Request{Agent: c.Agent, Model: c.Model, Input: t.Say, Instruction: joined(c.Instructions, t.Instructions)}
		if t.Decision != nil {
			if len(open) == 0 && i > 0 && all[i-1].result.Error != nil {
				return all, errors.New("the run failed: " + all[i-1].result.Error.Message)
			}
			if len(open) == 0 {
				return all, errors.New("the agent has asked nothing that this turn could answer")
			}
			req.Instruction, req.Answers = "", t.Decision.answers(open)
		}
		began := time.Now()
		turn, err := w.Start(ctx, req)
		if err != nil {
			return all, errors.New(chat.Describe(err).Message)
		}
		s := seen{turn: t}
		for e, err := range turn.EventsAfter(ctx, turn.Past) {
			if err != nil {
				return all, err
			}
			s.events = append(s.events, e)
		}
		if s.result, err = turn.Wait(ctx); err != nil {
			return all, err
		}
		s.took = tape.Took(i, time.Since(began))
		s.used = s.result.Usage
		if t.Decision != nil {
			s.used = since(s.used, all[i-1].result.Usage)
		}
		open = s.result.Requests
		all = append(all, s)
	}
	return all, nil
}

// since returns the usage of a run after its beginning.
func since(u, beginning event.UsageData) event.UsageData {
	return event.UsageData{
		InputTokens: u.InputTokens - beginning.InputTokens, OutputTokens: u.OutputTokens - beginning.OutputTokens,
		CachedTokens: u.CachedTokens - beginning.CachedTokens, ReasoningTokens: u.ReasoningTokens - beginning.ReasoningTokens,
		Requests: u.Requests - beginning.Requests, ToolCalls: u.ToolCalls - beginning.ToolCalls, CostUSD: u.CostUSD - beginning.CostUSD,
	}
}

func joined(a, b string) string {
	if a != "" && b != "" {
		return a + "\n\n" + b
	}
	return a + b
}

// answers decides all open requests.
func (d *Decision) answers(open []event.ActionRequestData) []chat.RequestAnswer {
	var out []chat.RequestAnswer
	for _, r := range open {
		a := store.Decision{Status: store.RequestDeclined, Comment: d.Comment, Via: "test"}
		if d.Accept {
			a.Status, a.Content = store.RequestAccepted, d.Content
		}
		out = append(out, chat.RequestAnswer{RequestID: r.RequestID, Decision: a})
	}
	return out
}

// output returns what the agent answered and did in some turns; the answer is the last one.
func output(turns []seen) evaluation.Output {
	var out evaluation.Output
	var total event.UsageData
	for _, s := range turns {
		r := s.result
		out.Text, out.Value, out.Error = r.Text, r.Output, ""
		if r.Error != nil {
			out.Error = r.Error.Message
		}
		total.Add(s.used)
		out.Latency += s.took
		out.Calls = append(out.Calls, calls(s.events)...)
		if r.Metadata != nil {
			out.Model, out.SessionID = r.Metadata.ModelVersion, r.Metadata.SessionID
		}
	}
	out.InputTokens, out.OutputTokens, out.CostUSD = total.InputTokens, total.OutputTokens, total.CostUSD
	return out
}

// calls returns the calls of tools in the order in which they began.
func calls(events []event.Event) []evaluation.Call {
	var out []evaluation.Call
	at := map[string]int{}
	for _, e := range events {
		d, ok := e.Data.(*event.ToolCallData)
		if !ok || d.Structured || d.Status == event.ToolStarted {
			continue
		}
		key := e.RunID + " " + d.ID
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, evaluation.Call{Agent: e.Agent, Name: d.Name})
		}
		c := &out[i]
		if len(d.Arguments) > 0 {
			c.Arguments = d.Arguments
		}
		if len(d.Result) > 0 {
			c.Result = d.Result
		}
		c.Failed = c.Failed || d.Status == event.ToolFailed
	}
	return out
}

// usage sums up the usage of turns.
func usage(turns []seen) event.UsageData {
	var u event.UsageData
	for _, s := range turns {
		u.Add(s.used)
	}
	return u
}

func allEvents(turns []seen) []event.Event {
	var out []event.Event
	for _, s := range turns {
		out = append(out, s.events...)
	}
	return out
}

// compact returns JSON for a line.
func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(b)
}
