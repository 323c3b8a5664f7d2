package chat

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// protocolOpenAI is the protocol whose clients have no way to answer a question but the
// user's next message.
const protocolOpenAI = "openai"

// dialogue reports whether the user can only answer with the next message.
func (r request) dialogue() bool { return r.asked.Protocol == protocolOpenAI }

// asking is the part of the metadata of an answer's row that ends with a question in words.
type asking struct {
	Wanted json.RawMessage `json:"answer_schema"`
}

// wrongAnswer says in one sentence why the message does not answer the question that the
// session ends with; "" if it does, or if there is no such question. The sentence is not a
// question: the message after it is for the model in any case.
func (p prepared) wrongAnswer(ctx context.Context) (string, error) {
	if !p.request.dialogue() || p.message.text == "" || len(p.message.parts) > 0 || p.request.asked.Regenerate {
		return "", nil
	}
	rows := p.session.recalled.Messages
	for len(rows) > 0 && rows[len(rows)-1].ID == p.message.id {
		rows = rows[:len(rows)-1] // the message itself, if the run is resumed
	}
	if len(rows) == 0 || rows[len(rows)-1].Type != store.MessageAssistant {
		return "", nil
	}
	var last asking
	if json.Unmarshal(rows[len(rows)-1].Metadata, &last) != nil || len(last.Wanted) == 0 {
		return "", nil
	}
	err := tool.CheckReply(ctx, last.Wanted, p.message.text)
	var said *tool.Error
	if errors.As(err, &said) {
		return said.Message, nil
	}
	return "", err
}

// sentence returns a run without a model that says one sentence.
func (r *recorder) sentence(text string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range []event.Event{event.NewText(text), event.New(&event.DoneData{Reason: event.ReasonStop})} {
			e.RunID, e.Agent = r.rows.RunID, r.rows.Agent
			if !yield(e, nil) {
				return
			}
		}
	}
}
