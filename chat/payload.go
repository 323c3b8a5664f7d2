package chat

import (
	"strings"
	"time"

	"p8/agent"
	"p8/llm"
	"p8/store"
)

// payload is what the model is sent: the system prompt, the instructions of
// this request, the history, the user's message. The first two are made anew on
// every turn and never stored.
func (s *Service) payload(j *job, user store.User, history []llm.Message) []llm.Message {
	const others = 3
	out := make([]llm.Message, 0, len(history)+others)
	now := j.started.UTC()
	var prompt, instructions string
	if j.agent.Document.Dialect == agent.Nested {
		prompt = j.agent.SystemPrompt(userContext(now, j, user))
		instructions = strings.TrimSpace(j.req.Instruction)
	} else {
		prompt = j.agent.SystemPrompt("")
		instructions = contextBlock(now, j)
	}
	out = append(out, llm.Message{Role: llm.System, Content: prompt})
	if instructions != "" {
		out = append(out, llm.Message{Role: llm.System, Content: instructions})
	}
	out = append(out, history...)
	return append(out, llm.Message{Role: llm.User, Content: j.input})
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
	const most = 256
	b := make([]byte, 0, most+len(j.req.Instruction)+len(j.session.Metadata))
	b = append(b, "[Context]\nDate: "...)
	b = now.AppendFormat(b, dateFormat)
	b = append(b, "\nTime: "...)
	b = now.AppendFormat(b, timeFormat)
	b = appendLine(b, "User ID: ", j.who.UserID)
	b = appendLine(b, "User email: ", j.who.Email)
	b = appendLine(b, "User: ", j.who.Name)
	b = appendLine(b, "Session: ", j.SessionID)
	b = appendLine(b, "Agent: ", j.Agent)
	metadata := string(j.session.Metadata)
	if metadata == "{}" || metadata == "null" {
		metadata = ""
	}
	if j.session.Name != "" || metadata != "" {
		b = append(b, "\n\n## Session Context"...)
		b = appendLine(b, "Session: ", j.session.Name)
		b = appendLine(b, "Context: ", metadata)
		b = append(b, "\nUse REM LOOKUP to retrieve full details for any keys listed above."...)
	}
	if added := strings.TrimSpace(j.req.Instruction); added != "" {
		b = append(append(b, "\n\n"...), added...)
	}
	return string(b)
}

// userContext is the text below ## User Context in a nested agent's prompt
// (REMLight).
func userContext(now time.Time, j *job, user store.User) string {
	const most = 256
	b := make([]byte, 0, most)
	b = append(b, "Date: "...)
	b = now.AppendFormat(b, dateFormat)
	b = append(b, "\nTime: "...)
	b = now.AppendFormat(b, timeFormat)
	b = append(b, " UTC"...)
	b = appendLine(b, "User: ", orElse(user.Name, j.who.Name))
	b = appendLine(b, "Profile: ", user.Summary)
	b = appendLine(b, "Interests: ", firstFive(user.Interests))
	b = appendLine(b, "Topics: ", firstFive(user.Topics))
	b = appendLine(b, "", strings.TrimSpace(j.who.UserContext))
	return string(b)
}

func firstFive(list []string) string { return strings.Join(list[:min(len(list), 5)], ", ") }

// appendLine adds a line unless there is nothing to say.
func appendLine(b []byte, label, value string) []byte {
	if value == "" {
		return b
	}
	return append(append(append(b, '\n'), label...), value...)
}
