package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment/dataset"
	"github.com/p8-org/p8/store"
)

// SessionFilter chooses exchanges of stored sessions.
type SessionFilter struct {
	// Agent answered; "" is any.
	Agent string
	// Since and Until bound the time of the answer: since <= t < until; zero is no bound.
	Since, Until time.Time
	// Rated keeps answers with feedback; Good those that were rated well.
	Rated, Good bool
	// Tags must all be in the tags of the session's metadata or of the feedback.
	Tags []string
	// Turns keeps every exchange of a session, not only the first one, which needs no history.
	Turns bool
	// Evaluations also reads the sessions of evaluations.
	Evaluations bool
	// Limit is the most exchanges; 1000 when 0.
	Limit int
}

// Exchange is a question of a stored session with its answer.
type Exchange struct {
	SessionID string
	Question  store.Message
	Answer    store.Message
	Output    evaluation.Output
	// Rating is that of the newest feedback, 0 without one; Comment is its comment.
	Rating  int
	Comment string
	tags    []string
}

// Good reports whether a rating is good, as REM counts: 1 is a thumb up, 4 and 5 of five stars.
func Good(rating int) bool { return rating == 1 || rating >= 4 }

// Case returns the exchange as a case. The answer is expected if it was rated well.
func (x *Exchange) Case() dataset.Case {
	c := dataset.Case{ID: fmt.Sprintf("%s-%d", x.SessionID, x.Question.Seq), Input: text(x.Question), Metadata: map[string]any{
		"session_id": x.SessionID, "message_id": x.Answer.ID, "agent": x.Answer.AgentName,
	}}
	if x.Rating != 0 {
		c.Metadata["rating"] = x.Rating
	}
	if x.Comment != "" {
		c.Metadata["comment"] = x.Comment
	}
	if Good(x.Rating) {
		c.Expected, _ = json.Marshal(x.Output.Text)
		if len(x.Output.Value) > 0 {
			c.Expected = x.Output.Value
		}
	}
	return c
}

// Exchanges reads exchanges of the caller's sessions, those of the newest session first.
func Exchanges(ctx context.Context, s *store.Store, f SessionFilter) iter.Seq2[Exchange, error] {
	return func(yield func(Exchange, error) bool) {
		n, most := 0, f.Limit
		if most == 0 {
			most = 1000
		}
		for cursor := ""; ; {
			page, next, err := s.Sessions(ctx, store.SessionFilter{NoEvaluation: !f.Evaluations, Limit: 100, Cursor: cursor})
			if err != nil {
				yield(Exchange{}, err)
				return
			}
			for _, session := range page {
				if session.UpdatedAt.Before(f.Since) { // those after it are older still
					return
				}
				list, err := exchangesOf(ctx, s, &session, &f)
				if err != nil {
					yield(Exchange{}, err)
					return
				}
				for _, x := range list {
					if !f.has(&x) {
						continue
					}
					if n++; !yield(x, nil) || n == most {
						return
					}
				}
			}
			if cursor = next; next == "" {
				return
			}
		}
	}
}

// has reports whether the filter chooses an exchange.
func (f *SessionFilter) has(x *Exchange) bool {
	at := x.Answer.CreatedAt
	switch {
	case f.Agent != "" && x.Answer.AgentName != f.Agent, at.Before(f.Since), !f.Until.IsZero() && !at.Before(f.Until):
		return false
	case f.Rated && x.Rating == 0, f.Good && !Good(x.Rating):
		return false
	}
	return !slices.ContainsFunc(f.Tags, func(tag string) bool { return !slices.Contains(x.tags, tag) })
}

// maxMessages bounds the messages that are read of one session.
const maxMessages = 10_000

// exchangesOf reads a session.
func exchangesOf(ctx context.Context, s *store.Store, session *store.Session, f *SessionFilter) ([]Exchange, error) {
	messages, err := s.Messages(ctx, session.ID, store.MessageFilter{Limit: maxMessages})
	if err != nil {
		return nil, err
	}
	list := pairs(messages)
	if !f.Turns && len(list) > 1 {
		list = list[:1]
	}
	if len(list) == 0 {
		return nil, nil
	}
	feedback, _, err := s.Feedback().Find(ctx, store.Filter{Equal: map[string]any{"session_id": session.ID}, Own: true, Limit: 1000})
	if err != nil {
		return nil, err
	}
	var about struct {
		Tags []string `json:"tags"`
	}
	_ = json.Unmarshal(session.Metadata, &about) // tags are the client's own, of any form
	for i := range list {
		x := &list[i]
		x.SessionID, x.tags = session.ID, slices.Clone(about.Tags)
		x.Output.SessionID = session.ID
		for _, b := range slices.Backward(feedback) { // the newest counts
			if b.MessageID == x.Answer.ID || b.MessageID == "" && i == len(list)-1 {
				x.Rating, x.Comment = b.Rating, b.Comment
				x.tags = append(x.tags, b.Tags...)
			}
		}
	}
	return list, nil
}

// pairs finds the questions of a session with their answers.
func pairs(messages []store.Message) (list []Exchange) {
	var open *Exchange
	calls := map[string]int{}
	for _, m := range messages {
		switch {
		case m.Type == store.MessageUser:
			open, calls = &Exchange{Question: m}, map[string]int{}
		case open == nil:
		case m.Type == store.MessageAssistant && m.AgentPath == "":
			open.Answer = m
			open.answer()
			if text(open.Question) != "" {
				list = append(list, *open)
			}
			open = nil
		default:
			open.call(&m, calls)
		}
	}
	return list
}

// answer fills the output from the answer's row.
func (x *Exchange) answer() {
	m, o := &x.Answer, &x.Output
	o.Text, o.Model, o.RunID, o.TraceID, o.SpanID = text(*m), m.Model, m.RunID, m.TraceID, m.SpanID
	o.InputTokens, o.OutputTokens, o.CostUSD, o.Latency = m.InputTokens, m.OutputTokens, m.CostUSD, time.Duration(m.LatencyMS)*time.Millisecond
	if m.Status != "" {
		o.Error = "the stored answer is incomplete: " + m.Status
	}
}

// call adds a call of a tool, or the result of one.
func (x *Exchange) call(m *store.Message, calls map[string]int) {
	var said struct {
		Name      string          `json:"name"`
		ID        string          `json:"id"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(m.ToolCalls, &said) != nil || said.Name == "" {
		return
	}
	switch m.Type {
	case store.MessageToolCall:
		calls[said.ID] = len(x.Output.Calls)
		x.Output.Calls = append(x.Output.Calls, evaluation.Call{Agent: m.AgentName, Name: said.Name, Arguments: said.Arguments})
	case store.MessageToolResponse:
		i, ok := calls[said.ID]
		if !ok {
			return
		}
		result := text(*m)
		x.Output.Calls[i].Result = json.RawMessage(result)
		if !json.Valid([]byte(result)) {
			x.Output.Calls[i].Result, _ = json.Marshal(result)
		}
		x.Output.Calls[i].Failed = m.Status != ""
	}
}

// text returns the content of a message, "" for none.
func text(m store.Message) string {
	if m.Content == nil {
		return ""
	}
	return *m.Content
}
