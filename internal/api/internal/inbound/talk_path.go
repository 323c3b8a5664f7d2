package inbound

import (
	"slices"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
)

// maxMessageID bounds the id of a client's message; longer ones are not kept.
const maxMessageID = 255

// lastOfUser is the user's last message, nil if there is none.
func (b *Talk) lastOfUser() *talkMessage {
	for i := range slices.Backward(b.Messages) {
		if b.Messages[i].Role == string(llm.User) {
			return &b.Messages[i]
		}
	}
	return nil
}

// identify says which message of the client's the request answers. If the client edited the
// message, its Path leads to the place in the session.
func (b *Talk) identify(req *chat.Request) {
	last := b.lastOfUser()
	if last == nil {
		return
	}
	if len(last.ID) <= maxMessageID {
		req.MessageID = last.ID
	}
	if !b.IsUI() || b.MessageID == "" || b.MessageID != last.ID {
		return
	}
	for _, m := range slices.Backward(b.Messages) {
		if m.ID != "" {
			req.Path = append(req.Path, m.ID)
		}
	}
}

// answersAgain makes the request one for another answer: to the message that the client names,
// or to its last one.
func (b *Talk) answersAgain(req *chat.Request) {
	if b.MessageID != "" {
		req.Path = append(req.Path, b.MessageID)
	}
	if last := b.lastOfUser(); last != nil && last.ID != "" {
		req.Path = append(req.Path, last.ID)
	}
}
