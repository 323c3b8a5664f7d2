// Package inbound reads what chat clients send.
//
// [Completion] is OpenAI's body of a chat completion; [Talk] is AG-UI's RunAgentInput
// and the body of a Vercel AI SDK client. Each is decoded from JSON, checks itself
// once, and becomes a [chat.Request]. [Answer] is what a client says to a request of a
// run, such as an approval. Nothing here knows of HTTP.
package inbound

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
)

// The bounds of the options of a request, such as the simulator's switches.
const (
	maxOptions     = 32
	maxOptionKey   = 64
	maxOptionValue = 1024
)

// Instruct adds a text to the instructions of this request.
func Instruct(req *chat.Request, text string) {
	req.Instruction = strings.TrimPrefix(req.Instruction+"\n\n"+text, "\n\n")
}

// about takes over the metadata that a client sends.
func about(req *chat.Request, metadata map[string]any) *problem.Problem {
	if err := req.SetMetadata(metadata); err != nil {
		return problem.Invalid("metadata", "%s", err)
	}
	return nil
}

// SetOption sets one option of the request.
func SetOption(req *chat.Request, name, value string) *problem.Problem {
	if req.Options == nil {
		req.Options = map[string]string{}
	}
	req.Options[name] = value
	switch {
	case len(req.Options) > maxOptions:
		return problem.Invalid("options", "there are more than %d options; leave out those that nothing reads", maxOptions)
	case utf8.RuneCountInString(name) > maxOptionKey || utf8.RuneCountInString(value) > maxOptionValue:
		return problem.Invalid("options", "the option %s is too long: a name has at most %d characters, a value %d",
			web.Cut(name), maxOptionKey, maxOptionValue)
	}
	return nil
}

func missingMessages(example string) *problem.Problem {
	return &problem.Problem{
		Status: http.StatusBadRequest, Code: "missing_messages", Param: "messages",
		Message: `messages is missing; send at least one, as in "messages":[` + example + `]`,
	}
}
