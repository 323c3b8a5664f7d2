package simulator

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/p8-org/p8/event"
)

// minimal repeats the prompt, or a greeting, word by word.
func (p *player) minimal(prompt string) {
	p.delay = cmp.Or(p.o.Delay, minimalDelay)
	for word := range strings.SplitAfterSeq(cmp.Or(prompt, "Hello from the simulator!"), " ") {
		p.text(word)
	}
	p.done(event.ReasonStop)
}

// failing emits some words and fails.
func (p *player) failing() {
	words := strings.Fields(failingText)
	n := cmp.Or(p.o.ErrorAfterWords, defaultErrorAfter)
	for i := range max(n, 0) {
		p.text(words[i%len(words)] + " ")
	}
	p.emitData(&event.ErrorData{
		Code: simulatedError, Message: "this error was asked for; nothing is wrong", HTTPStatus: http.StatusInternalServerError,
		Details: map[string]any{"words_sent": max(n, 0), "demo": true}, Recoverable: true,
	})
	p.done(event.ReasonError)
}

// simulatedError is the code of every simulated error.
const simulatedError = "simulated_error"
