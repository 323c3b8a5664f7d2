package prompt

import (
	"cmp"
	"strings"
	"time"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/routing"
)

// lead returns the system prompt, the instructions of the request, and the names of declared
// tools that are not available.
func lead(s Scene) []llm.Message {
	const most = 4
	out := make([]llm.Message, 0, most)
	var prompt, instructions string
	if Nested(s.Cast.Agent) {
		prompt = s.Cast.Agent.SystemPrompt(userContext(s))
		instructions = strings.TrimSpace(s.Instruction)
	} else {
		prompt = s.Cast.Agent.SystemPrompt("")
		instructions = contextBlock(s)
	}
	out = append(out, llm.Message{Role: llm.System, Content: prompt})
	if instructions != "" {
		out = append(out, llm.Message{Role: llm.System, Content: instructions})
	}
	if len(s.Cast.Absent) > 0 {
		out = append(out, llm.Message{Role: llm.System, Content: "Do without these now, and say so where it matters:\n- " + strings.Join(s.Cast.Absent, "\n- ")})
	}
	return out
}

// The formats of dates and times, both in UTC.
const (
	dateFormat = time.DateOnly
	timeFormat = time.TimeOnly
)

// contextBlock returns the instructions of a flat agent (p8): [Context] with a line for each
// known fact, the session's name and metadata if it has any, then what the request adds.
func contextBlock(s Scene) string {
	now := s.Started.UTC()
	var b strings.Builder
	b.Grow(roomForContext + len(s.Instruction) + len(s.Session.Metadata))
	b.WriteString("[Context]\nDate: ")
	writeTime(&b, now, dateFormat)
	b.WriteString("\nTime: ")
	writeTime(&b, now, timeFormat)
	WriteLine(&b, "User ID: ", s.Caller.UserID)
	WriteLine(&b, "User email: ", s.Caller.Email)
	WriteLine(&b, "User: ", s.Caller.Name)
	WriteLine(&b, "Session: ", s.Session.ID)
	WriteLine(&b, "Agent: ", s.Cast.Name)
	metadata, routed := routing.Split(memory.Note(s.Session.Metadata, len(s.Recalled.Moments) > 0))
	if s.Session.Name != "" || metadata != "" {
		b.WriteString("\n\n## Session Context\n")
		b.WriteString(fenced("session", "Session: ", s.Session.Name, "Context: ", metadata))
		b.WriteString("\nUse REM LOOKUP to retrieve full details for any keys listed above.")
	}
	WriteLine(&b, "Routing: ", routed)
	if added := strings.TrimSpace(s.Instruction); added != "" {
		b.WriteString("\n\n")
		b.WriteString(added)
	}
	return b.String()
}

// roomForContext holds most blocks without growing.
const roomForContext = 256

// userContext returns the text below ## User Context in a nested agent's prompt
// (REMLight).
func userContext(s Scene) string {
	now, user := s.Started.UTC(), s.Recalled.User
	var b strings.Builder
	b.Grow(roomForContext)
	b.WriteString("Date: ")
	writeTime(&b, now, dateFormat)
	b.WriteString("\nTime: ")
	writeTime(&b, now, timeFormat)
	b.WriteString(" UTC")
	WriteLine(&b, "User: ", cmp.Or(user.Name, s.Caller.Name))
	WriteLine(&b, "", fenced("profile", "Profile: ", user.Content, "Interests: ", FirstFive(user.Interests), "Topics: ", FirstFive(user.Topics)))
	WriteLine(&b, "", strings.TrimSpace(s.Caller.UserContext))
	return b.String()
}

// FirstFive joins the first five of a list.
func FirstFive(list []string) string { return strings.Join(list[:min(len(list), 5)], ", ") }

func writeTime(b *strings.Builder, t time.Time, format string) {
	var room [16]byte
	b.Write(t.AppendFormat(room[:0], format))
}

// fenced returns a line for each label with a value, as material: names, metadata and
// profiles repeat what uploaded files and conversations say. It is "" if no label has a
// value.
func fenced(source string, lines ...string) string {
	var b strings.Builder
	for i := 0; i < len(lines); i += 2 {
		WriteLine(&b, lines[i], lines[i+1])
	}
	if b.Len() == 0 {
		return ""
	}
	return llm.Material(source, b.String()[1:])
}

// WriteLine adds a line with a label, unless value is empty.
func WriteLine(b *strings.Builder, label, value string) {
	if value == "" {
		return
	}
	b.WriteByte('\n')
	b.WriteString(label)
	b.WriteString(value)
}
