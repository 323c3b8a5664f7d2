package chat

import (
	"cmp"
	"strings"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/store"
)

// payload is what the model is sent: the system prompt, the instructions of
// this request, the history, the user's message. The first two are made anew on
// every turn and never stored.
func (s *Service) payload(j *job, history []llm.Message) []llm.Message {
	out := j.lead // which has room for the message of a new session
	if len(history) > 0 {
		out = make([]llm.Message, 0, len(j.lead)+len(history)+1)
		out = append(append(out, j.lead...), history...)
	}
	if j.input == "" && len(j.req.Parts) == 0 {
		return out // the results of the client's tools are what it goes on with
	}
	return append(out, llm.Message{Role: llm.User, Content: j.input, Parts: j.req.Parts})
}

// lead is what stands before the history.
func (s *Service) lead(j *job) []llm.Message {
	const most = 4
	out := make([]llm.Message, 0, most)
	now := j.started.UTC()
	var prompt, instructions string
	if j.agent.Document.Dialect == agent.Nested {
		prompt = j.agent.SystemPrompt(userContext(now, j, j.past.User))
		instructions = strings.TrimSpace(j.req.Instruction)
	} else {
		prompt = j.agent.SystemPrompt("")
		instructions = contextBlock(now, j)
	}
	out = append(out, llm.Message{Role: llm.System, Content: prompt})
	if instructions != "" {
		out = append(out, llm.Message{Role: llm.System, Content: instructions})
	}
	if len(j.absent) > 0 {
		out = append(out, llm.Message{Role: llm.System, Content: "Do without these now, and say so where it matters:\n- " + strings.Join(j.absent, "\n- ")})
	}
	return out
}

// The formats of dates and times, both in UTC.
const (
	dateFormat = time.DateOnly
	timeFormat = time.TimeOnly
)

// contextBlock is the instructions of a flat agent (p8): [Context] with a line
// for all that is known, the session's name and metadata if it has any, then
// what the request adds.
func contextBlock(now time.Time, j *job) string {
	var b strings.Builder
	b.Grow(roomForContext + len(j.req.Instruction) + len(j.session.Metadata))
	b.WriteString("[Context]\nDate: ")
	writeTime(&b, now, dateFormat)
	b.WriteString("\nTime: ")
	writeTime(&b, now, timeFormat)
	writeLine(&b, "User ID: ", j.who.UserID)
	writeLine(&b, "User email: ", j.who.Email)
	writeLine(&b, "User: ", j.who.Name)
	writeLine(&b, "Session: ", j.SessionID)
	writeLine(&b, "Agent: ", j.name)
	metadata, routed := routing.Split(memory.Note(j.session.Metadata, len(j.past.Moments) > 0))
	if j.session.Name != "" || metadata != "" {
		b.WriteString("\n\n## Session Context\n")
		b.WriteString(fenced("session", "Session: ", j.session.Name, "Context: ", metadata))
		b.WriteString("\nUse REM LOOKUP to retrieve full details for any keys listed above.")
	}
	writeLine(&b, "Routing: ", routed)
	if added := strings.TrimSpace(j.req.Instruction); added != "" {
		b.WriteString("\n\n")
		b.WriteString(added)
	}
	return b.String()
}

// roomForContext holds most blocks without growing.
const roomForContext = 256

// userContext is the text below ## User Context in a nested agent's prompt
// (REMLight).
func userContext(now time.Time, j *job, user store.User) string {
	var b strings.Builder
	b.Grow(roomForContext)
	b.WriteString("Date: ")
	writeTime(&b, now, dateFormat)
	b.WriteString("\nTime: ")
	writeTime(&b, now, timeFormat)
	b.WriteString(" UTC")
	writeLine(&b, "User: ", cmp.Or(user.Name, j.who.Name))
	writeLine(&b, "", fenced("profile", "Profile: ", user.Summary, "Interests: ", firstFive(user.Interests), "Topics: ", firstFive(user.Topics)))
	writeLine(&b, "", strings.TrimSpace(j.who.UserContext))
	return b.String()
}

func firstFive(list []string) string { return strings.Join(list[:min(len(list), 5)], ", ") }

func writeTime(b *strings.Builder, t time.Time, format string) {
	var room [16]byte
	b.Write(t.AppendFormat(room[:0], format))
}

// fenced is a line for each label with a value, as material: names, metadata and
// profiles repeat what uploaded files and conversations say. It is "" for none.
func fenced(source string, lines ...string) string {
	var b strings.Builder
	for i := 0; i < len(lines); i += 2 {
		writeLine(&b, lines[i], lines[i+1])
	}
	if b.Len() == 0 {
		return ""
	}
	return llm.Material(source, b.String()[1:])
}

// writeLine adds a line unless there is nothing to say.
func writeLine(b *strings.Builder, label, value string) {
	if value == "" {
		return
	}
	b.WriteByte('\n')
	b.WriteString(label)
	b.WriteString(value)
}
