package anthropic

import (
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// attempt is one request with what is known about the model while it runs.
type attempt struct {
	model   *Model
	req     *llm.Request
	dialect dialect
	// bare: the API refused the blocks of reasoning that were sent back.
	bare bool
	sent []string
}

func (a *attempt) plan() plan { return planOf(a.model.model, a.req, &a.dialect, !a.bare) }

// unsent returns the warnings that were not sent yet.
func (a *attempt) unsent(warnings []string) []string {
	var news []string
	for _, w := range warnings {
		if !slices.Contains(a.sent, w) {
			a.sent = append(a.sent, w)
			news = append(news, a.model.name+": "+w)
		}
	}
	return news
}

// mend learns from a refusal and returns the new body, nil if there is nothing to
// learn.
func (a *attempt) mend(r *outbound.Refusal, out *wire.Sink) []byte {
	known, bare := a.dialect, a.bare
	a.dialect, a.bare = learn(known, bare, r.Message)
	if a.dialect == known && a.bare == bare {
		return nil
	}
	p := a.plan()
	for _, text := range a.unsent(p.warnings) {
		out.Warn(settingDropped, text)
	}
	return a.model.appendRequest(nil, a.req, &p)
}

// mended stores what was learned, once the API accepted the mended request and so
// confirmed the cause.
func (a *attempt) mended() {
	learned := a.dialect
	a.model.dialect.Store(&learned)
}

// learn finds the unsupported setting in a refusal's words.
func learn(d dialect, bare bool, message string) (dialect, bool) {
	has := func(words ...string) bool {
		for _, w := range words {
			if !strings.Contains(message, w) {
				return false
			}
		}
		return true
	}
	most, tooMany := mostTokens(message)
	switch {
	case has("thinking.type.enabled"), has("budget_tokens", "not supported"):
		d.thinking, d.fixedSampling = adaptive, true
	case has("thinking.type.disabled", offBetweenTools), has("thinking.type.disabled", "between tools"):
		d.off = offBetweenTools
	case has("thinking.type.disabled"), has("thinking.type.between_tools"):
		d.off = offNever
	case has("signature"), has("thinking", "cannot be modified"), has("thinking block"), has("redacted_thinking"):
		bare = true
	case has("display"):
		d.silent = true
	case has("adaptive", "not supported"), has("output_config"), has("effort", "not supported"):
		d.thinking, d.off = budgeted, ""
	case has("does not support thinking"), has("thinking", "not supported"):
		d.thinking, d.off = never, ""
	case has("tool_choice"):
		d.unforced = true
	case has("temperature"), has("top_p"):
		d.fixedSampling = true
	case tooMany:
		d.limit = most
	}
	return d, bare
}

// mostTokens finds the limit in "max_tokens: 9000 > 8192, which is the maximum …".
func mostTokens(message string) (int, bool) {
	_, rest, found := strings.Cut(message, "max_tokens: ")
	if !found {
		return 0, false
	}
	_, rest, _ = strings.Cut(rest, "> ")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	most, err := strconv.Atoi(rest[:digits])
	return most, err == nil && most > 0
}
