package chat

import (
	"context"
	"strings"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/store"
)

// informed is a classifier that is told what this session knows: it is read only when
// something has to be classified.
type informed struct {
	*Service
	j    *job
	then routing.Classifier
}

// Classify reads the end of the conversation and the user's profile, and asks.
func (i *informed) Classify(ctx context.Context, in routing.Input) (routing.Decision, error) {
	in.History = i.recent()
	if last := lastOfUser(in.History); in.Message == "" && last >= 0 {
		in.Message, in.History = in.History[last].Content, in.History[:last] // it is answered again
	}
	in.Profile = i.profile()
	return i.then.Classify(ctx, in)
}

// lastOfUser is where the user's last message is, -1 for none.
func lastOfUser(messages []llm.Message) int {
	i := len(messages) - 1
	for i >= 0 && messages[i].Role != llm.User {
		i--
	}
	return i
}

// maxRecent is how many messages a classifier sees.
const maxRecent = 6

// recent is the end of the conversation, of what was said alone.
func (i *informed) recent() []llm.Message {
	var out []llm.Message
	if i.j.isNew() || i.o.Store == nil {
		for _, m := range i.j.req.History {
			if m.Content != "" && (m.Role == llm.User || m.Role == llm.Assistant) {
				out = append(out, m)
			}
		}
		return out[max(0, len(out)-maxRecent):]
	}
	for _, row := range i.j.past.Messages {
		if row.Content != nil && (row.Type == store.MessageUser || row.Type == store.MessageAssistant) {
			out = append(out, llm.Message{Role: llm.Role(row.Type), Content: *row.Content})
		}
	}
	return out[max(0, len(out)-maxRecent):]
}

// profile is what is known of the user, in words.
func (i *informed) profile() string {
	user := i.j.past.User
	var b strings.Builder
	b.WriteString(user.Summary)
	writeLine(&b, "Interests: ", firstFive(user.Interests))
	writeLine(&b, "Topics: ", firstFive(user.Topics))
	return strings.TrimSpace(b.String())
}
