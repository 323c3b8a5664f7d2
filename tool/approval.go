package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
)

// withApproval returns the tool with a document's approval policy, which replaces the
// tool's own unless it is empty. The policy applies to calls of the named agent.
func withApproval(t Tool, asks string, ref agent.ToolRef) Tool {
	if ref.Approval == nil {
		return t
	}
	return wrap(t, func(w *wrapped) {
		w.approval = func(call Call) *Question {
			name := cmp.Or(call.Name, t.Spec().Name)
			if !ref.Approval.Asks(call.Arguments, ref.Name, OriginalName(t), name) {
				return nil
			}
			args := argumentsOf(call.Arguments)
			message := fmt.Sprintf("Allow %s to call %s%s?", asks, name, args.inWords())
			if ref.ApprovalMessage != "" {
				message = args.fill(ref.ApprovalMessage)
			}
			return &Question{Kind: event.RequestApproval, Message: Cut(message, maxQuestion)}
		}
	})
}

// InWords returns a call with its arguments on one line, for a question to the user:
// shortened, with probable secrets hidden.
func InWords(call Call) string {
	return Cut(call.Name+argumentsOf(call.Arguments).inWords(), maxQuestion)
}

// The bounds of a question, in characters and arguments.
const (
	maxQuestion      = 600
	maxShownValue    = 60
	maxShownName     = 40
	maxShownArgument = 6
)

// hidden replaces a secret.
const hidden = "•••"

// shown are the arguments of a question, in the order in which the model wrote them.
type shown []struct{ name, text string }

// argumentsOf reads a JSON object; other values have no arguments.
func argumentsOf(raw json.RawMessage) shown {
	var out shown
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var value any
		if err != nil || !ok || dec.Decode(&value) != nil {
			return out
		}
		out = append(out, struct{ name, text string }{name, showValue(name, value)})
	}
	return out
}

// inWords returns " (to: bob@example.com, subject: "Hello you")", or "".
func (s shown) inWords() string {
	if len(s) == 0 {
		return ""
	}
	var parts []string
	for _, a := range s[:min(len(s), maxShownArgument)] {
		parts = append(parts, plain(Cut(a.name, maxShownName))+": "+a.text)
	}
	if more := len(s) - maxShownArgument; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

var slot = regexp.MustCompile(`\{([^{}]+)\}`)

// fill puts the arguments into the {slots} of a document's own text.
func (s shown) fill(message string) string {
	return slot.ReplaceAllStringFunc(message, func(at string) string {
		for _, a := range s {
			if a.name == at[1:len(at)-1] {
				return a.text
			}
		}
		return "–"
	})
}

// showValue returns a value on one line, shortened, a probable secret hidden.
func showValue(name string, value any) string {
	if isSecret(name, value) {
		return hidden
	}
	return plain(Cut(secretValue.ReplaceAllString(agent.ValueText(mask(value)), hidden), maxShownValue))
}

// mask hides the secrets inside a value.
func mask(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			if out[name] = mask(inner); isSecret(name, inner) {
				out[name] = hidden
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = mask(inner)
		}
		return out
	}
	return value
}

// isSecret recognises a secret by its name. A number counts as a secret only under a name
// whose secrets are numbers, so not under max_tokens.
func isSecret(name string, value any) bool {
	switch value.(type) {
	case nil, bool:
		return false
	case json.Number:
		return secretNumber.MatchString(name)
	}
	return secretName.MatchString(name)
}

// Names and forms of secrets: keys of well-known services, bearer tokens, signed
// tokens, private keys.
var (
	secretName = regexp.MustCompile(`(?i)(^|[^a-z])(pass(word|phrase|wd|code)?|pwd|secret|token|credentials?|authorization|cookie|pin|cvv|otp)s?([^a-z]|$)` +
		`|(?i)(api|access|private|secret|auth|signing|encryption)[_-]?(key|token)|[a-z](Password|Secret|Token|Credentials?)`)
	secretNumber = regexp.MustCompile(`(?i)(^|[^a-z])(pin|cvv|otp|password|passcode)([^a-z]|$)`)
	secretValue  = regexp.MustCompile(`(?i:bearer|basic) +[A-Za-z0-9+/_.=~-]{12,}|\b(?:sk|pk|rk|xox[abeprs]|gh[opsur]|github_pat|glpat|AKIA|AIza)[A-Za-z0-9_-]{12,}` +
		`|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END[A-Z ]*-----)?`)
)

// word matches a value that needs no quotes: it cannot be read as part of the
// question.
var word = regexp.MustCompile(`^[\pL\pN@._/+:#%&=•…-]+$`)

// plain returns a text for a question: in quotes unless it is a word, with invisible
// characters escaped.
func plain(text string) string {
	if word.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}
